// A conversation that becomes too long is summed up by its model, and goes on from the summary.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "a_compaction.h"
#include "delegation/budget.h"

namespace deputy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Compaction, ARootWhoseWindowIsNearlyFullGoesOnFromASummary) {
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  EXPECT_EQ(report->body, "done");
  ASSERT_FALSE(compactions().empty());
  EXPECT_THAT(requests, Contains(StartsWith("main\nuser: The conversation so far was compacted.")));
  EXPECT_THAT(requests.back(), HasSubstr(kSummary));
  EXPECT_THAT(requests.back(), Not(HasSubstr("read them all"))) << "the summary stands in its place";
}

// The provider counts as it is estimated, and every step adds as much: so none is told past the mark, and
// what was summed up had passed it.
TEST_F(Compaction, ComesWhenFourFifthsOfTheRoomBesideSystemPromptAndToolsAreTaken) {
  ASSERT_TRUE(start());
  ASSERT_FALSE(compactions().empty());
  const std::int64_t always = weighed.front().always;
  const std::int64_t mark = always + (kWindow - always) * 80 / 100;
  ASSERT_FALSE(weighed[1].is_wish) << "there is room for several steps";
  const std::int64_t step = weighed[1].tokens - weighed[0].tokens;
  constexpr std::int64_t kRounding = 20;
  for (std::size_t at = 1; at < weighed.size(); ++at) {
    if (weighed[at].is_wish) {
      EXPECT_GT(weighed[at - 1].tokens + step + kRounding, mark);
    } else {
      EXPECT_LE(weighed[at].tokens, mark + kRounding);
    }
  }
}

TEST_F(Compaction, IsAnnouncedInTheStreamAndCountedAsUsed) {
  ASSERT_TRUE(start());
  std::int64_t used = 0;
  std::size_t announced = 0;
  for (const Event& event : kept->memory->journal) {
    for (const json::object& line : to_lines(event, {}))
      announced += string_or(line, "event", "") == "compacted";
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) used += reply->reply.usage.input;
  }
  ASSERT_EQ(announced, compactions().size());
  for (const Compacted& fact : compactions()) used += fact.reply.usage.input;
  EXPECT_EQ(kept->sessions().front().usage.input, used);
}

TEST_F(Compaction, CountsAgainstTheBudgetAsAStepDoes) {
  limits.tokens = 10'000'000;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  ASSERT_FALSE(compactions().empty());
  const Amount used = used_by(kept->memory->journal);
  const Usage usage = kept->sessions().front().usage;
  EXPECT_EQ(used.tokens, usage.input + usage.output) << "nothing that was reserved is left";
  EXPECT_EQ(used.steps, static_cast<std::int64_t>(requests.size()));

  begin_anew();
  limits.tokens = used.tokens / 2;
  const auto limited = start();
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_EQ(limited->reason, Reason::budget);
  EXPECT_LE(used_by(kept->memory->journal).tokens, limits.tokens);
}

TEST_F(Compaction, WithRoomEnoughNothingIsSummedUp) {
  plot.window = 1'000'000;
  ASSERT_TRUE(start());
  EXPECT_TRUE(compactions().empty());
}

TEST_F(Compaction, AStepThatPassesTheWindowAtOnceIsSummedUpFromResultsToldInPart) {
  plot.reads = plot.at_once = 14;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  std::int64_t read = 0;
  for (const Event& event : kept->memory->journal) {
    if (const auto* finished = std::get_if<CallFinished>(&event.fact))
      read += tokens_in(finished->result.content);
  }
  ASSERT_GT(weighed.front().always + read, kWindow) << "or it would have fitted";
  EXPECT_EQ(report->status, Status::completed) << report->body;
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_TRUE(summary_in(compactions().front().reply));
  for (const Weighed& request : weighed) EXPECT_LE(request.tokens, kWindow);
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests[1], HasSubstr("left out"));
  EXPECT_THAT(requests[1], HasSubstr("read them all"));
}

