// One parent, one child, in simulation: started, finished, cancelled, and resumed after a stop at every
// journal record.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ranges>
#include <span>

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

std::string outcome_of(const std::string& transcript) {
  const auto parsed = parse_json_object(transcript);
  return parsed ? string_or(*parsed, "outcome", "") : "not sealed";
}

struct Told {
  json::value child;
  json::value root;
  std::string child_outcome;
  std::string root_outcome;
  bool operator==(const Told&) const = default;
};
Told transcripts_of(const SimWorld& world) {
  const auto child = world.transcript("one");
  const auto root = world.transcript("root");
  return {messages_of(child), messages_of(root), outcome_of(child), outcome_of(root)};
}

// What an undisturbed life tells: all there, so that no other can be like it by telling nothing.
Told told_undisturbed(const SimWorld& world) {
  Told told = transcripts_of(world);
  EXPECT_TRUE(told.child.is_array() && told.root.is_array());
  EXPECT_EQ(told.child_outcome, "success");
  EXPECT_EQ(told.root_outcome, "success");
  return told;
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

TEST(OneChild, CostsNoSyncMoreWhereItIsApprovedWithoutAsking) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p"}}]},{"text":"over"}]},{"replies":[{"text":"found"}]}]})";
  Life life(world, {.attendance = Attendance::approves_all});
  ASSERT_TRUE(life.start(life.brief("go")));
  EXPECT_EQ(life.records(), 5) << "the root's start; the child's; its end; its report; the root's end";
  std::vector<std::string> in_order;  // the answer and the intent are on record before the child
  for (const Event& event : life.events()) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) in_order.push_back("asked");
    if (std::holds_alternative<QuestionAnswered>(event.fact)) in_order.push_back("answered");
    if (std::holds_alternative<CallStarted>(event.fact)) in_order.push_back("intent");
    if (std::holds_alternative<SessionCreated>(event.fact)) in_order.push_back("created");
  }
  EXPECT_EQ(in_order, (std::vector<std::string>{"created", "asked", "answered", "intent", "created"}));
}

TEST(OneChild, IsTakenUpAgainByTheRecordOfItsNextRequest) {
  SimWorld world;
  world.write_file("a.txt", "one\n");
  world.script = R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p"}}]},{"text":"over"}]},
    {"replies":[{"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},{"text":"found"}]}]})";
  {
    Life life(world, {.crash = {.at_record = 3}});
    RootBrief root = life.brief("go");
    root.rules = Rules({{Decision::allow, "task", ""}});
    EXPECT_FALSE(life.start(std::move(root)));
    ASSERT_TRUE(life.crashed());
  }
  world.clock->advance(std::chrono::minutes(1));  // by which its deadline moves
  Life life(world, {.seed = 2});
  const auto report = life.resume(world.sessions().front().id);
  ASSERT_TRUE(report && report->status == Status::completed);
  EXPECT_EQ(life.records(), 5)
      << "what was left open; the child's request; its end; its report; the root's end";
}

TEST(OneStep, CostsOneSyncWhereItReadsAndTwoWhereItHasAnEffect) {
  const auto records = [](std::string_view calls) {
    SimWorld world;
    world.write_file("a.txt", "one\n");
    world.script = fmt::format(R"({{"v":1,"sessions":[{{"replies":[{}{{"text":"over"}}]}}]}})", calls);
    Life life(world, {});
    life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{}; });
    RootBrief root = life.brief("go");
    root.rules = Rules({{Decision::allow, "Bash", ""}, {Decision::allow, "Write", ""}});
    const auto report = life.start(std::move(root));
    EXPECT_TRUE(report && report->status == Status::completed) << calls;
    return life.records();
  };
  const int without = records("");
  EXPECT_EQ(without, 2) << "the root's start and its end";
  EXPECT_EQ(records(R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},)"), without + 1);
  EXPECT_EQ(records(R"({"calls":[{"name":"Bash","arguments":{"command":"make"}}]},)"), without + 2);
  EXPECT_EQ(records(R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"two"}}]},)"),
            without + 2);
}

