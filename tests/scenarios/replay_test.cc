// A tree that ran in one world, replayed in another from its bundle alone: the same but for times and ids.
#include "app/replay.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "support/sim_world.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Two children of one agent, who have one label; a tool that there is none of.
constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"general","prompt":"do the first"}},
              {"name":"task","arguments":{"agent":"general","prompt":"do the second"}}],"first_byte_ms":40},
    {"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"two\n"}}]},
    {"text":"Both are back."}]},
  {"match":{"agent":"general"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}},{"name":"Note","arguments":{"content":"seen"}}],"first_byte_ms":700},
    {"calls":[{"name":"Bash","arguments":{"command":"make"}}]},
    {"text":"It is done.","first_byte_ms":300}]}]})";

Bundle bundle_of(Life::Options options, const Rules& rules = {}) {
  SimWorld world;
  world.script = kScript;
  world.write_file("a.txt", "one\n");
  Life life(world, std::move(options));
  life.processes().define(
      "bash", [](const ProcessSpec&) { return ProcessResult{.exit_status = 2, .output = "made\n"}; },
      std::chrono::seconds(3));
  RootBrief root = life.brief("go");
  root.rules = rules;
  const auto report = life.start(std::move(root));
  EXPECT_TRUE(report) << report.error().message;
  const auto read = parse_bundle(bundle_text({{}, world.memory->journal}, {}));
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Bundle{};
}

TEST(AReplay, GivesTheSameEvents) {
  const auto replayed = replay(bundle_of({}));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
  EXPECT_EQ(replayed->sessions, 3u);
  EXPECT_GT(replayed->events, 30u);
}

TEST(AReplay, OfACompactedConversationIsRefused) {
  const Bundle bundle = bundle_of({});
  RunStarted undoing;
  undoing.task = RunTask::undo_compaction;
  for (const Fact& fact : {Fact(Compacted{{.message = {.text = "all of it"}}, 1}), Fact(undoing)}) {
    Bundle compacted = bundle;
    compacted.events.push_back(compacted.events.back());
    compacted.events.back().fact = fact;
    const auto replayed = replay(compacted);
    ASSERT_FALSE(replayed);
    EXPECT_THAT(replayed.error().message, HasSubstr("a compacted conversation is not replayed"));
    EXPECT_FALSE(replayed.error().advice.empty());
  }
}

TEST(AReplay, GivesTheSameRefusals) {
  const Rules rules({{Decision::deny, "Bash", ""}, {Decision::allow, "Read", ""}});
  for (const Attendance attendance : {Attendance::nobody, Attendance::approves_all}) {
    const auto replayed = replay(bundle_of({.attendance = attendance}, rules));
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_THAT(replayed->differences, IsEmpty());
  }
}

TEST(AReplay, OfAnUnfinishedTreeGoesAsFarAsThatDid) {
  Bundle bundle = bundle_of({});
  const auto first_result = std::ranges::find_if(
      bundle.events, [](const Event& event) { return std::holds_alternative<CallFinished>(event.fact); });
  bundle.events.erase(first_result + 1, bundle.events.end());
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

TEST(AReplay, NamesTheEventThatIsAnother) {
  Bundle bundle = bundle_of({});
  const auto ended = std::find_if(bundle.events.rbegin(), bundle.events.rend(), [](const Event& event) {
    return std::holds_alternative<RunEnded>(event.fact);
  });
  ASSERT_NE(ended, bundle.events.rend());
  std::get<RunEnded>(ended->fact).report.body = "Nobody is back.";
  const auto replayed = replay(bundle);
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_EQ(replayed->differences.size(), 1u);
  EXPECT_THAT(replayed->differences[0], HasSubstr("session root, run 1, "));
  EXPECT_THAT(replayed->differences[0], HasSubstr("Nobody is back."));
}

TEST(AReplay, OfAnAgentThatIsNotKnownHereIsRefused) {
  Bundle bundle = bundle_of({});
  std::get<SessionCreated>(bundle.events.front().fact).session.agent = "of-another-project";
  const auto replayed = replay(bundle);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("cannot be replayed"));
}

}  // namespace
}  // namespace deputy