TEST_F(Compaction, WhereTheProviderSaysThatItDoesNotFitTheRootGoesOnFromASummary) {
  plot.taken_for = 1'000'000;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  EXPECT_EQ(report->body, "done");
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_TRUE(summary_in(compactions().front().reply));
  const auto refused =
      std::ranges::count_if(weighed, [](const Weighed& request) { return request.tokens > kWindow; });
  EXPECT_EQ(refused, 1) << "the one that showed how small it is";
  EXPECT_THAT(requests.back(), HasSubstr(kSummary));
}

class CompactionInASmallerWindow : public Compaction {
 protected:
  CompactionInASmallerWindow() { plot.taken_for = 1'000'000; }

  // The last request of a session before its window shrank to a sixth of it: half of it is too much as well.
  Weighed fill() {
    plot.window = 1'000'000;
    EXPECT_TRUE(start());
    const Weighed whole = weighed.back();
    plot.window = whole.always + (whole.tokens - whole.always) / 6;
    const auto full = say("more");
    EXPECT_TRUE(full && full->reason == Reason::context_exhausted);
    return whole;
  }
};

TEST_F(CompactionInASmallerWindow, EachRequestForASummaryThatDoesNotFitIsFollowedByOneWithLess) {
  const Weighed whole = fill();
  Status status = Status::partial;
  for (int tries = 0; tries < 3 && status != Status::completed; ++tries) {
    const auto compacted = say("", RunTask::compact);
    ASSERT_TRUE(compacted) << compacted.error().message;
    status = compacted->status;
  }
  EXPECT_EQ(status, Status::completed);
  std::vector<std::int64_t> asked_with;
  for (const Weighed& request : weighed) {
    if (request.is_wish) asked_with.push_back(request.tokens);
  }
  ASSERT_GE(asked_with.size(), 2u);
  EXPECT_LE(asked_with.front(), whole.always + (whole.tokens - whole.always) / 2 + 500);
  EXPECT_EQ(std::ranges::adjacent_find(asked_with, std::less_equal{}), asked_with.end()) << "each with less";
  const auto goes_on = say("more");
  ASSERT_TRUE(goes_on) << goes_on.error().message;
  EXPECT_EQ(goes_on->body, "done");
}

TEST_F(CompactionInASmallerWindow, WhatOneModelRefusedAnotherIsAskedToSumUpInFull) {
  for (const std::string name : {"small/x", "small/y"}) {
    SCOPED_TRACE(name);
    begin_anew();
    weighed.clear();
    const Weighed whole = fill();
    plot.window = 1'000'000;
    weighed.clear();
    Life life(*kept, options());
    ASSERT_TRUE(life.say(kept->sessions().front().id,
                         {.text = "", .model = ModelName(name), .task = RunTask::compact}));
    ASSERT_EQ(weighed.size(), 1u);
    EXPECT_TRUE(weighed.front().is_wish);
    EXPECT_EQ(weighed.front().tokens > whole.tokens, name == "small/y");
  }
}

TEST_F(Compaction, WhereTheProviderSaysThatItDoesNotFitAChildEndsPartial) {
  plot.taken_for = 1'000'000;
  plot.hands_to = "worker";
  profiles = {{.name = "worker", .tools = {"Read"}}};
  ASSERT_TRUE(start());
  EXPECT_EQ(kept->session_labelled("worker")->reason, Reason::context_exhausted);
  EXPECT_TRUE(compactions().empty());
}

TEST_F(Compaction, ByThePersonsWishTheNextInputFollowsTheSummary) {
  plot.window = 1'000'000;
  plot.reads = 2;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_TRUE(say("more"));
  EXPECT_THAT(requests.back(), StartsWith("main\nuser: The conversation so far was compacted."));
  EXPECT_THAT(requests.back(), testing::EndsWith("user: more\n"));
  EXPECT_THAT(requests.back(), Not(HasSubstr("word word")));
}

TEST_F(Compaction, IsWrittenByTheModelThatThePersonHasChosenSince) {
  plot.window = 1'000'000;
  plot.reads = 1;
  ASSERT_TRUE(start());
  {
    Life life(*kept, options());
    const NextInput wish{.text = "", .model = ModelName("small/y"), .task = RunTask::compact};
    ASSERT_TRUE(life.say(kept->sessions().front().id, wish));
  }
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_EQ(compactions().front().reply.model, ModelName("small/y"));
}