// What a request may come to is in the unit that is synced before it anyway: only a session's first request
// has none.
TEST(OneChild, CostsOneSyncMoreForEachSessionUnderALimitAndNoneMoreForAStep) {
  const auto records = [](const TreeLimits& limits) {
    SimWorld world;
    world.write_file("a.txt", "one\n");
    const std::string reads = R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},)";
    world.script =
        R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[)" + reads + reads + reads +
        R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p"}}]},{"text":"over"}]},
                   {"replies":[)" +
        reads + R"({"text":"found"}]}]})";
    Life life(world, {.limits = limits});
    RootBrief root = life.brief("go");
    root.rules = Rules({{Decision::allow, "task", ""}});
    const auto report = life.start(std::move(root));
    EXPECT_TRUE(report && report->status == Status::completed);
    EXPECT_EQ(std::ranges::count_if(
                  life.events(),
                  [](const Event& event) { return std::holds_alternative<BudgetReserved>(event.fact); }),
              limits_spending(limits) ? 7 : 5)
        << "one for each request but the first of a run that nothing limits";
    return life.records();
  };
  const int without = records({});
  EXPECT_EQ(without, 5 + 4) << "as above, and one for each step that only reads";
  EXPECT_EQ(records({.cost_micros = 1'000'000}), without + 2);
  EXPECT_EQ(records({.tokens = 1'000'000}), without + 2);
  EXPECT_EQ(records({.steps = 100}), without + 2);
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
  const Told expected = told_undisturbed(first);
  for (std::uint64_t seed = 1; seed <= GetParam() && !HasFailure(); ++seed) {
    SimWorld world = new_world();
    Life life(world, {.seed = seed});
    ASSERT_TRUE(life.start(life.brief("Find out."))) << "seed " << seed;
    ASSERT_EQ(transcripts_of(world), expected) << "seed " << seed;
  }
}

// Lives that die one after another, each at its record, and one that goes on to the end. Returns whether
// there was a record for the first to die at.
bool dies_and_resumes(std::uint64_t seed, std::vector<CrashPoint> stops, const Told& expected,
                      std::size_t undisturbed_calls) {
  std::string where = "seed " + std::to_string(seed);
  for (const auto& stop : stops)
    where += ", record " + std::to_string(stop.at_record) + (stop.committed ? " kept" : " lost");
  stops.push_back({});  // never
  SimWorld world = new_world();
  std::size_t deaths = 0;
  for (const auto& stop : stops) {
    Life life(world, {.seed = seed + deaths * 1'000'000, .crash = stop});
    const auto sessions = world.sessions();
    const auto report =
        sessions.empty() ? life.start(life.brief("Find out.")) : life.resume(sessions.front().id);
    EXPECT_NE(report.has_value(), life.crashed()) << where;
    if (life.crashed()) {
      ++deaths;
    } else {
      EXPECT_EQ(report->body, "The child says: hello.") << where;
      break;
    }
  }
  if (deaths == 0) return false;
  EXPECT_EQ(transcripts_of(world), expected) << where;
  expect_one_terminal_record_each(world, where);
  EXPECT_EQ(world.sessions().size(), 2u) << where;
  // The one call in flight may be repeated, for each session that was alive.
  EXPECT_LE(world.model_calls.size(), undisturbed_calls + 2 * deaths) << where;
  return true;
}

constexpr std::uint64_t kTwiceEvery = 10;  // seeds: those die again while they go on

void dies_at_every_record(bool committed, std::uint64_t seeds) {
  SimWorld undisturbed = new_world();
  Life life(undisturbed, {});
  ASSERT_TRUE(life.start(life.brief("Find out.")));
  const Told expected = told_undisturbed(undisturbed);
  const std::size_t calls = undisturbed.model_calls.size();

  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    std::vector<CrashPoint> stops{{0, committed}};
    if (seed % kTwiceEvery == 0) stops.push_back({static_cast<int>(seed / kTwiceEvery) % 4 + 1, committed});
    int& record = stops.front().at_record;
    do ++record;
    while (dies_and_resumes(seed, stops, expected, calls));
    ASSERT_GT(record, 5) << "a run this short proves nothing";
  }
}

TEST_P(OneChildSimulation, ResumesAfterAStopRightAfterEveryRecord) { dies_at_every_record(true, GetParam()); }

TEST_P(OneChildSimulation, ResumesAfterAStopThatTookTheRecordWithIt) {
  dies_at_every_record(false, GetParam());
}

std::string_view role_of(const json::value& message) { return message.at("role").as_string(); }

