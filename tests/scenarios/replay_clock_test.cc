// Trees whose machine's clock was set while they ran, and what that excuses where their replay goes another
// way.
#include <gmock/gmock.h>

#include <algorithm>

#include "app/replay.h"
#include "replay_world.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Whose root takes two steps, and ends.
Bundle a_bundle_of_two_steps() {
  ReplayWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 20s};
    return {.text = "over", .after = 20s};
  });
  EXPECT_TRUE(world.run());
  return {{{"has_search", true}}, world.world.memory->journal};
}
template <class F>
std::size_t index_of(const Bundle& bundle) {
  const auto found = std::ranges::find_if(
      bundle.events, [](const Event& event) { return std::holds_alternative<F>(event.fact); });
  EXPECT_NE(found, bundle.events.end());
  return static_cast<std::size_t>(found - bundle.events.begin());
}
Bundle with_clock_set_back(Bundle bundle, std::chrono::microseconds by) {
  const std::size_t from = index_of<CallFinished>(bundle);
  for (std::size_t at = from; at < bundle.events.size(); ++at)
    bundle.events[at].at -= by + (bundle.events[from].at - bundle.events[from - 1].at);
  return bundle;
}
Bundle with_another_end(Bundle bundle) {
  std::get<RunEnded>(bundle.events.back().fact).report->body = "another end";
  return bundle;
}
// What the end of a run that was out of time says.
Bundle with_an_end_in_time(Bundle bundle) {
  std::get<RunEnded>(bundle.events.back().fact).report->reason = Reason::timeout;
  return bundle;
}

TEST(AReplay, GivesATreeAgainWhoseClockWasSetBack) {
  const auto replayed = replay(with_clock_set_back(a_bundle_of_two_steps(), 1h));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_THAT(replayed->differences, IsEmpty());
}

TEST(AReplay, ExcusesWhatMayComeOfTimeByAClockThatWasSetBackByASecond) {
  const Bundle bundle = with_an_end_in_time(a_bundle_of_two_steps());
  const auto replayed = replay(with_clock_set_back(bundle, 1s));
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().message, HasSubstr("clock was set back"));
  EXPECT_TRUE(replay(with_clock_set_back(bundle, 999'999us))) << "by less";
}

TEST(AReplay, DoesNotExcuseAnotherReportByAClockThatWasSetBack) {
  const auto replayed = replay(with_clock_set_back(with_another_end(a_bundle_of_two_steps()), 1h));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->differences.size(), 1u);
}

// That is what a deadline looks like that was not kept.
Bundle with_a_session_that_went_on(Bundle bundle, Duration after_its_time) {
  const std::size_t ended = bundle.events.size() - 1;
  bundle.events[ended - 1].at = bundle.events.front().at + 1h;
  bundle.events[ended].at = bundle.events.front().at + 1h;
  auto& root = std::get<SessionCreated>(bundle.events.front().fact).session;
  root->deadline = bundle.events[ended].at - std::chrono::duration_cast<WallTime::duration>(after_its_time);
  return bundle;
}

TEST(AReplay, CallsItADifferenceWhereASessionHadGoneOnAfterItsTime) {
  const Bundle late = with_a_session_that_went_on(with_an_end_in_time(a_bundle_of_two_steps()), 5min + 1us);
  const auto replayed = replay(late);
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_EQ(replayed->differences.size(), 1u);
  EXPECT_THAT(replayed->differences[0],
              HasSubstr("its deadline was not kept, or its machine's clock was set"));

  const auto in_time =
      replay(with_a_session_that_went_on(with_an_end_in_time(a_bundle_of_two_steps()), 5min));
  ASSERT_TRUE(in_time) << in_time.error().message;
  ASSERT_EQ(in_time->differences.size(), 1u);
  EXPECT_THAT(in_time->differences[0], testing::Not(HasSubstr("its deadline was not kept")));
}

}  // namespace
}  // namespace deputy
