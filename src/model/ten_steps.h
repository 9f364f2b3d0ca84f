// A conversation of ten steps for the golden tests of dialects: parallel calls, failed ones, thinking, a call
// without arguments and one whose arguments are no JSON, a nudge in the middle. Each dialect plays the
// model's turns as a stream of its own; what it is asked in each step is what the test looks at.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/dialect.h"

namespace deputy {

struct ScriptedTurn {
  std::string thinking;
  std::string text;
  std::vector<Call> calls;
  std::vector<ToolResult> results;
  std::string nudge;  // what the parent says after the results
};

inline RequestPrefix ten_steps_prefix(std::string_view model) {
  return {.model = ModelName(std::string(model)),
          .system = "You explore.\nSay \"done\" at the end.",
          .tools = {{.name = "Read",
                     .description = "Reads a file.",
                     .schema =
                         R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})"},
                    {.name = "List", .description = "Lists a folder.", .schema = R"({"type":"object"})"}},
          .max_output_tokens = 2048};
}

inline std::vector<ScriptedTurn> ten_steps() {
  const auto ok = [](std::string content) {
    return ToolResult{.status = ToolStatus::ok, .content = std::move(content)};
  };
  const auto failed = [](std::string content) {
    return ToolResult{.status = ToolStatus::error, .content = std::move(content)};
  };
  return {
      {.thinking = "Two files at once.",
       .text = "I read both.",
       .calls = {{.name = "Read", .arguments = R"({"path": "a.cc"})"},
                 {.name = "Read", .arguments = R"({"path": "b.cc"})"}},
       .results = {ok("int a;\n"), failed("no such file: b.cc")}},
      {.calls = {{.name = "List", .arguments = ""}}, .results = {ok("a.cc\n\"odd\" näme.cc")}},
      {.thinking = "Odd.",
       .calls = {{.name = "Read", .arguments = R"({"path":"\"odd\" n\u00e4me.cc","limit":1.50})"}},
       .results = {ok("")}},
      {.calls = {{.name = "Read", .arguments = R"({"path": oops)"}},
       .results = {failed("the arguments are no JSON")}},
      {.text = "Again.",
       .calls = {{.name = "Read", .arguments = R"({"path":"c.cc"})"}},
       .results = {ok("tab\tand \x1b[31mred\x1b[0m")},
       .nudge = "Hurry, please."},
      {.calls = {{.name = "Read", .arguments = R"({"path":"1"})"},
                 {.name = "Read", .arguments = R"({"path":"2"})"},
                 {.name = "List", .arguments = "{}"}},
       .results = {ok("one"), failed(""), ok("1\n2")}},
      {.thinking = "Nearly there.",
       .text = "Line one.\nLine two.",
       .calls = {{.name = "List", .arguments = "{}"}},
       .results = {ok("1\n2")}},
      {.calls = {{.name = "Read", .arguments = R"({"path":"d","n":12345678901234567890123})"}},
       .results = {ok("d")}},
      {.calls = {{.name = "Read", .arguments = R"({"path":"e"})"}}, .results = {ok("e")}},
      {.text = "done"},
  };
}

// Plays a turn of the model, the n-th from 1, as the bytes of an answer.
using StreamOf = std::function<std::string(const ScriptedTurn& turn, int n)>;

struct PlayedSteps {
  std::vector<std::string> bodies;  // what was asked, step by step
  std::vector<std::string> starts;  // the same, up to the end of the last message
};

inline PlayedSteps play(const Dialect& dialect, const RequestPrefix& prefix, std::string prompt,
                        const StreamOf& stream_of) {
  PlayedSteps played;
  const EncodedPrefix encoded = dialect.encode(prefix);
  std::string start = encoded.head + dialect.encode(Message{.role = Role::user, .text = std::move(prompt)});
  int n = 0;
  for (ScriptedTurn turn : ten_steps()) {
    played.bodies.push_back(start + encoded.tail);
    played.starts.push_back(start);
    const auto decoder = dialect.decoder();
    decoder->feed(stream_of(turn, ++n), {});
    const auto reply = decoder->finish();
    if (!reply) {
      ADD_FAILURE() << "step " << n << ": " << reply.error().message;
      return played;
    }
    start += "," + dialect.encode(reply->message);
    EXPECT_EQ(reply->message.calls.size(), turn.results.size());
    Message results{.role = Role::tool};
    for (std::size_t i = 0; i < turn.results.size(); ++i) {
      results.results.push_back(turn.results[i]);
      results.results.back().call_id = reply->message.calls.at(i).id;
      results.results.back().name = reply->message.calls.at(i).name;
    }
    if (!results.results.empty()) start += "," + dialect.encode(results);
    if (!turn.nudge.empty()) {
      start +=
          "," + dialect.encode(Message{.role = Role::user, .source = Source::parent, .text = turn.nudge});
    }
  }
  return played;
}

// Each request is valid and begins, byte for byte, with all that the one before it said.
inline void expect_growing(const PlayedSteps& played) {
  ASSERT_EQ(played.bodies.size(), 10U);
  for (std::size_t i = 0; i < played.bodies.size(); ++i) {
    EXPECT_TRUE(parse_json_object(played.bodies[i])) << played.bodies[i];
    if (i > 0) EXPECT_TRUE(played.bodies[i].starts_with(played.starts[i - 1])) << "step " << i + 1;
  }
}

inline std::string one_a_line(const PlayedSteps& played) {
  std::string lines;
  for (const std::string& body : played.bodies) lines += body + "\n";
  return lines;
}

}  // namespace deputy
