#include "app/bundle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "app/replay_script.h"
#include "base/text.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const SessionId kRoot("sess_1800000000_aaaaaa");
const SessionId kChild("sess_1800000001_bbbbbb");

Session session(const SessionId& id) {
  Session made;
  made.id = id;
  made.tree = kRoot;
  made.agent = "main";
  made.label = "root";
  made.model = ModelName("scripted/x");
  made.workspace = "/work";
  return made;
}

Event event(std::uint64_t seq, Fact fact, const SessionId& id = kRoot) {
  return {.seq = seq,
          .at = WallTime{std::chrono::seconds(1'800'000'000 + seq)},
          .tree = kRoot,
          .run = {id, 1},
          .fact = std::move(fact)};
}

Bundle small_bundle() {
  return {{{"version", "1"}},
          {event(1, SessionCreated{session(kRoot)}), event(2, RunStarted{}),
           event(3, InputGiven{Source::person, "go"})}};
}

Error refusal_of(const Bundle& bundle) {
  const auto read = parse_bundle(bundle_text(bundle, {}));
  EXPECT_FALSE(read);
  return read ? Error{} : read.error();
}

TEST(ABundle, ReadsAsItWasWritten) {
  const std::string text = bundle_text(small_bundle(), {});
  const auto read = parse_bundle(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(string_or(read->about, "version", ""), "1");
  ASSERT_EQ(read->events.size(), 3u);
  EXPECT_EQ(read->events[2].tree, kRoot);
  EXPECT_EQ(read->events[2].at, small_bundle().events[2].at);
  EXPECT_EQ(std::get<InputGiven>(read->events[2].fact).text, "go");
  EXPECT_EQ(bundle_text(*read, {}), text);
}

TEST(ABundle, HoldsNoSecret) {
  Bundle bundle = small_bundle();
  bundle.about["settings"] = json::object{{"base_url", "https://me:correct-horse@example.org"}};
  std::get<InputGiven>(bundle.events[2].fact).text = "say correct-horse \"and go on\"";
  Redactor redactor;
  redactor.hide("correct-horse");
  const std::string text = bundle_text(bundle, redactor);
  EXPECT_THAT(text, Not(HasSubstr("correct-horse")));
  const auto read = parse_bundle(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<InputGiven>(read->events[2].fact).text, "say [redacted] \"and go on\"");
}

// As of an agent that looks for keys.
TEST(ABundle, HoldsNoPasswordOfAnAddressThatAnAgentMet) {
  Bundle bundle = small_bundle();
  std::get<InputGiven>(bundle.events[2].fact).text =
      "clone https://bob:correct-horse@git.example.com/x.git, \"postgres://app:battery-staple@db\"\n"
      "and see https://example.com/a@b";
  const std::string text = bundle_text(bundle, {});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("correct-horse")), Not(HasSubstr("battery-staple"))));
  const auto read = parse_bundle(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<InputGiven>(read->events[2].fact).text,
            "clone https://bob:[redacted]@git.example.com/x.git, \"postgres://app:[redacted]@db\"\n"
            "and see https://example.com/a@b");
}

// What hides it everywhere would eat ordinary text.
TEST(ABundle, HoldsNoPasswordOfAnAddressHoweverShortItIs) {
  Bundle bundle = small_bundle();
  bundle.about["settings"] = json::object{{"base_url", "https://me:s3cret@example.org"}};
  std::get<InputGiven>(bundle.events[2].fact).text =
      "clone https://bot:hunter2@a and https://bot:winter's-here@b";
  Reply reply;
  reply.message = {.role = Role::assistant,
                   .calls = {{"c1", "Bash", R"({"command":"curl \"ftp://a:b@c\""})"}}};
  bundle.events.push_back(event(4, ReplyReceived{reply}));
  const auto read = parse_bundle(bundle_text(bundle, {}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->about.at("settings").at("base_url"), "https://me:[redacted]@example.org");
  EXPECT_EQ(std::get<InputGiven>(read->events[2].fact).text,
            "clone https://bot:[redacted]@a and https://bot:[redacted]@b");
  EXPECT_EQ(std::get<ReplyReceived>(read->events[3].fact).reply.message.calls.at(0).arguments,
            R"({"command":"curl \"ftp://a:[redacted]@c\""})");
}

// What is shown of a text may end within it.
TEST(ABundle, HoldsNoBeginningOfAPasswordThatWasCutShort) {
  Bundle bundle = small_bundle();
  std::get<InputGiven>(bundle.events[2].fact).text =
      "clone https://bob:correct-horse@git.example, https://bob:correct-ho...; no `correct-h…`";
  const std::string text = bundle_text(bundle, {});
  EXPECT_THAT(text, Not(HasSubstr("correct")));
  EXPECT_THAT(text, HasSubstr("https://bob:[redacted]...; no `[redacted]…`"));
}

TEST(ABundle, ThatIsEmptyIsSaidToBe) {
  for (const char* text : {"", "\n"}) {
    const auto read = parse_bundle(text);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "the file is empty");
    EXPECT_FALSE(read.error().advice.empty());
  }
}

