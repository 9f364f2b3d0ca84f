// What a model may get wrong in its calls: text that is no JSON, values that are not allowed, far too many at
// once, one that a crash broke off. Each is answered in words, and none has an effect.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/bash.h"
#include "tools/edit.h"
#include "tools/read.h"
#include "tools/tool_bench.h"
#include "tools/write.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kMostCalls = 128;

class ToolArguments : public testing::Test {
 protected:
  ToolArguments() { bench.session.workspace_mode = WorkspaceMode::shared; }
  ToolResult write(std::string_view arguments) { return bench.call_through(box, "Write", arguments); }
  void expect_refused(std::string_view arguments, const std::string& because) {
    const ToolResult result = write(arguments);
    EXPECT_EQ(result.status, ToolStatus::error) << arguments.substr(0, 100);
    EXPECT_THAT(result.content, HasSubstr(because)) << arguments.substr(0, 100);
    EXPECT_FALSE(bench.workspace->read("x", 0, 1)) << "it was written: " << arguments.substr(0, 100);
    EXPECT_TRUE(bench.remembering.recorded.empty()) << "it was begun";
  }

  ToolBench bench;
  BackgroundCommands background{bench.loop};
  const Toolbox box = Toolbox(
      {std::make_shared<ReadTool>(), std::make_shared<WriteTool>(), std::make_shared<BashTool>(background)},
      Rules({{Decision::allow, "Write", ""}, {Decision::allow, "Bash", ""}}));
};

TEST_F(ToolArguments, ThatAreNoStrictJsonAreRefused) {
  for (const char* text : {R"({"file_path":"x","content":"y",})", R"({'file_path':'x','content':'y'})",
                           R"({"file_path":"x","content":NaN})", R"({"file_path":"x",/* c */"content":"y"})",
                           R"({"file_path":"x","content":"y)", R"({"file_path":"x","content":"y"}})",
                           R"("{\"file_path\":\"x\",\"content\":\"y\"}")", "x", "null"})
    expect_refused(text, "must be one JSON object");
  EXPECT_EQ(write(R"({"file_path":"x","content":"y"})").status, ToolStatus::ok) << "control";
}

class ToolWithoutRules final : public Tool {
 public:
  const ToolText& text() const override {
    static const ToolText text{"Any", "does anything", R"({"type":"object","unevaluatedProperties":false})"};
    return text;
  }
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object&) const override { return ""; }
  Task<ToolResult> run(json::object, ToolContext) override { co_return tool_ok("it ran"); }
};

TEST_F(ToolArguments, AreRefusedWhereNothingCanTellWhetherTheyAreValid) {
  const Toolbox any({std::make_shared<ToolWithoutRules>()}, Rules());
  const ToolResult result = bench.call_through(any, "Any", "{}");
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content, AllOf(HasSubstr("Any cannot be called"), HasSubstr("unevaluatedProperties")));
}

class ToolOfOneArgument final : public Tool {
 public:
  explicit ToolOfOneArgument(int number)
      : text_{fmt::format("Tool{}", number), "wants one argument",
              fmt::format(R"({{"type":"object","required":["wanted{0}"],"properties":{{"wanted{0}":{{}}}},
                            "additionalProperties":false}})",
                          number)} {}
  const ToolText& text() const override { return text_; }
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object&) const override { return ""; }
  Task<ToolResult> run(json::object, ToolContext) override { co_return tool_ok("it ran"); }

 private:
  ToolText text_;
};

TEST_F(ToolArguments, AreCheckedByTheSchemaOfTheirToolHoweverManyThereAre) {
  constexpr int kMostKept = 64;  // schemas, between toolboxes
  for (const int tools : {kMostKept, kMostKept + 1, 2 * kMostKept + 1, 1}) {
    std::vector<std::shared_ptr<Tool>> granted;
    for (int i = 0; i < tools; ++i) granted.push_back(std::make_shared<ToolOfOneArgument>(i));
    const Toolbox many(granted, Rules());
    for (int i = 0; i < tools; ++i) {
      const std::string name = fmt::format("Tool{}", i);
      EXPECT_EQ(bench.call_through(many, name, fmt::format(R"({{"wanted{}":1}})", i)).status, ToolStatus::ok);
      EXPECT_THAT(bench.call_through(many, name, R"({"other":1})").content,
                  HasSubstr(fmt::format("wanted{}", i)));
    }
  }
}

