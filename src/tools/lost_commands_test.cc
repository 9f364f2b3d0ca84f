#include "tools/lost_commands.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Event at(int step, int call, Fact fact) {
  Event event;
  event.step = step;
  event.call = call;
  event.fact = std::move(fact);
  return event;
}

// A reply that makes these calls of Bash.
Event reply(int step, const std::vector<std::string>& arguments) {
  ReplyReceived received;
  for (const auto& each : arguments) received.reply.message.calls.push_back({"c", "Bash", each});
  return at(step, -1, received);
}

constexpr char kBackground[] = R"({"command":"make serve","run_in_background":true})";
constexpr char kForeground[] = R"({"command":"make"})";

TEST(LostCommands, AreThoseThatWereStartedInTheBackground) {
  const auto lost = lost_commands(
      {reply(3, {kForeground, kBackground}), at(3, 0, CallFinished{}), at(3, 1, CallFinished{})});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].id, "lost_bash_3_1");
  EXPECT_EQ(lost[0].source, Source::runtime);
  EXPECT_THAT(lost[0].text, HasSubstr("bash_3_1 (make serve) does not run any more"));
}

TEST(LostCommands, OneThatWasRefusedOrNeverStartedIsNot) {
  CallFinished refused;
  refused.result.status = ToolStatus::error;
  EXPECT_THAT(lost_commands({reply(3, {kBackground}), at(3, 0, refused)}), IsEmpty());
  EXPECT_THAT(lost_commands({reply(3, {kBackground})}), IsEmpty());
  EXPECT_THAT(lost_commands({reply(3, {"not JSON"}), at(3, 0, CallFinished{})}), IsEmpty());
}

TEST(LostCommands, EachIsToldOnce) {
  std::vector<Event> events{reply(3, {kBackground}), at(3, 0, CallFinished{})};
  const auto first = lost_commands(events);
  ASSERT_EQ(first.size(), 1u);
  events.push_back(at(4, -1, first[0]));
  EXPECT_THAT(lost_commands(events), IsEmpty());
  events.push_back(reply(5, {kBackground}));
  events.push_back(at(5, 0, CallFinished{}));
  const auto second = lost_commands(events);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].id, "lost_bash_5_0");
}

}  // namespace
}  // namespace deputy
