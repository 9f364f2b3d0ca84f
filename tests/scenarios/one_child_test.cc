// One parent, one child, in simulation: started, finished, cancelled, and resumed after a stop at every
// journal record.

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

constexpr std::string_view kScript = R"({"v":1,"log":"calls","sessions":[
  {"match":{"agent":"main"},"replies":[
    {"text":"I ask a child.","calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"one","prompt":"What does a.txt say?"}]}}]},
    {"text":"The child says: hello."}]},
  {"match":{"label":"one"},"replies":[
    {"text":"I look.","calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},
    {"calls":[{"name":"Note","arguments":{"content":"a.txt says hello"}}],"first_byte_ms":20},
    {"text":"It says hello."}]}]})";

SimWorld new_world() {
  SimWorld world;
  world.script = kScript;
  world.write_file("a.txt", "hello\n");
  return world;
}

json::value messages_of(const std::string& transcript) {
  const auto parsed = parse_json_object(transcript);
  if (!parsed) return nullptr;
  const auto* messages = array_at(*parsed, "messages");
  return messages ? json::value(*messages) : json::value(nullptr);
}

struct Told {
  json::value child;
  json::value root;
  bool operator==(const Told&) const = default;
};
Told transcripts_of(const SimWorld& world) {
  return {messages_of(world.transcript("one")), messages_of(world.transcript("root"))};
}

void expect_one_terminal_record_each(const SimWorld& world, const std::string& where) {
  for (const auto& session : world.sessions()) {
    EXPECT_EQ(world.terminal_records(session.id), 1) << session.label << " " << where;
  }
}

TEST(OneChild, ReportsToItsParentAndLeavesATranscriptAndANote) {
  SimWorld world = new_world();
  Life life(world, {});
  const auto report = life.start(life.brief("Find out what a.txt says."));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(report->body, "The child says: hello.");

  const Session* child = world.session_labelled("one");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::completed);
  EXPECT_EQ(child->depth, 1);
  EXPECT_EQ(child->path, (std::vector<std::string>{"main", "reader"}));
  EXPECT_EQ(child->result, "It says hello.");
  expect_one_terminal_record_each(world, "undisturbed");
  const auto files = world.disk.files();
  EXPECT_EQ(files.at("/home/subagent/" + TranscriptFiles::stem_of(*child) + ".scratch.md"),
            "a.txt says hello\n");
  const json::value messages = messages_of(world.transcript("one"));
  ASSERT_TRUE(messages.is_array());
  EXPECT_EQ(messages.as_array().size(), 6u);  // prompt, reply, result, reply, result, last reply
  EXPECT_EQ(messages.as_array().back().at("content").as_string(), "It says hello.");
}

// What is durable when: the child with the call that made it, its end, what its parent is told, the root's
// ends.
TEST(OneChild, CostsOneSyncToStartAndOneToEnd) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p"}}]},{"text":"over"}]},{"replies":[{"text":"found"}]}]})";
  Life life(world, {});
  RootBrief root = life.brief("go");
  root.rules = Rules({{Decision::allow, "task", ""}});
  ASSERT_TRUE(life.start(std::move(root)));
  EXPECT_EQ(life.records(), 5) << "the root's start; the child's; its end; its report; the root's end";
}

TEST(OneChild, SeesNothingOfItsParentsConversation) {
  SimWorld world = new_world();
  Life life(world, {});
  ASSERT_TRUE(life.start(life.brief("A secret of the parent.")));
  EXPECT_FALSE(world.transcript("one").contains("secret of the parent"));
  EXPECT_TRUE(world.transcript("one").contains("What does a.txt say?"));
}

TEST(OneChild, IsRefusedByNameWhenThereIsNobodyToApprove) {
  SimWorld world = new_world();
  Life life(world, {.attendance = Attendance::nobody});
  const auto report = life.start(life.brief("Find out."));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(world.session_labelled("one"));
  EXPECT_TRUE(world.transcript("root").contains("needs approval, and nobody is there"));
}

