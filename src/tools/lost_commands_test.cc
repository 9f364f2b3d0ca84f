#include "tools/lost_commands.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  EXPECT_EQ(lost[0].call.step, 3);
  EXPECT_EQ(lost[0].call.index, 1);
  EXPECT_EQ(lost[0].command, "make serve");
}

std::string text_told(std::string_view record) {
  const LostCommand lost{{{}, 3, 1}, "make serve"};
  return told_of(lost, CommandRecord{parse_status(record), {}}).text;
}

TEST(LostCommands, AreToldByWhatWasWrittenDown) {
  const auto nudge = told_of({{{}, 3, 1}, "make serve"}, std::nullopt);
  EXPECT_EQ(nudge.id, "lost_bash_3_1");
  EXPECT_EQ(nudge.source, Source::runtime);
  EXPECT_THAT(nudge.text,
              AllOf(HasSubstr("bash_3_1 (make serve) does not run any more"), HasSubstr("unknown")));
  EXPECT_THAT(text_told("confined 3 7\n"), AllOf(HasSubstr("unknown"), HasSubstr("Check")));
  EXPECT_THAT(text_told("confined 3 7\nended exit 0\n"),
              AllOf(HasSubstr("had ended with exit status 0"), Not(HasSubstr("Start it again"))));
  EXPECT_THAT(text_told("confined 3 7\ntimeout\nended signal 9\n"),
              AllOf(HasSubstr("time was up"), HasSubstr("exit status 137")));
  EXPECT_THAT(text_told(""), HasSubstr("it was not run"));
}

TEST(LostCommands, OneOfARunThatHasEndedIsNotLost) {
  std::vector<Event> events{reply(3, {kBackground}), at(3, 0, CallFinished{}), at(4, -1, RunEnded{}),
                            at(4, -1, RunStarted{})};
  EXPECT_THAT(lost_commands(events), IsEmpty());
  events.push_back(reply(4, {kBackground}));
  events.push_back(at(4, 0, CallFinished{}));
  ASSERT_EQ(lost_commands(events).size(), 1u);
  EXPECT_EQ(lost_commands(events)[0].call.step, 4);
}

TEST(LostCommands, OneWhoseRunWasEndedForItHasNoResultAndIsLost) {
  std::vector<Event> events{reply(3, {kForeground, kForeground, kForeground}), at(3, 0, CallStarted{}),
                            at(3, 0, CallFinished{}), at(3, 1, CallStarted{})};
  EXPECT_THAT(lost_commands(events), IsEmpty()) << "its run goes on, and looks for it";
  events.push_back(at(3, -1, RunEnded{}));
  events.push_back(at(3, -1, RunStarted{}));
  const auto lost = lost_commands(events);
  ASSERT_EQ(lost.size(), 1u) << "the third was never begun";
  EXPECT_EQ(lost[0].call.index, 1);
  EXPECT_FALSE(lost[0].has_result) << "so without a record it was not run";
  const CommandRecord ended{parse_status("confined 3 7\nended exit 2\n"), {}};
  EXPECT_THAT(told_of(lost[0], ended).text, AllOf(HasSubstr("(make) that was given no result"),
                                                  HasSubstr("exit status 2"), Not(HasSubstr("background"))));
  events.push_back(at(3, -1, told_of(lost[0], ended)));
  EXPECT_THAT(lost_commands(events), IsEmpty());
}

TEST(LostCommands, OneInTheBackgroundOfARunThatWasEndedByForceIsLost) {
  RunEnded forced;
  forced.report->errors.push_back({.code = std::string(kForcedEnd)});
  EXPECT_EQ(lost_commands({reply(3, {kBackground}), at(3, 0, CallFinished{}), at(4, -1, forced)}).size(), 1u);
}

TEST(LostCommands, OneThatHadEndedByItselfIsToldWithItsStatus) {
  const auto lost = lost_commands({reply(3, {kBackground, kBackground}), at(3, 0, CallFinished{}),
                                   at(3, 1, CallFinished{}), at(3, 1, CommandEnded{7})});
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_THAT(told_of(lost[0], std::nullopt).text, HasSubstr("unknown"));
  EXPECT_THAT(told_of(lost[1], std::nullopt).text, HasSubstr("had ended with exit status 7"));
}

TEST(LostCommands, WhatShowsHowFarOneCameIsTold) {
  EXPECT_THAT(told_of({{{}, 3, 1}, "make serve"}, std::nullopt, "Files: a.").text,
              HasSubstr("before you start it again. Files: a."));
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
  events.push_back(at(4, -1, told_of(first[0], std::nullopt)));
  EXPECT_THAT(lost_commands(events), IsEmpty());
  events.push_back(reply(5, {kBackground}));
  events.push_back(at(5, 0, CallFinished{}));
  const auto second = lost_commands(events);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].call.step, 5);
}

}  // namespace
}  // namespace deputy