// What was said until the cancel, to the letter; after it only what the calls under way came to.
void expect_kept(const json::value& cut, const json::value& whole, std::ptrdiff_t replies,
                 const std::string& where) {
  ASSERT_TRUE(cut.is_array()) << where;
  const auto& messages = cut.as_array();
  const auto differs = std::ranges::mismatch(messages, whole.as_array()).in1;
  EXPECT_TRUE(
      std::ranges::all_of(differs, messages.end(), [](const auto& m) { return role_of(m) == "tool"; }))
      << where << ": " << to_json_text(cut);
  EXPECT_GE(std::ranges::count(messages, "assistant", role_of), replies) << where;
}

template <class T>
std::ptrdiff_t count_of(const Session& session, std::span<const Event> events) {
  return std::ranges::count_if(events, [&session](const Event& event) {
    return event.run.session == session.id && std::holds_alternative<T>(event.fact);
  });
}

// Whoever waits for its child is stopped; whoever had its last word by then is not. Between the two it may
// have come in just then.
void expect_stopped_in_time(bool has_completed, const SimWorld& world, std::span<const Event> before,
                            std::ptrdiff_t replies, const std::string& where) {
  const Session* child = world.session_labelled("one");
  if (!child || count_of<RunEnded>(*child, before) == 0) EXPECT_FALSE(has_completed) << where;
  if (count_of<ReplyReceived>(*world.session_labelled("root"), before) == replies)
    EXPECT_TRUE(has_completed) << where;
}

TEST_P(OneChildSimulation, EndsOnceAndKeepsWhatItHasWhenCancelledAfterAnyEvent) {
  SimWorld undisturbed = new_world();
  Life whole(undisturbed, {});
  ASSERT_TRUE(whole.start(whole.brief("Find out.")));
  const Told expected = told_undisturbed(undisturbed);
  const int events = static_cast<int>(whole.events().size());
  const auto said = count_of<ReplyReceived>(*undisturbed.session_labelled("root"), whole.events());
  std::uint64_t cancelled = 0;

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
    if (report->status == Status::cancelled)
      ++cancelled;
    else
      EXPECT_EQ(transcripts_of(world), expected) << where;
    const auto before = std::span(life.events()).first(static_cast<std::size_t>(cancel_after));
    expect_stopped_in_time(report->status == Status::completed, world, before, said, where);
    for (const auto& session : world.sessions()) {
      EXPECT_TRUE(is_terminal(session.state)) << where;
      const auto replies = count_of<ReplyReceived>(session, before);
      const bool is_root = session.label == "root";
      expect_kept(messages_of(world.transcript(session.label)), is_root ? expected.root : expected.child,
                  replies, where + ", " + session.label);
    }
  }
  EXPECT_GT(cancelled, GetParam() / 2);
}

TEST_P(OneChildSimulation, GoesOnWhereAShutdownLeftIt) {
  SimWorld undisturbed = new_world();
  Life whole(undisturbed, {});
  ASSERT_TRUE(whole.start(whole.brief("Find out.")));
  const Told expected = told_undisturbed(undisturbed);
  const int events = static_cast<int>(whole.events().size());
  const auto said = count_of<ReplyReceived>(*undisturbed.session_labelled("root"), whole.events());
  std::uint64_t left = 0;

  for (std::uint64_t seed = 1; seed <= GetParam() && !HasFailure(); ++seed) {
    const int leave_after = static_cast<int>(seed) % events + 1;
    const std::string where =
        "seed " + std::to_string(seed) + ", left after event " + std::to_string(leave_after);
    SimWorld world = new_world();
    {
      Life life(world, {.seed = seed});
      life.after_event(leave_after, [](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
      const auto report = life.start(life.brief("Find out."));
      const auto before = std::span(life.events()).first(static_cast<std::size_t>(leave_after));
      expect_stopped_in_time(report.has_value(), world, before, said, where);
      if (report) EXPECT_EQ(transcripts_of(world), expected) << where;
      if (report) continue;
    }
    ++left;
    Life second(world, {.seed = seed + 1'000'000});
    const auto report = second.resume(world.sessions().front().id);
    ASSERT_TRUE(report) << where << ": " << report.error().message;
    EXPECT_EQ(transcripts_of(world), expected) << where;
    expect_one_terminal_record_each(world, where);
  }
  EXPECT_GT(left, GetParam() / 2);
}

}  // namespace
}  // namespace deputy