// How many seeds are tried.
class OneChildSimulation : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Quick, OneChildSimulation, testing::Values(simulation_seeds(100)));
INSTANTIATE_TEST_SUITE_P(Exhaustive, OneChildSimulation, testing::Values(1'000));

TEST_P(OneChildSimulation, IsTheSameInEveryOrder) {
  SimWorld first = new_world();
  {
    Life life(first, {});
    ASSERT_TRUE(life.start(life.brief("Find out.")));
  }
  for (std::uint64_t seed = 1; seed <= GetParam(); ++seed) {
    SimWorld world = new_world();
    Life life(world, {.seed = seed});
    ASSERT_TRUE(life.start(life.brief("Find out."))) << "seed " << seed;
    ASSERT_EQ(transcripts_of(world), transcripts_of(first)) << "seed " << seed;
  }
}

// One life that dies at a record, a second that goes on. Returns whether there was a record to die at.
bool dies_and_resumes(std::uint64_t seed, CrashPoint crash, const Told& expected,
                      std::size_t undisturbed_calls) {
  const std::string where = "seed " + std::to_string(seed) + ", record " + std::to_string(crash.at_record) +
                            (crash.committed ? " kept" : " lost");
  SimWorld world = new_world();
  {
    Life life(world, {.seed = seed, .crash = crash});
    const auto report = life.start(life.brief("Find out."));
    if (!life.crashed()) return false;
    EXPECT_FALSE(report) << where;
  }
  const auto sessions = world.sessions();
  const std::size_t calls_before = world.model_calls.size();
  if (!sessions.empty()) {
    Life second(world, {.seed = seed + 1'000'000});
    const auto report = second.resume(sessions.front().id);
    EXPECT_TRUE(report) << where << ": " << report.error().message;
    EXPECT_EQ(report->body, "The child says: hello.") << where;
    EXPECT_EQ(transcripts_of(world), expected) << where;
    expect_one_terminal_record_each(world, where);
    EXPECT_EQ(world.sessions().size(), 2u) << where;
    // The one call in flight may be repeated, for each session that was alive.
    EXPECT_LE(world.model_calls.size(), undisturbed_calls + 2) << where << " after " << calls_before;
  }
  return true;
}

void dies_at_every_record(bool committed, std::uint64_t seeds) {
  SimWorld undisturbed = new_world();
  Life life(undisturbed, {});
  ASSERT_TRUE(life.start(life.brief("Find out.")));
  const Told expected = transcripts_of(undisturbed);
  const std::size_t calls = undisturbed.model_calls.size();

  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    int record = 1;
    while (dies_and_resumes(seed, {record, committed}, expected, calls)) ++record;
    ASSERT_GT(record, 5) << "a run this short proves nothing";
  }
}

TEST_P(OneChildSimulation, ResumesAfterAStopRightAfterEveryRecord) { dies_at_every_record(true, GetParam()); }

TEST_P(OneChildSimulation, ResumesAfterAStopThatTookTheRecordWithIt) {
  dies_at_every_record(false, GetParam());
}

TEST_P(OneChildSimulation, EndsOnceAndKeepsWhatItHasWhenCancelledAfterAnyEvent) {
  SimWorld undisturbed = new_world();
  Life whole(undisturbed, {});
  ASSERT_TRUE(whole.start(whole.brief("Find out.")));
  const int events = static_cast<int>(whole.events().size());

  for (std::uint64_t seed = 1; seed <= GetParam() && !HasFailure(); ++seed) {
    const int cancel_after = static_cast<int>(seed) % events + 1;
    SimWorld world = new_world();
    Life life(world, {.seed = seed});
    life.after_event(cancel_after, [](Runtime& runtime) { runtime.cancel(StopReason::user); });
    const auto report = life.start(life.brief("Find out."));
    const std::string where =
        "seed " + std::to_string(seed) + ", cancelled after event " + std::to_string(cancel_after);
    ASSERT_TRUE(report) << where << ": " << report.error().message;
    expect_one_terminal_record_each(world, where);
    for (const auto& session : world.sessions()) {
      EXPECT_TRUE(is_terminal(session.state)) << where;
      EXPECT_FALSE(world.transcript(session.label).empty())
          << where << ": " << session.label << " has no sealed transcript";
    }
  }
}

TEST_P(OneChildSimulation, GoesOnWhereAShutdownLeftIt) {
  SimWorld undisturbed = new_world();
  Life whole(undisturbed, {});
  ASSERT_TRUE(whole.start(whole.brief("Find out.")));
  const Told expected = transcripts_of(undisturbed);
  const int events = static_cast<int>(whole.events().size());

  for (std::uint64_t seed = 1; seed <= GetParam() && !HasFailure(); ++seed) {
    const int leave_after = static_cast<int>(seed) % events + 1;
    const std::string where =
        "seed " + std::to_string(seed) + ", left after event " + std::to_string(leave_after);
    SimWorld world = new_world();
    {
      Life life(world, {.seed = seed});
      life.after_event(leave_after, [](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
      const auto report = life.start(life.brief("Find out."));
      if (report) continue;  // it had ended before
    }
    Life second(world, {.seed = seed + 1'000'000});
    const auto report = second.resume(world.sessions().front().id);
    ASSERT_TRUE(report) << where << ": " << report.error().message;
    EXPECT_EQ(transcripts_of(world), expected) << where;
    expect_one_terminal_record_each(world, where);
  }
}

}  // namespace
}  // namespace deputy
