#include "model/context_estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "model/anthropic.h"
#include "model/fixture_replay.h"
#include "model/gemini.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"

namespace deputy {
namespace {

// A recorded request, in the form the runtime thinks in, and what its provider counted.
struct Recorded {
  RequestPrefix prefix;
  std::vector<Message> messages;
  // It offers what the provider runs by itself, which the runtime never does.
  bool offers_tools_of_the_provider = false;
  std::int64_t counted = 0;         // of the request
  std::int64_t counted_in_all = 0;  // with what such tools read, once more for each pass over it

  std::int64_t estimated(std::optional<Measured> measured = {}) const {
    return estimated_input(estimated_tokens(prefix), prefix.model, messages, measured);
  }
};

// The text of a content, be it a string, a block or an array of blocks.
std::string text_in(const json::value& content) {
  if (const auto* text = content.if_string()) return std::string(*text);
  if (const auto* object = content.if_object()) return string_or(*object, "text", "");
  std::string all;
  if (const auto* array = content.if_array()) {
    for (const json::value& part : *array) all += text_in(part);
  }
  return all;
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value ? text_in(*value) : "";
}

std::string json_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (!value) return "{}";
  return value->is_string() ? std::string(value->get_string()) : to_json_text(*value);
}

void add_block(Message& message, const json::object& block) {
  const std::string type = string_or(block, "type", "");
  if (type == "tool_use") {
    message.calls.push_back({"", string_or(block, "name", ""), json_at(block, "input")});
  } else if (type == "tool_result") {
    message.results.push_back({"", ToolStatus::ok, text_at(block, "content")});
  } else if (const auto* call = object_at(block, "functionCall")) {
    message.calls.push_back({"", string_or(*call, "name", ""), json_at(*call, "args")});
  } else if (const auto* answer = object_at(block, "functionResponse")) {
    message.results.push_back({"", ToolStatus::ok, json_at(*answer, "response")});
  } else {
    message.text += string_or(block, "text", "");
  }
}

Message message_of(const json::object& from) {
  Message message;
  const std::string type = string_or(from, "type", "message");
  if (type == "function_call") {
    message.calls.push_back({"", string_or(from, "name", ""), json_at(from, "arguments")});
  } else if (type == "function_call_output") {
    message.results.push_back({"", ToolStatus::ok, text_at(from, "output")});
  } else if (type == "reasoning") {
    message.wire = to_json_text(from);
  } else if (string_or(from, "role", "") == "tool") {
    message.results.push_back({"", ToolStatus::ok, text_at(from, "content")});
  } else {
    for (const char* key : {"content", "parts"}) {
      if (const auto* blocks = array_at(from, key)) {
        for (const json::value& block : *blocks) {
          if (const auto* object = block.if_object()) add_block(message, *object);
        }
      }
    }
    if (const auto text = string_at(from, "content")) message.text = *text;
    if (const auto* calls = array_at(from, "tool_calls")) {
      for (const json::value& call : *calls) {
        const auto* function = object_at(call.get_object(), "function");
        if (function)
          message.calls.push_back({"", string_or(*function, "name", ""), json_at(*function, "arguments")});
      }
    }
    if (to_json_text(from).contains("thoughtSignature")) message.wire = to_json_text(from);
  }
  return message;
}

void add_tool(RequestPrefix& prefix, const json::object& tool) {
  if (const auto* declarations = array_at(tool, "functionDeclarations")) {
    for (const json::value& one : *declarations) add_tool(prefix, one.get_object());
    return;
  }
  const auto* function = object_at(tool, "function");
  const json::object& inner = function ? *function : tool;
  for (const char* key : {"parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"}) {
    if (!find(inner, key)) continue;
    prefix.tools.push_back(
        {string_or(inner, "name", ""), string_or(inner, "description", ""), json_at(inner, key)});
    return;
  }
}

Recorded recorded(const json::object& body, const std::string& provider, const std::string& model) {
  Recorded result;
  result.prefix.model = ModelName(provider + "/" + model);
  result.prefix.max_output_tokens =
      static_cast<int>(integer_or(body, "max_tokens", result.prefix.max_output_tokens));
  for (const char* key : {"system", "instructions"}) result.prefix.system += text_at(body, key);
  if (const auto* system = object_at(body, "systemInstruction"))
    result.prefix.system += text_at(*system, "parts");
  if (const auto* tools = array_at(body, "tools")) {
    for (const json::value& tool : *tools) {
      const std::size_t before = result.prefix.tools.size();
      add_tool(result.prefix, tool.get_object());
      if (result.prefix.tools.size() == before) result.offers_tools_of_the_provider = true;
    }
  }
  // The form that an answer must have is told to the model as a tool is: by its name and its schema.
  if (const auto* format = object_at(body, "response_format")) {
    if (const auto* schema = object_at(*format, "json_schema"))
      result.prefix.tools.push_back({string_or(*schema, "name", ""), "", json_at(*schema, "schema")});
  }
  for (const char* key : {"messages", "input", "contents"}) {
    const auto* messages = array_at(body, key);
    if (!messages) continue;
    for (const json::value& one : *messages) {
      const auto& message = one.get_object();
      const std::string role = string_or(message, "role", "");
      if (role == "system" || role == "developer")
        result.prefix.system += text_at(message, "content");
      else
        result.messages.push_back(message_of(message));
    }
  }
  return result;
}

// As which of its providers the runtime would speak to whoever was recorded there.
std::string provider_for(const std::string& folder) {
  const bool is_a_compatible_server = folder == "llamacpp" || folder == "openrouter" || folder == "other";
  return is_a_compatible_server ? "compatible" : folder;
}

std::unique_ptr<Dialect> dialect_for(const std::string& folder, const json::object& body,
                                     std::string_view file) {
  if (folder == "anthropic") return anthropic_dialect();
  if (folder == "gemini") return gemini_dialect();
  if (file.ends_with(".ndjson")) return ollama_dialect();
  if (find(body, "input")) return openai_responses_dialect();
  return openai_chat_dialect(ChatFlavour::compatible);
}

// What a stream reports as its input, or 0.
std::int64_t counted_in(const Dialect& dialect, std::string_view body) {
  const auto decoder = dialect.decoder();
  decoder->feed(body, [](const Delta&) {});
  const auto outcome = decoder->finish();
  return outcome ? outcome->usage.input : outcome.error().usage.input;
}

// The same where it is one JSON object: an answer without a stream, or a mere count.
std::int64_t counted_in_json(std::string_view body) {
  const auto answer = parse_json_object(body);
  if (!answer) return 0;
  for (const char* key : {"usage", "usageMetadata"}) {
    const auto* usage = object_at(*answer, key);
    for (const char* count : {"prompt_tokens", "input_tokens", "promptTokenCount"}) {
      if (usage && find(*usage, count)) return integer_or(*usage, count, 0);
    }
  }
  return integer_or(*answer, "input_tokens", 0);
}

// Up to where a stream has told what was counted of the request alone: no tool of the provider has run yet.
std::string first_event_of(std::string_view stream) {
  return std::string(stream.substr(0, stream.find('\n', stream.find("data:")))) + "\n\n";
}

// The model that answered: some were asked for under the name of another.
std::string model_of(const std::string& name) {
  const auto meta = fixture_internal::read_below(name.substr(0, name.rfind('.')) + ".meta.json");
  const auto object = meta ? parse_json_object(*meta) : fail(ErrorCode::not_found, "no meta");
  return object ? string_or(*object, "model", "") : "";
}

Recorded load(const std::string& name) {
  const Fixture fixture = load_fixture(name);
  const std::string folder = name.substr(0, name.find('/'));
  Recorded result = recorded(fixture.request, provider_for(folder), model_of(name));
  if (fixture.request.empty()) return result;
  if (name.ends_with(".json")) {
    result.counted = result.counted_in_all = counted_in_json(fixture.body);
    return result;
  }
  const auto dialect = dialect_for(folder, fixture.request, name);
  result.counted = result.counted_in_all = counted_in(*dialect, fixture.body);
  if (result.offers_tools_of_the_provider)
    result.counted = counted_in(*dialect, first_event_of(fixture.body));
  return result;
}

// Every body that carries its request and a count of it, be it one that the runtime could have made or not.
std::vector<std::pair<std::string, Recorded>> all_counted() {
  std::vector<std::pair<std::string, Recorded>> all;
  for (const char* folder : {"anthropic", "openai-chat", "openai-responses", "gemini", "llamacpp", "ollama",
                             "openrouter", "other"}) {
    for (const std::string& name : fixture_names(folder)) {
      Recorded one = load(name);
      if (one.counted_in_all > 0 && !one.messages.empty()) all.emplace_back(name, std::move(one));
    }
  }
  return all;
}

void tell(const std::string& name, std::int64_t counted, std::int64_t estimated) {
  fmt::print("figures: {}: counted {}, estimated {}, {:+.1f} %\n", name, counted, estimated,
             100.0 * static_cast<double>(estimated - counted) / static_cast<double>(counted));
}

// Whether `two` was asked after `one` was answered.
bool goes_on(const Recorded& one, const Recorded& two) {
  return one.prefix.model == two.prefix.model && one.prefix.system == two.prefix.system &&
         one.messages.size() < two.messages.size() &&
         std::ranges::equal(one.messages, std::span(two.messages).first(one.messages.size()));
}

TEST(ContextEstimate, OfAFirstRequestIsNearTheCountOnNineInTenOfWhatWasRecorded) {
  NEEDS_FIXTURES();
  const auto is_near = [](const Recorded& one, std::int64_t counted) {
    const double ratio = static_cast<double>(one.estimated()) / static_cast<double>(counted);
    return ratio >= 0.9 && ratio <= 1.4;
  };
  int all = 0;
  int near = 0;
  int ours = 0;  // such as the runtime makes
  int near_ours = 0;
  int near_in_all = 0;
  for (const auto& [name, one] : all_counted()) {
    const bool is_ours = !one.offers_tools_of_the_provider;
    EXPECT_TRUE(is_near(one, one.counted) || !is_ours) << name;
    ++all;
    near += is_near(one, one.counted);
    ours += is_ours;
    near_ours += is_ours && is_near(one, one.counted);
    near_in_all += is_near(one, one.counted_in_all);
    tell(name, one.counted, one.estimated());
    if (one.counted_in_all != one.counted)
      fmt::print("figures: {}: {} with what the provider's tools read\n", name, one.counted_in_all);
  }
  fmt::print(
      "figures: {} of {} first requests between -10 % and +40 %; {} of the {} without tools of the "
      "provider's; {} of {} where what such tools read is counted too\n",
      near, all, near_ours, ours, near_in_all, all);
  EXPECT_GE(all, 69);
  EXPECT_GE(near * 10, all * 9);
  EXPECT_GE(near_in_all * 10, all * 9);
}

TEST(ContextEstimate, IsWithinFiveInAHundredOnceTheProviderHasCounted) {
  NEEDS_FIXTURES();
  const auto all = all_counted();
  std::set<std::string> pairs;
  double worst = 0;
  for (const auto& [first, one] : all) {
    for (const auto& [second, two] : all) {
      if (!goes_on(one, two)) continue;
      pairs.insert(second);
      const auto estimated = two.estimated(Measured{one.messages.size(), one.counted});
      const double ratio = static_cast<double>(estimated) / static_cast<double>(two.counted);
      tell(second, two.counted, estimated);
      EXPECT_NEAR(ratio, 1, 0.05) << first << ", then " << second;
      worst = std::max(worst, std::abs(ratio - 1));
    }
  }
  fmt::print("figures: {} second requests, at most {:.1f} % off\n", pairs.size(), worst * 100);
  for (const char* known : {"anthropic/tool-loop-turn2.sse", "openai-chat/tool-loop-turn2.sse",
                            "openai-responses/tool-loop-turn2.sse", "gemini/tool-parallel-3pro-turn2.sse"})
    EXPECT_TRUE(pairs.contains(known)) << known << " goes on with nothing";
}

// A conversation as children have them: prose, calls, and files that were read.
Message reply_at(int step) {
  return {
      .role = Role::assistant,
      .text =
          "The function in question is called from two places, and only one of them checks what it gets. I "
          "look at the other one next, and at the tests that should have found it.",
      .calls = {{"call_" + std::to_string(step), "Read",
                 R"({"file_path":"src/store/commit_queue.cc","offset":120,"limit":40})"}}};
}

Message result_at(int step) {
  std::string lines;
  for (int line = 0; line < 30; ++line) {
    lines +=
        std::to_string(120 + 30 * step + line) +
        "\t  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;\n";
  }
  return {.role = Role::tool, .results = {{"call_" + std::to_string(step), ToolStatus::ok, lines}}};
}

std::string whole_text(const RequestPrefix& prefix, std::span<const Message> messages) {
  std::string text = prefix.system;
  for (const ToolOffer& tool : prefix.tools) text += tool.name + tool.description + tool.schema;
  for (const Message& message : messages) {
    text += message.text;
    for (const Call& call : message.calls) text += call.name + call.arguments;
    for (const ToolResult& result : message.results) text += result.content;
  }
  return text;
}

TEST(ContextEstimate, StaysWithinFiveInAHundredOverAConversation) {
  RequestPrefix prefix{.model = ModelName("compatible/some-model"), .system = {}, .tools = {}};
  for (int i = 0; i < 60; ++i)
    prefix.system += "Work on the task alone, cite files and lines, and report what you found. ";
  for (int i = 0; i < 6; ++i) {
    prefix.tools.push_back(
        {"Tool" + std::to_string(i), "Reads a part of a file, with the numbers of its lines.",
         R"({"type":"object","properties":{"file_path":{"type":"string"},"offset":{"type":"integer"}}})"});
  }
  // Providers that cut text finer, coarser, and put much round it.
  const std::vector<std::function<double(std::string_view)>> counts{
      [](std::string_view text) { return static_cast<double>(text.size()) / 3.0; },
      [](std::string_view text) { return static_cast<double>(text.size()) / 4.2; },
      [](std::string_view text) { return 1.35 * static_cast<double>(tokens_in(text)) + 60; }};
  for (std::size_t which = 0; which < counts.size(); ++which) {
    std::vector<Message> messages{{.text = "Find out why the queue loses entries."}};
    double worst = 0;
    for (int step = 0; step < 40; ++step) {
      const auto counted = static_cast<std::int64_t>(counts[which](whole_text(prefix, messages)));
      const Measured measured{messages.size(), counted};
      messages.push_back(reply_at(step));
      messages.push_back(result_at(step));
      const double truth = counts[which](whole_text(prefix, messages));
      const auto estimated =
          static_cast<double>(estimated_input(estimated_tokens(prefix), prefix.model, messages, measured));
      worst = std::max(worst, std::abs(estimated / truth - 1));
      EXPECT_NEAR(estimated / truth, 1, 0.05) << "count " << which << ", step " << step;
    }
    fmt::print("figures: a conversation of forty steps, way of counting {}: at most {:.1f} % off\n", which,
               worst * 100);
  }
}

TEST(ContextEstimate, GrowsWithEveryMessage) {
  const ModelName model("openai/gpt-5");
  std::vector<Message> messages;
  std::int64_t former = 0;
  for (int step = 0; step < 5; ++step) {
    messages.push_back(result_at(step));
    const std::int64_t now = estimated_tokens(model, messages);
    EXPECT_GT(now, former + 300);
    former = now;
  }
}

TEST(ContextEstimate, TakesACountThatCannotBeOfThisConversationForNone) {
  const ModelName model("openai/gpt-5");
  const std::vector<Message> messages{{.text = "hello"}};
  const std::int64_t plain = estimated_input(10, model, messages, std::nullopt);
  EXPECT_EQ(estimated_input(10, model, messages, Measured{2, 5000}), plain);
  EXPECT_EQ(estimated_input(10, model, messages, Measured{1, 0}), plain);
  EXPECT_EQ(estimated_input(10, model, messages, Measured{1, 5000}), 5000);
}

TEST(ContextEstimate, ComesToTheSameWithWhatWasWeighedBefore) {
  Message thought = reply_at(1);
  thought.wire = std::string(5000, 'x');
  std::vector<Message> messages{{.text = "Find out why."}, reply_at(0), result_at(0), thought, result_at(1)};
  std::vector<MessageWeight> weights;
  for (const Message& message : messages) weights.push_back(weight_of(message));
  const auto prefix =
      std::make_shared<const RequestPrefix>(RequestPrefix{.model = ModelName("openai/gpt-5"),
                                                          .system = "Work on the task alone, cite files.",
                                                          .tools = {{"Read", "Reads a file.", "{}"}}});
  for (const auto& measured : {std::optional<Measured>{}, std::optional(Measured{3, 2000})}) {
    const Request weighed{.prefix = prefix,
                          .prefix_tokens = estimated_tokens(*prefix),
                          .messages = messages,
                          .weights = weights,
                          .measured = measured};
    const Request unweighed{.prefix = prefix, .messages = messages, .measured = measured};
    EXPECT_EQ(estimated_input(weighed),
              estimated_input(estimated_tokens(*prefix), prefix->model, messages, measured));
    EXPECT_EQ(estimated_input(unweighed), estimated_input(weighed));
  }
}

TEST(ContextEstimate, DoesNotWeighAgainWhatWasWeighed) {
  const std::vector<Message> messages{{.text = "short"}};
  const std::vector<MessageWeight> weights{{.text = 10'000, .messages = 1}};
  const auto prefix =
      std::make_shared<const RequestPrefix>(RequestPrefix{.model = ModelName("openai/gpt-5")});
  Request request{.prefix = prefix, .messages = messages, .weights = weights};
  EXPECT_GE(estimated_input(request), 10'000);
  const std::int64_t others = estimated_input(request) - estimated_tokens(*prefix);
  request.prefix_tokens = 70'000;
  EXPECT_EQ(estimated_input(request), 70'000 + others);
}

TEST(ContextEstimate, KnowsWhoTakesEachDigitForAToken) {
  const std::vector<Message> none{{.text = ""}};
  const std::vector<Message> numbers{{.text = "1234567 1 12"}};
  const auto in_numbers = [&](const char* model) {
    return estimated_tokens(ModelName(model), numbers) - estimated_tokens(ModelName(model), none);
  };
  EXPECT_EQ(in_numbers("gemini/gemini-2.5-flash"), 10);
  EXPECT_EQ(in_numbers("openai/gpt-5"), 5);
}

TEST(ContextEstimate, KnowsHowToolsAreTold) {
  RequestPrefix prefix{.model = ModelName("openai/gpt-4o")};
  const auto with = [&](std::vector<ToolOffer> tools) {
    prefix.tools = std::move(tools);
    return estimated_tokens(prefix);
  };
  const ToolOffer takes_none{"List", "Lists a folder.", R"({"properties":{},"type":"object"})"};
  const ToolOffer says_more_of_it{
      "List", "Lists a folder.",
      R"({"additionalProperties":false,"properties":{},"required":[],"type":"object"})"};
  const ToolOffer takes_one{"List", "Lists a folder.",
                            R"({"properties":{"path":{"properties":{},"type":"object"}},"type":"object"})"};
  EXPECT_EQ(with({says_more_of_it}), with({takes_none}));
  EXPECT_GT(with({takes_one}), with({takes_none}) + 5);
  const auto one_before = with({takes_one});
  const auto two_before = with({takes_one, takes_one});
  prefix.model = ModelName("openai/gpt-5");
  EXPECT_EQ(with({takes_one}), one_before);
  EXPECT_EQ(with({takes_one, takes_one}), two_before + 80) << "how to call them at once";
}

TEST(ContextEstimate, KnowsWhetherAReplyHasRoomForThoughts) {
  const auto at = [](const char* model, int max_output_tokens) {
    return estimated_tokens(RequestPrefix{.model = ModelName(model), .max_output_tokens = max_output_tokens});
  };
  EXPECT_EQ(at("anthropic/claude-haiku-4-5", 1025), at("anthropic/claude-haiku-4-5", 1024) + 26);
  EXPECT_EQ(at("anthropic/claude-haiku-4-5", 64'000), at("anthropic/claude-haiku-4-5", 1025));
  EXPECT_EQ(at("openai/gpt-5", 1025), at("openai/gpt-5", 1024));
}

std::int64_t with_claude(const std::string& model) {
  const std::vector<Message> messages{{.text = "Find out why the queue loses entries."}, reply_at(0)};
  const RequestPrefix prefix{.model = ModelName("anthropic/" + model),
                             .system = "Work on the task alone, cite files.",
                             .tools = {{"Read", "Reads a file.", "{}"}}};
  return estimated_input(estimated_tokens(prefix), prefix.model, messages, std::nullopt);
}

TEST(ContextEstimate, TakesAClaudeThatNobodyRecordedToBeAsDearAsAnyThatWas) {
  EXPECT_EQ(with_claude("claude-sonnet-5"), with_claude("claude-opus-4-7"));
  for (const char* recorded : {"claude-3-7-sonnet-20250219", "claude-sonnet-4-20250514", "claude-sonnet-4-6",
                               "claude-haiku-4-5-20251001", "claude-4.5-haiku-20251001"})
    EXPECT_GT(with_claude("claude-sonnet-5"), with_claude(recorded)) << recorded;
}

TEST(ContextEstimate, TakesAnAliasForTheDatedNameThatItStandsFor) {
  EXPECT_EQ(with_claude("claude-sonnet-4-0"), with_claude("claude-sonnet-4-20250514"));
  EXPECT_EQ(with_claude("claude-opus-4-0"), with_claude("claude-opus-4-20250514"));
  EXPECT_EQ(with_claude("claude-opus-4-1"), with_claude("claude-opus-4-1-20250805"));
  EXPECT_EQ(with_claude("claude-opus-4-5"), with_claude("claude-opus-4-5-20251101"));
}

TEST(ContextEstimate, TakesAnOpusBefore47ToCutLikeTheSonnetOfItsTime) {
  EXPECT_EQ(with_claude("claude-opus-4-0"), with_claude("claude-sonnet-4-0"));
  EXPECT_EQ(with_claude("claude-opus-4-1"), with_claude("claude-sonnet-4-0"));
  EXPECT_EQ(with_claude("claude-opus-4-5"), with_claude("claude-sonnet-4-5"));
  EXPECT_EQ(with_claude("claude-opus-4-6"), with_claude("claude-sonnet-4-6"));
  EXPECT_GT(with_claude("claude-opus-4-7"), with_claude("claude-opus-4-6"));
}

TEST(ContextEstimate, TakesAnUnknownModelOfACompatibleServerToBeAsDearAsAnyThatIsKnown) {
  const std::vector<Message> messages{{.text = "Find out why the queue loses entries."}, reply_at(0)};
  const auto whole = [&](const std::string& model) {
    const RequestPrefix prefix{.model = ModelName("compatible/" + model),
                               .system = "Work on the task alone, cite files.",
                               .tools = {{"Read", "Reads a file.", "{}"}, {"Grep", "Finds lines.", "{}"}}};
    return estimated_input(estimated_tokens(prefix), prefix.model, messages, std::nullopt);
  };
  for (const char* known : {"qwen3", "llama-3.3-70b", "kimi-k2", "muse-spark", "deepseek-v4", "gpt-oss-20b"})
    EXPECT_GE(whole("of-mine"), whole(known)) << known;
}

TEST(ContextEstimate, KnowsHowTextIsCut) {
  EXPECT_EQ(tokens_in(""), 0);
  EXPECT_EQ(tokens_in("The weather in Paris is fine today."), 8);
  EXPECT_EQ(tokens_in("getElementById"), 4);
  EXPECT_EQ(tokens_in("1234567"), 3);
  EXPECT_EQ(tokens_in("\xe6\xbc\xa2\xe5\xad\x97"), 2);  // two characters
  EXPECT_GE(tokens_in(std::string(100'000, 'x')), 20'000);
  EXPECT_GT(tokens_in(std::string(1000, '\xff')), 0);  // not UTF-8
}

}  // namespace
}  // namespace deputy