// Its first line tells what an agent's own file says, and what was set.
TEST(ABundle, HoldsNoPasswordOfAnAddressThatAnAgentIsToldOf) {
  Bundle bundle = small_bundle();
  Profiles profiles;
  profiles.add({.name = "main",
                .description = "reads postgres://app:battery-staple@db",
                .instructions = "clone\nhttps://bot:hunter2hunter2@git.example/x\nand go on",
                .permissions = {.allow = {"Bash(git clone https://bot:open-sesame@git.example/x)"}}});
  bundle.about["agents"] = agents_json(profiles, bundle.events);
  bundle.about["settings"] =
      json::object{{"rules", json::array{"allow Bash(curl ftp://a:winter-is-here@b)"}}};
  std::get<InputGiven>(bundle.events[2].fact).text = "hunter2hunter2";
  const std::string text = bundle_text(bundle, {});
  for (const auto* password : {"hunter2hunter2", "battery-staple", "open-sesame", "winter-is-here"})
    EXPECT_THAT(text, Not(HasSubstr(password)));
  const auto read = parse_bundle(text);
  ASSERT_TRUE(read) << read.error().message;
  const Profiles agents = agents_in(*read);
  EXPECT_EQ((*agents.find("main"))->instructions, "clone\nhttps://bot:[redacted]@git.example/x\nand go on");
  EXPECT_EQ(std::get<InputGiven>(read->events[2].fact).text, "[redacted]");
}

TEST(ABundle, ThatLacksEventsIsRefused) {
  const std::string text = bundle_text(small_bundle(), {});
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 4u);
  const auto refusal = [](std::string_view kept) {
    const auto read = parse_bundle(kept);
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(refusal(text), "");
  EXPECT_THAT(refusal(fmt::format("{}\n{}\n{}\n", lines[0], lines[1], lines[2])),
              HasSubstr("line 3: it is the last, with 2 of 3 events"));
  EXPECT_THAT(refusal(fmt::format("{}\n{}\n{}\n", lines[0], lines[1], lines[3])), HasSubstr("with 2 of 3"));
}

TEST(ABundle, IsWholeWhereAKeyThatHasNoEndIsNamed) {
  Bundle bundle = small_bundle();
  Reply reply;
  reply.message = {.role = Role::assistant,
                   .text = "Nothing begins with -----BEGIN RSA PRIVATE KEY-----",
                   .calls = {{"c1", "Grep", R"({"pattern":"-----BEGIN RSA PRIVATE KEY-----"})"}}};
  bundle.events.push_back(event(4, ReplyReceived{reply}));
  const auto read = parse_bundle(bundle_text(bundle, {}));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->events.size(), 4u);
  const Message& kept = std::get<ReplyReceived>(read->events[3].fact).reply.message;
  EXPECT_EQ(kept.text, "Nothing begins with [redacted]");
  EXPECT_EQ(kept.calls.at(0).arguments, R"({"pattern":"[redacted]"})");
}

TEST(ABundle, OfAnotherKindIsRefusedInWords) {
  for (const std::string_view text : {"hello", "{\"v\":1,\"sessions\":[]}\n", "[1]", "\xff\xfe\n"}) {
    const auto read = parse_bundle(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid);
    EXPECT_EQ(read.error().message, "this is no bundle of deputy's");
    EXPECT_THAT(read.error().advice, HasSubstr("deputy doctor --bundle"));
  }
}

// The first had no word for a program that takes a tree up, so who knows no other must be told.
TEST(ABundle, IsOfTheSecondFormAndReadInBoth) {
  Bundle bundle = small_bundle();
  bundle.events.push_back(event(4, TakenUp{}));
  EXPECT_THAT(bundle_text(bundle, {}), StartsWith(R"({"deputy_bundle":2,)"));
  for (const int form : {1, 2}) {
    bundle.about["deputy_bundle"] = form;
    const auto read = parse_bundle(bundle_text(bundle, {}));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->events.size(), 4u);
  }
}

