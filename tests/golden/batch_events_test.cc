// Eight tasks in one Delegate call: the event lines that every surface sees, as a golden file.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "base/text.h"
#include "support/golden.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

std::string eight_task_script() {
  json::array tasks;
  json::array sessions;
  for (int i = 1; i <= 8; ++i) {
    const std::string label = fmt::format("child-{}", i);
    tasks.push_back(json::object{{"label", label}, {"prompt", fmt::format("Read part {}.", i)}});
    json::array replies;
    replies.push_back(json::object{
        {"calls",
         json::array{json::object{{"name", "Read"},
                                  {"arguments", json::object{{"file_path", fmt::format("{}.txt", i)}}}}}},
        {"usage", json::object{{"input", 100 * i}, {"output", 10}}},
        {"first_byte_ms", 10 * i}});
    replies.push_back(json::object{
        {"calls",
         json::array{json::object{
             {"name", "Note"}, {"arguments", json::object{{"content", fmt::format("part {} is read", i)}}}}}},
        {"usage", json::object{{"input", 150 * i}, {"output", 12}}}});
    if (i == 5) {
      replies.push_back(json::object{
          {"error", json::object{{"kind", "context_exhausted"}, {"message", "the window is full"}}}});
    } else if (i == 7) {
      replies.push_back(json::object{{"error", "the provider is down"}});
    } else {
      replies.push_back(json::object{{"text", fmt::format("Report of part {}.", i)},
                                     {"usage", json::object{{"input", 200 * i}, {"output", 20}}}});
    }
    sessions.push_back(json::object{{"match", json::object{{"label", label}}}, {"replies", replies}});
  }
  json::object parent{{"match", json::object{{"agent", "main"}}}};
  parent["replies"] = json::array{
      json::object{{"calls", json::array{json::object{
                                 {"name", "Delegate"},
                                 {"arguments", json::object{{"tasks", tasks}, {"concurrency", 4}}}}}},
                   {"usage", json::object{{"input", 1000}, {"output", 100}}}},
      json::object{{"text", "All eight are back."},
                   {"usage", json::object{{"input", 2000}, {"output", 50}}}}};
  sessions.push_back(parent);
  return to_json_text(json::object{{"v", 1}, {"sessions", sessions}});
}

// Ids and uuids are random by design; the rest of the stream must not change.
std::string with_ids_named(std::string text, const std::vector<Session>& sessions) {
  for (const auto& session : sessions) {
    for (const auto& [from, to] : {std::pair{session.id.value, "<" + session.label + ">"}}) {
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
      }
    }
  }
  return text;
}

class EightTasks : public testing::Test {
 protected:
  void SetUp() override {
    world_.script = eight_task_script();
    for (int i = 1; i <= 8; ++i) world_.write_file(fmt::format("{}.txt", i), fmt::format("part {}\n", i));
  }
  Result<Report> run_batch(Life& life) {
    life.runtime().subscribe([this](const Event& event, const EventOrigin& origin) {
      for (const auto& line : to_lines(event, origin)) lines_ += to_json_text(line) + "\n";
    });
    return life.start(life.brief("Read all parts."));
  }

  SimWorld world_;
  std::string lines_;
};

TEST_F(EightTasks, GiveTheSameEventLinesAlways) {
  Life life(world_, {});
  const auto report = run_batch(life);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "All eight are back.");
  expect_golden("eight_tasks.events.jsonl", with_ids_named(lines_, world_.sessions()));
}

TEST_F(EightTasks, ComeBackInInputOrderWhateverOrderTheyFinishIn) {
  Life life(world_, {.seed = 99});
  ASSERT_TRUE(run_batch(life));
  std::string result;
  for (const auto& event : world_.memory->journal) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (finished && finished->result.content.contains("Subagents complete"))
      result = finished->result.content;
  }
  expect_golden("eight_tasks.md", result);
}

TEST_F(EightTasks, RunAtMostFourAtATime) {
  Life life(world_, {});
  ASSERT_TRUE(run_batch(life));
  int running = 0;
  int most = 0;
  for (const auto& event : world_.memory->journal) {
    if (world_.memory->sessions.at(event.run.session).depth == 0) continue;
    if (std::holds_alternative<RunStarted>(event.fact)) most = std::max(most, ++running);
    if (std::holds_alternative<RunEnded>(event.fact)) --running;
  }
  EXPECT_EQ(most, 4);
}

TEST_F(EightTasks, EachHasItsWholeTranscriptAndItsNote) {
  Life life(world_, {});
  ASSERT_TRUE(run_batch(life));
  for (int i = 1; i <= 8; ++i) {
    const std::string label = fmt::format("child-{}", i);
    const std::string transcript = world_.transcript(label);
    EXPECT_TRUE(parse_json(transcript)) << label;
    EXPECT_TRUE(transcript.contains(fmt::format("part {}", i))) << label;
    const auto scratch =
        "/home/subagent/" + TranscriptFiles::stem_of(*world_.session_labelled(label)) + ".scratch.md";
    EXPECT_EQ(world_.disk.files()[scratch], fmt::format("part {} is read\n", i));
  }
}

TEST_F(EightTasks, ArePartialOrFailedByThemselves) {
  Life life(world_, {});
  ASSERT_TRUE(run_batch(life));
  EXPECT_EQ(world_.session_labelled("child-5")->state, SessionState::partial);
  EXPECT_EQ(world_.session_labelled("child-5")->reason, Reason::context_exhausted);
  EXPECT_EQ(world_.session_labelled("child-5")->result, "part 5 is read");
  EXPECT_EQ(world_.session_labelled("child-7")->state, SessionState::failed);
  EXPECT_EQ(world_.session_labelled("child-8")->state, SessionState::completed);
}

}  // namespace
}  // namespace deputy
