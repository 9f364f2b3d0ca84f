// A server that gives one id to several calls, in one reply and in the next: what goes back to it has as many
// ids as there are calls, and a result for each.
#include "model/call_ids.h"

#include <gmock/gmock.h>

#include <set>

#include "async/sim_loop.h"
#include "base/json.h"
#include "model/http_provider.h"
#include "model/tongues.h"
#include "support/run.h"

namespace deputy {
namespace {

// Of a request's calls and of its results, under whichever names; the rest of its JSON is walked through.
struct Ids {
  std::multiset<std::string> calls;
  std::multiset<std::string> results;

  void walk(const json::value& value) {
    if (const auto* list = value.if_array()) {
      for (const json::value& one : *list) walk(one);
    } else if (const auto* object = value.if_object()) {
      take(*object);
      for (const auto& member : *object) walk(member.value());
    }
  }
  void take(const json::object& object) {
    const std::string type = string_or(object, "type", "");
    if (type == "tool_use" || type == "function") add(calls, object, "id");
    if (type == "function_call") add(calls, object, "call_id");
    if (type == "function_call_output") add(results, object, "call_id");
    if (type == "tool_result") add(results, object, "tool_use_id");
    add(results, object, "tool_call_id");
    if (const auto* call = object_at(object, "functionCall")) add(calls, *call, "id");
    if (const auto* result = object_at(object, "functionResponse")) add(results, *result, "id");
  }
  static void add(std::multiset<std::string>& ids, const json::object& object, std::string_view key) {
    if (const std::string id = string_or(object, key, ""); !id.empty()) ids.insert(id);
  }
};

class CallIds : public testing::TestWithParam<Tongue> {};

TEST_P(CallIds, AreEachCallsOwnInWhatGoesBack) {
  SimLoop loop{1};
  SimNetwork network{loop};
  SeededRandom random{1};
  Governors governors{loop};
  std::string body;
  network.define("http://model", [&](const HttpRequest& request) {
    body = request.body;
    const Call same{"call_the_same", "Read", R"({"file_path":"a.txt"})"};
    return answer_in(GetParam(), {.text = "I read.", .calls = {same, same}});
  });
  HttpProvider provider({.dialect = dialect_of(GetParam()),
                         .endpoint = {"http://model", "key"},
                         .key_variable = "",
                         .network = network,
                         .loop = loop,
                         .random = random,
                         .governors = governors,
                         .facts = [](const ModelName&) { return ModelFacts{}; }});
  const auto prefix = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName(std::string(provider.name()) + "/test")});
  std::vector<Message> messages{{.text = "What is in a.txt?"}};
  std::vector<std::string> fragments;
  for (int step = 0; step < 3; ++step) {
    while (fragments.size() < messages.size())
      fragments.push_back(provider.encode(messages[fragments.size()]));
    const Reply reply =
        run(loop, provider.ask({.prefix = prefix, .messages = messages, .fragments = fragments}, {}, {}));
    ASSERT_EQ(reply.message.calls.size(), 2u) << reply.error;
    messages.push_back(reply.message);
    Message results{.role = Role::tool};
    for (const Call& call : reply.message.calls)
      results.results.push_back({call.id, ToolStatus::ok, "hello"});
    messages.push_back(results);
  }
  std::set<std::string> known;
  for (const Message& message : messages) {
    for (const Call& call : message.calls) EXPECT_TRUE(known.insert(call.id).second) << call.id;
  }
  EXPECT_EQ(known.size(), 6u);
  const auto sent = parse_json(body);
  ASSERT_TRUE(sent) << body;
  Ids ids;
  ids.walk(*sent);
  if (GetParam() == Tongue::ollama) return;  // in its results there are none
  EXPECT_EQ(ids.calls.size(), 4u) << body;
  EXPECT_EQ(std::set(ids.calls.begin(), ids.calls.end()).size(), 4u) << body;
  EXPECT_EQ(ids.calls, ids.results) << body;
}