TEST_F(Compaction, WhereThereIsNothingToDoNoRunBegins) {
  plot.window = 1'000'000;
  plot.reads = 1;
  ASSERT_TRUE(start());
  const auto nothing_to_undo = say("", RunTask::undo_compaction);
  ASSERT_FALSE(nothing_to_undo);
  EXPECT_THAT(nothing_to_undo.error().message, HasSubstr("no compaction to undo"));
  ASSERT_TRUE(say("", RunTask::compact));
  const auto records = kept->memory->journal.size();
  const auto nothing_new = say("", RunTask::compact);
  ASSERT_FALSE(nothing_new);
  EXPECT_THAT(nothing_new.error().message, HasSubstr("nothing to compact"));
  EXPECT_EQ(kept->memory->journal.size(), records);
}

TEST_F(Compaction, AModelThatGivesNoSummaryIsAskedForItOnceAndTheRunEndsAsItWould) {
  plot.sums_up = false;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::partial);
  EXPECT_EQ(report->reason, Reason::context_exhausted);
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_FALSE(summary_in(compactions().front().reply));
  EXPECT_THAT(why_no_summary(compactions().front().reply), HasSubstr("asked for tools"));
}

TEST_F(Compaction, AChildEndsPartialUnlessItsProfileSaysOtherwise) {
  plot.hands_to = "worker";
  for (const bool is_chosen : {false, true}) {
    SCOPED_TRACE(is_chosen);
    begin_anew();
    profiles = {{.name = "worker", .tools = {"Read"}}};
    if (is_chosen) profiles.front().compact = true;
    ASSERT_TRUE(start());
    const Session* child = kept->session_labelled("worker");
    ASSERT_TRUE(child);
    EXPECT_EQ(child->state, is_chosen ? SessionState::completed : SessionState::partial);
    EXPECT_EQ(child->reason, is_chosen ? Reason::none : Reason::context_exhausted);
    EXPECT_EQ(compactions().empty(), !is_chosen);
  }
}

// The model says the same to the same request: so whatever is asked after a crash was asked without one.
TEST_F(Compaction, ResumedAfterACrashAtAnyRecordItTellsTheSameBytes) {
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  const auto reference = std::exchange(requests, {});
  const auto summed_up = compactions().size();
  ASSERT_GE(summed_up, 2u);

  const auto in_turn = [this](int which) {
    if (which == 0) return start();
    return say("", which == 1 ? RunTask::compact : RunTask::undo_compaction);
  };
  const std::tuple<int, bool> deaths[] = {{0, true},  {1, true},  {2, true},
                                          {0, false}, {1, false}, {2, false}};
  int crashes = 0;
  for (const auto& [dying, is_committed] : deaths) {
    for (int at = 1; at < 100; ++at) {
      SCOPED_TRACE("run " + std::to_string(dying) + ", record " + std::to_string(at) +
                   (is_committed ? "" : ", which is lost"));
      begin_anew();
      requests.clear();
      bool is_over = false;
      for (int which = 0; which < 3 && !is_over; ++which) {
        crash = which == dying ? CrashPoint{.at_record = at, .committed = is_committed} : CrashPoint{};
        seed = static_cast<std::uint64_t>(which) + 1;
        (void)in_turn(which);
        if (which != dying) continue;
        is_over = !has_crashed;
        crash = {};
        if (!has_crashed) break;
        ++crashes;
        seed = 100;
        if (kept->sessions().empty()) {
          ASSERT_TRUE(start());
        } else if (!is_terminal(kept->sessions().front().state)) {
          ASSERT_TRUE(resume());
        }
        if (kept->sessions().front().run <= which) (void)in_turn(which);  // it had not begun
      }
      for (const auto& request : requests) EXPECT_THAT(reference, Contains(request));
      EXPECT_LE(requests.size(), reference.size() + 1) << "only what was under way is asked for again";
      if (is_over) break;
      EXPECT_EQ(kept->sessions().front().state, SessionState::completed);
      EXPECT_EQ(kept->terminal_records(kept->sessions().front().id), 3);
    }
  }
  EXPECT_GT(crashes, 10);
}

}  // namespace
}  // namespace deputy
