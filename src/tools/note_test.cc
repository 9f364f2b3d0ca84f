#include "tools/note.h"

#include <gmock/gmock.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::HasSubstr;

class Note : public testing::Test {
 protected:
  std::vector<std::string> kept() const {
    std::vector<std::string> notes;
    for (const Event& event : bench.remembering.recorded)
      notes.push_back(std::get<NoteTaken>(event.fact).content);
    return notes;
  }
  ToolBench bench;
  NoteTool note;
};

TEST_F(Note, IsRecordedWhereTheCallStandsBeforeItAnswers) {
  EXPECT_EQ(bench.call(note, R"({"content":"found it"})").content, "Noted.");
  ASSERT_EQ(kept(), std::vector<std::string>{"found it"});
  EXPECT_EQ(bench.remembering.recorded[0].step, 3);
  EXPECT_EQ(bench.remembering.recorded[0].call, 1);
}

TEST_F(Note, AnEmptyOneIsRefused) {
  EXPECT_EQ(bench.call(note, R"({"content":" \n "})").status, ToolStatus::error);
  EXPECT_TRUE(kept().empty());
}

TEST_F(Note, HasALimit) {
  const std::string most(NoteTool::kMaxBytes, 'a');
  EXPECT_EQ(bench.call(note, to_json_text(json::object{{"content", most}})).status, ToolStatus::ok);
  EXPECT_THAT(bench.call(note, to_json_text(json::object{{"content", most + "a"}})).content,
              HasSubstr("65,536"));
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(Note, IsNotTakenTwiceWhenTheCallIsRunAgain) {
  ToolContext context = bench.context();
  context.traces = {NoteTaken{"found it"}};
  EXPECT_EQ(run(bench.loop, note.run({{"content", "found it"}}, context)).content, "Noted.");
  EXPECT_TRUE(kept().empty());
}

TEST_F(Note, AJournalThatFailsIsToldToTheModel) {
  bench.remembering.error = Error{ErrorCode::exhausted, "the disk is full", ""};
  const ToolResult result = bench.call(note, R"({"content":"x"})");
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content, HasSubstr("the disk is full"));
}

TEST_F(Note, NeedsNoPermission) {
  EXPECT_EQ(note.by_default(), Decision::allow);
  EXPECT_EQ(note.effect(), Effect::keyed);
}

}  // namespace
}  // namespace deputy