INSTANTIATE_TEST_SUITE_P(Models, CallIds, testing::ValuesIn(kTongues), [](const auto& test) {
  std::string name(dialect_of(test.param)->provider());
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// What goes back in a provider's own form, with two calls of the id "same", one of which stays as it is.
TEST(OwnIds, ATurnThatGoesBackAsItCameKeepsItsReasoningUnderTheNewIds) {
  const std::pair<const char*, const char*> kTurns[] = {
      {R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"tool_use","id":"same","name":"Read","input":{"type":"tool_use","id":"same"}},{"type":"tool_use","id":"same","name":"Read","input":{}}]})",
       R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"tool_use","id":"same","name":"Read","input":{"type":"tool_use","id":"same"}},{"type":"tool_use","id":"NEW","name":"Read","input":{}}]})"},
      {R"({"type":"reasoning","id":"same","encrypted_content":"e1"},{"type":"function_call","id":"f1","call_id":"same","name":"Read","arguments":"{}"},{"type":"function_call","id":"f2","call_id":"same","name":"Read","arguments":"{}"})",
       R"({"type":"reasoning","id":"same","encrypted_content":"e1"},{"type":"function_call","id":"f1","call_id":"same","name":"Read","arguments":"{}"},{"type":"function_call","id":"f2","call_id":"NEW","name":"Read","arguments":"{}"})"},
      {R"({"role":"assistant","reasoning_content":"hm","tool_calls":[{"id":"same","type":"function","function":{"name":"Read","arguments":"{}"}},{"id":"same","type":"function","function":{"name":"Read","arguments":"{}"}}]})",
       R"({"role":"assistant","reasoning_content":"hm","tool_calls":[{"id":"same","type":"function","function":{"name":"Read","arguments":"{}"}},{"id":"NEW","type":"function","function":{"name":"Read","arguments":"{}"}}]})"},
      {R"({"role":"model","parts":[{"functionCall":{"id":"same","name":"Read","args":{}},"thoughtSignature":"s1"},{"functionCall":{"id":"same","name":"Read","args":{}}}]})",
       R"({"role":"model","parts":[{"functionCall":{"id":"same","name":"Read","args":{}},"thoughtSignature":"s1"},{"functionCall":{"id":"NEW","name":"Read","args":{}}}]})"},
      {R"({"role":"assistant","thinking":"hm","tool_calls":[{"function":{"name":"Read","arguments":{}}},{"function":{"name":"Read","arguments":{}}}]})",
       R"({"role":"assistant","thinking":"hm","tool_calls":[{"function":{"name":"Read","arguments":{}}},{"function":{"name":"Read","arguments":{}}}]})"}};
  for (const auto& [came, goes_back] : kTurns) {
    Message reply{.role = Role::assistant,
                  .calls = {{"same", "Read", "{}"}, {"same", "Read", "{}"}},
                  .wire = std::string("provider\n") + came};
    api::give_own_ids(reply, {});
    EXPECT_EQ(reply.calls[0].id, "same");
    std::string expected = std::string("provider\n") + goes_back;
    if (const auto at = expected.find("NEW"); at != std::string::npos)
      expected.replace(at, 3, reply.calls[1].id);
    EXPECT_EQ(reply.wire, expected);
  }
}

// Gemini gives ids to some calls and none to others, whose own are known here alone.
TEST(OwnIds, ACallThatKeepsItsIdGoesBackAsItCame) {
  Message reply{.role = Role::assistant,
                .calls = {{"local_r_1", "Read", "{}"}, {"same", "Read", "{}"}, {"same", "Read", "{}"}},
                .wire =
                    R"(gemini
{"role":"model","parts":[{"functionCall":{"name":"Read","args":{}}},{"functionCall":{"id":"same","name":"Read","args":{}}},{"functionCall":{"id":"same","name":"Read","args":{}}}]})"};
  std::string expected = reply.wire;
  api::give_own_ids(reply, {});
  ASSERT_NE(reply.calls[2].id, "same");
  expected.replace(expected.rfind("same"), 4, reply.calls[2].id);
  EXPECT_EQ(reply.wire, expected);
}

TEST(OwnIds, ATurnWithOtherCallsDoesNotGoBack) {
  for (const char* wire : {"provider\n{\"content\":[]}", "provider\nnot json", "provider", ""}) {
    Message reply{
        .role = Role::assistant, .calls = {{"same", "Read", "{}"}, {"same", "Read", "{}"}}, .wire = wire};
    api::give_own_ids(reply, {});
    EXPECT_EQ(reply.wire, "") << wire;
  }
}

TEST(OwnIds, ATurnWhoseIdsAreItsOwnStaysAsItCame) {
  Message reply{
      .role = Role::assistant, .calls = {{"a", "Read", "{}"}, {"b", "Read", "{}"}}, .wire = "as it came"};
  api::give_own_ids(reply, std::vector<Message>{{.text = "hi"}});
  EXPECT_EQ(reply.wire, "as it came");
  EXPECT_EQ(reply.calls[1].id, "b");
}

}  // namespace
}  // namespace deputy