TEST(ABundle, OfAFormThatIsNotKnownIsRefused) {
  Bundle bundle = small_bundle();
  bundle.about["deputy_bundle"] = 0;
  EXPECT_EQ(refusal_of(bundle).message, "this is no bundle of deputy's");
  bundle.about["deputy_bundle"] = 3;
  const Error newer = refusal_of(bundle);
  EXPECT_EQ(newer.code, ErrorCode::too_new);
  EXPECT_EQ(newer.message, "the bundle was made by a newer deputy (form 3, this one knows 2)");
  EXPECT_EQ(newer.advice, "use the version of deputy that made it, or a newer one");
}

TEST(ABundle, ThatWasCutOffIsRefusedWithTheLine) {
  const std::string text = bundle_text(small_bundle(), {});
  const auto read = parse_bundle(text.substr(0, text.size() - 10));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_THAT(read.error().message, HasSubstr("broken in line 4"));
  const auto alone = parse_bundle(lines_of(text).front());
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("there is no event"));
}

TEST(ABundle, ThatIsNoWholeTreeIsRefused) {
  Bundle headless = small_bundle();
  headless.events.erase(headless.events.begin());
  EXPECT_THAT(refusal_of(headless).message, HasSubstr("was not created"));

  Bundle twice = small_bundle();
  twice.events.push_back(event(4, SessionCreated{session(kRoot)}));
  EXPECT_EQ(refusal_of(twice).code, ErrorCode::corrupt);

  Bundle backwards = small_bundle();
  backwards.events[2].seq = 2;
  EXPECT_THAT(refusal_of(backwards).message, HasSubstr("out of order"));

  Bundle orphan = small_bundle();
  Session child = session(kChild);
  child.parent = SessionId("sess_1800000009_cccccc");
  child.delegation = DelegationKey{.call = {.run = {*child.parent, 1}}};
  orphan.events.push_back(event(4, SessionCreated{child}, kChild));
  EXPECT_THAT(refusal_of(orphan).message, HasSubstr("no place in the tree"));

  Bundle whole = small_bundle();
  child.parent = kRoot;
  child.delegation->call.run.session = kRoot;
  whole.events.push_back(event(4, SessionCreated{child}, kChild));
  EXPECT_TRUE(parse_bundle(bundle_text(whole, {})));
}

TEST(ABundle, HoldsOfAgentsThatItsTreeDidNotHaveOnlyWhatItCouldKnow) {
  Profiles profiles = Profiles::built_in();
  for (const auto* name : {"main", "other", "general"})
    profiles.add({.name = name, .description = "d", .instructions = "what it is told"});
  Bundle bundle = small_bundle();
  bundle.about["agents"] = agents_json(profiles, bundle.events);
  const auto read = parse_bundle(bundle_text(bundle, {}));
  ASSERT_TRUE(read) << read.error().message;
  const Profiles agents = agents_in(*read);
  EXPECT_EQ((*agents.find("main"))->instructions, "what it is told") << "its own, and not the built-in one";
  for (const auto* name : {"other", "general"}) {
    EXPECT_EQ((*agents.find(name))->instructions, "") << name;
    EXPECT_EQ((*agents.find(name))->description, "d") << name;
  }
  EXPECT_TRUE(agents.find("explore"));
}

TEST(ABundle, DoesNotSayWhatPlaysACommand) {
  Bundle bundle = small_bundle();
  bundle.about["agents"] =
      json::array{1, json::object{}, json::object{{"name", kCommandAgent}, {"tools", json::array{"Bash"}}}};
  const Profiles agents = agents_in(bundle);
  EXPECT_EQ((*agents.find(kCommandAgent))->tools, std::vector<std::string>{"Delegate"});
  EXPECT_EQ(agents.offered().size(), Profiles::built_in().offered().size());
}

TEST(ABundle, GivesTheScriptOfItsReplies) {
  Bundle bundle = small_bundle();
  Reply reply;
  reply.stop = ReplyStop::calls;
  reply.message = {
      .role = Role::assistant, .text = "look", .calls = {{"id1", "Read", "{\"file_path\":\"a\"}"}}};
  bundle.events.push_back(event(4, ReplyReceived{reply}));
  const auto script = parse_json_object(script_of(requests_in(bundle.events)));
  ASSERT_TRUE(script);
  const auto& said = script->at("sessions").as_array().at(0).as_object();
  EXPECT_EQ(said.at("match").as_object().at("label"), "root");
  const auto& first = said.at("replies").as_array().at(0).as_object();
  EXPECT_EQ(first.at("text"), "look");
  EXPECT_EQ(first.at("calls").as_array().at(0).as_object().at("name"), "Read");
}

}  // namespace
}  // namespace deputy