TEST_F(ToolArguments, ThatNameSomethingTwiceAreRefused) {
  for (const char* text : {R"({"file_path":"x","content":"y","file_path":"z"})",
                           R"({"file_path":"z","content":"y","file\u005fpath":"x"})",
                           R"({"file_path":"x","content":"y","more":[{"a":{"b":1},"a":2}]})",
                           R"({"file_path":"x","file_path":"x","content":"\"\\"})"})
    expect_refused(text, "the same name twice");
  for (const char* fine :
       {R"({"file_path":"x","content":"a\":\\"})", R"({"file_path":"x","content":"{\"a\":1,\"a\":2}"})"}) {
    EXPECT_EQ(write(fine).status, ToolStatus::ok) << fine << write(fine).content;
    bench.call_through(box, "Read", R"({"file_path":"x"})");
  }
}

TEST_F(ToolArguments, ThatAreNestedWithoutEndAreRefused) {
  constexpr std::size_t kDeep = 100'000;
  const std::string deep =
      R"({"file_path":"x","content":)" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}";
  expect_refused(deep, "nested more than 64 deep");
}

TEST_F(ToolArguments, ThatAreNotValidAreToldEveryMistakeAtOnce) {
  const ToolResult result = write(R"({"file_path":7,"contents":"y"})");
  EXPECT_THAT(result.content, AllOf(HasSubstr("file_path"), HasSubstr("content"), HasSubstr("contents")));
  bench.write("a", "one\ntwo\n");
  for (const char* limit : {"1e400", "-1e400", "1.5", "\"1\"", "[]", "99999999999999999999"}) {
    EXPECT_THAT(
        bench.call_through(box, "Read", fmt::format(R"({{"file_path":"a","limit":{}}})", limit)).content,
        HasSubstr("limit"))
        << limit;
  }
}

TEST_F(ToolArguments, ThatAreFarTooLongAreRefused) {
  expect_refused(R"({"file_path":"x","content":")" + std::string(kMaxJsonBytes, 'y') + "\"}", "too long");
}

TEST_F(ToolArguments, OfMoreCallsThanAReplyMayMakeAreAnsweredAndNotRun) {
  std::vector<PendingCall> calls;
  for (int i = 0; i < 500; ++i) {
    calls.push_back(
        {.index = i,
         .call = {fmt::format("c{}", i), "Write", fmt::format(R"({{"file_path":"{}","content":"y"}})", i)},
         .traces = {}});
  }
  ASSERT_TRUE(run(bench.loop, box.run(calls, bench.context())));
  int answered = 0;
  for (const Event& event : bench.applied) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (!finished) continue;
    EXPECT_EQ(finished->result.call_id, fmt::format("c{}", answered));
    EXPECT_EQ(finished->result.status, answered < kMostCalls ? ToolStatus::ok : ToolStatus::error);
    ++answered;
  }
  EXPECT_EQ(answered, 500);
  EXPECT_TRUE(bench.workspace->read(std::to_string(kMostCalls - 1), 0, 1));
  EXPECT_FALSE(bench.workspace->read(std::to_string(kMostCalls), 0, 1));
  EXPECT_THAT(std::get<CallFinished>(bench.applied.back().fact).result.content, HasSubstr("128 calls"));
}

TEST_F(ToolArguments, OfACommandThatACrashBrokeOffAreNotRunAgain) {
  int started = 0;
  bench.processes.define("bash", [&started](const ProcessSpec&) {
    ++started;
    return ProcessResult{};
  });
  const std::string arguments = R"({"command":"make deploy"})";
  const ToolResult result =
      bench.call_through(box, "Bash", arguments, std::vector<Fact>{CallStarted{"Bash", "make deploy"}});
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content, HasSubstr("interrupted, outcome unknown"));
  EXPECT_EQ(started, 0);
  bench.call_through(box, "Bash", arguments);
  EXPECT_EQ(started, 1) << "control";
}

}  // namespace
}  // namespace deputy
