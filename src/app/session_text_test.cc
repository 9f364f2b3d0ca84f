#include "app/session_text.h"

#include <fmt/chrono.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/transcript_text.h"
#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Session session_of(const std::string& id, const std::string& label, int task = -1) {
  Session session;
  session.id = SessionId(id);
  session.tree = SessionId("root");
  session.label = label;
  session.agent = task < 0 ? "main" : "reader";
  session.state = SessionState::completed;
  session.prompt = "look\x1b[2J around";
  session.started_at = WallTime{std::chrono::seconds{1'800'000'000}};
  session.ended_at = *session.started_at + std::chrono::seconds(90);
  session.usage = {.input = 1500, .output = 20, .cost_micros = 1200};
  if (task >= 0) {
    session.parent = SessionId("root");
    session.delegation = DelegationKey{.call = {.run = {SessionId("root"), 1}}, .task = task};
  }
  return session;
}

constexpr WallTime kNow{std::chrono::seconds{1'800'000'300}};

TEST(SessionText, ATreeShowsStateTokensCostAndTimeInTheOrderOfTheTasks) {
  auto broken = session_of("b", "second", 1);
  broken.state = SessionState::failed;
  broken.reason = Reason::provider_error;
  broken.usage.cost_micros.reset();
  const auto root = session_of("root", "main");
  EXPECT_EQ(tree_text(root, {broken, session_of("a", "first", 0), root}, kNow, Style{}),
            "[main]      main    completed                in=1.5k out=20  $0.0012 (all $?)  1m 30s  root\n"
            "  [first]   reader  completed                in=1.5k out=20  $0.0012           1m 30s  a\n"
            "  [second]  reader  failed (provider error)  in=1.5k out=20  $?                1m 30s  b\n");
}

TEST(SessionText, OfACancelItIsToldWhoseItWas) {
  auto root = session_of("root", "main");
  root.state = SessionState::cancelled;
  root.reason = Reason::cancelled_by_user;
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}), HasSubstr("cancelled (cancelled by user)"))
      << "control";
  root.error = "ended by SIGTERM";
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}), HasSubstr("cancelled (ended by SIGTERM)"));
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\nreason      ended by SIGTERM\n"));
  root.reason = Reason::provider_error;
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}), HasSubstr("(provider error)"));
}

TEST(SessionText, TellsWhatItsProcessesTookWhereItHadAny) {
  const auto root = session_of("root", "main");
  const Resources used{.calls = 7, .processes = 2, .cpu = std::chrono::milliseconds(1500), .memory = 3 << 20};
  EXPECT_THAT(details_text(root, {root}, kNow, "", used),
              testing::AllOf(HasSubstr("\ncalls       7\n"),
                             HasSubstr("\nprocesses   2 processes: 1s of CPU, 3 MiB of memory\n")));
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}, {{root.id, used}}),
              HasSubstr("  root  2 processes: 1s of CPU, 3 MiB of memory\n"));
  Resources little = used;
  little.cpu = std::chrono::milliseconds(999);
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}, {{root.id, little}}), testing::EndsWith("  root\n"));
  little.cpu = std::chrono::seconds(1);
  EXPECT_THAT(tree_text(root, {root}, kNow, Style{}, {{root.id, little}}), HasSubstr("1s of CPU"));
}

TEST(SessionText, NobodyDeniedTheChildrenOfACommandThatNeverCameToBe) {
  auto root = session_of("root", "main");
  root.state = SessionState::failed;
  root.reason = Reason::denied;
  root.error = "1 of 1 did not complete";
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\nreason      denied\n")) << "of any other";
  root.agent = "command";
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\nreason      1 of 1 did not complete\n"));
}

TEST(SessionText, CostIsRolledUpTheTreeWithWhatFailedAndNothingTwice) {
  const auto root = session_of("root", "main");
  auto failed = session_of("a", "first", 0);
  failed.state = SessionState::failed;
  auto below = session_of("b", "second", 1);
  below.parent = SessionId("a");
  const std::vector<Session> sessions{root, failed, below};
  EXPECT_EQ(usage_with_children(root, sessions).cost_micros, 3 * *root.usage.cost_micros);
  EXPECT_EQ(usage_with_children(failed, sessions).cost_micros, 2 * *root.usage.cost_micros);
  EXPECT_EQ(usage_with_children(below, sessions).cost_micros, root.usage.cost_micros);
  EXPECT_THAT(tree_text(root, sessions, kNow, Style{}), HasSubstr("$0.0012 (all $0.0036)"));
}

TEST(SessionText, TheTimeOfWhatRunsGoesOnAndOfWhatWasLeftStands) {
  auto session = session_of("root", "main");
  session.state = SessionState::running;
  session.ended_at.reset();
  session.last_event_at = *session.started_at + std::chrono::seconds(10);
  EXPECT_THAT(tree_text(session, {session}, kNow, Style{}), HasSubstr("  5m 00s  "));
  session.state = SessionState::interrupted;
  EXPECT_THAT(tree_text(session, {session}, kNow, Style{}), HasSubstr("  10s+  ")) << "it may be more";
}

TEST(SessionText, WhoWaitedForAChildWasThereAsLongAsThat) {
  auto root = session_of("root", "main");
  root.state = SessionState::interrupted;
  root.ended_at.reset();
  root.last_event_at = *root.started_at + std::chrono::milliseconds(1);
  auto child = session_of("a", "first", 0);
  child.last_event_at = *child.ended_at;
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\nduration    1ms+\n")) << "control";
  EXPECT_THAT(details_text(root, {root, child}, kNow, ""), HasSubstr("\nduration    1m 30s+\n"));
  EXPECT_THAT(details_text(child, {root, child}, kNow, ""), HasSubstr("\nduration    1m 30s\n"));
}

TEST(SessionText, WhatNoModelAnsweredHasNoCostAndWhatIsUnknownSaysSo) {
  auto root = session_of("root", "main");
  root.usage = {};
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\ncost        -\n"));
  auto child = session_of("a", "first", 0);
  EXPECT_THAT(tree_text(root, {root, child}, kNow, Style{}), HasSubstr("  - (all $0.0012)  "));
  child.usage = {};
  EXPECT_THAT(tree_text(root, {root, child}, kNow, Style{}), HasSubstr("  - (all -)  "));
  root.steps = 1;
  EXPECT_THAT(details_text(root, {root}, kNow, ""), HasSubstr("\ncost        $?\n")) << "it was answered";
  EXPECT_THAT(tree_text(root, {root, child}, kNow, Style{}), HasSubstr("  $? (all $?)  "));
}

TEST(SessionText, WhatIsAliveIsShownWithIdPathDepthStateStartDeadlineAndIdleTime) {
  auto session = session_of("a", "first", 0);
  session.state = SessionState::waiting;
  session.path = {"main", "explore"};
  session.depth = 1;
  session.deadline = *session.started_at + std::chrono::hours(1);
  const WallTime now = session.last_event_at + std::chrono::seconds(12);
  const auto local = [](WallTime time) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(WallTime::clock::to_time_t(time)));
  };
  const auto row = [](auto... cells) {
    return fmt::format("{:<4}{:<22}{:<7}{:<9}{:<21}{:<21}{:<6}{}\n", cells...);
  };
  EXPECT_EQ(live_text({session}, now, Style{}),
            row("ID", "PATH", "DEPTH", "STATE", "STARTED", "DEADLINE", "IDLE", "PROMPT") +
                row("a", "main/explore [first]", "1", "waiting", local(*session.started_at),
                    local(*session.deadline), "12s", "look␛[2J around"));
  EXPECT_EQ(to_live_json(session, now), (json::object{{"id", "a"},
                                                      {"tree", "root"},
                                                      {"path", {"main", "explore"}},
                                                      {"label", "first"},
                                                      {"depth", 1},
                                                      {"state", "waiting"},
                                                      {"started_at", to_iso8601(*session.started_at)},
                                                      {"deadline", to_iso8601(*session.deadline)},
                                                      {"idle_ms", 12'000}}));
  session.started_at.reset();
  session.deadline.reset();
  EXPECT_THAT(live_text({session}, now, Style{}), HasSubstr("waiting  -        none      12s"))
      << "in line, with no end";
  EXPECT_TRUE(to_live_json(session, now).at("started_at").is_null());
  EXPECT_TRUE(to_live_json(session, now).at("deadline").is_null());
}

TEST(SessionText, TheDeadlineOfALiveSessionIsTheNearestOfAllAboveIt) {
  const WallTime start{std::chrono::seconds{1'800'000'000}};
  const auto at = [start](int minutes) { return start + std::chrono::minutes(minutes); };
  auto root = session_of("root", "main");
  root.deadline = at(10);
  auto later = session_of("a", "later", 0);
  later.depth = 1;
  later.deadline = at(60);
  auto sooner = session_of("b", "sooner", 1);
  sooner.depth = 1;
  sooner.deadline = at(5);
  auto below = session_of("c", "below", 2);
  below.depth = 2;
  below.parent = SessionId("b");
  const auto shown = with_nearest_deadlines({below, later, sooner, root}, start);  // in any order
  EXPECT_EQ(shown[0].deadline, at(5)) << "it has none of its own";
  EXPECT_EQ(shown[1].deadline, at(10));
  EXPECT_EQ(shown[2].deadline, at(5));
  EXPECT_EQ(shown[3].deadline, at(10));
  root.deadline.reset();
  EXPECT_EQ(with_nearest_deadlines({root, later}, start)[1].deadline, at(60)) << "control";
  EXPECT_FALSE(with_nearest_deadlines({root, later}, start)[0].deadline);
}

TEST(SessionText, ADeadlineAboveThatIsOverCountsForNobodyBelow) {
  const WallTime start{std::chrono::seconds{1'800'000'000}};
  const auto at = [start](int minutes) { return start + std::chrono::minutes(minutes); };
  auto root = session_of("root", "main");
  root.deadline = at(10);
  auto child = session_of("a", "child", 0);
  child.depth = 1;
  child.deadline = at(60);
  auto below = session_of("b", "below", 1);
  below.depth = 2;
  below.parent = SessionId("a");
  for (const auto& [now, nearest] : {std::pair(at(9), at(10)), std::pair(at(10), at(60))}) {
    const auto shown = with_nearest_deadlines({root, child, below}, now);
    EXPECT_EQ(shown[0].deadline, at(10)) << "its own is shown as it is on record";
    EXPECT_EQ(shown[1].deadline, nearest);
    EXPECT_EQ(shown[2].deadline, nearest);
  }
}

TEST(SessionText, AListCountsChildrenAndTokensOfTheWholeTree) {
  const auto root = session_of("root", "main");
  const auto text = list_text({{root, {root, session_of("a", "first", 0)}}}, Style{});
  EXPECT_THAT(text, AllOf(HasSubstr("CHILDREN"), HasSubstr("  1  "), HasSubstr("in=3k out=40"),
                          Not(HasSubstr("\x1b"))));
}

TEST(SessionText, OfOneThatIsLiveItsLabelIsToldUnlessItIsItsAgent) {
  auto root = session_of("root", "main");
  root.path = {"main"};
  EXPECT_THAT(live_text({root}, kNow, Style{}), Not(HasSubstr("[main]")));
  root.label = "look\n\x1b[2J";
  EXPECT_THAT(live_text({root}, kNow, Style{}), HasSubstr("main [look ␛[2J]  "));
}

TEST(SessionText, AListNamesWhoHasNotEnded) {
  auto root = session_of("root", "main");
  const auto only = session_of("only", "first", 0);
  for (const auto* agent : {"main", "command"}) {
    root.agent = agent;
    EXPECT_THAT(list_text({{root, {root, only}}}, Style{}), Not(HasSubstr("only"))) << agent;
  }
  auto task = root;
  task.label = "task";
  EXPECT_THAT(list_text({{task, {task, only}}}, Style{}), HasSubstr("\n  only  ")) << "its id was given out";
  auto at_work = session_of("at_work", "second", 1);
  at_work.state = SessionState::running;
  auto below = session_of("below", "third", 2);
  below.parent = at_work.id;
  below.state = SessionState::waiting;
  const auto text = list_text({{root, {root, session_of("ended", "first", 0), at_work, below}}}, Style{});
  EXPECT_THAT(text, AllOf(HasSubstr("\n  at_work  "), HasSubstr("\n    below  "), Not(HasSubstr("ended  "))));
}

TEST(SessionText, OnANarrowScreenNoRowIsWiderAndNoIdIsCut) {
  auto root = session_of("sess_1794999083123_abcdef", "main");
  root.prompt = std::string(200, 'p');
  auto child = session_of("sess_1794999083124_abcdef", std::string(60, 'l'), 0);
  child.parent = root.id;
  child.state = SessionState::running;
  for (const std::size_t width : {36u, 79u, 120u}) {
    for (const auto& text :
         {list_text({{root, {root, child}}}, Style{}, width), live_text({root, child}, kNow, Style{}, width),
          tree_text(root, {root, child}, kNow, Style{}, {}, width)}) {
      EXPECT_THAT(text, AllOf(HasSubstr(root.id.value), HasSubstr(child.id.value)));
      for (const auto line : lines_of(text)) EXPECT_LE(display_width(line), width) << text;
    }
  }
}

TEST(SessionText, TheGoalOfACommandIsWhatWasTyped) {
  auto session = session_of("root", "delegate");
  session.agent = "command";
  session.prompt =
      R"({"tool":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"x"},{"label":"b","prompt":"y"}]}})";
  EXPECT_EQ(goal_of(session, 100), "[a] x; [b] y");
  session.prompt = R"({"tool":"task","arguments":{"agent":"explore","prompt":"how does it start?"}})";
  EXPECT_EQ(goal_of(session, 100), "[explore] how does it start?");
  session.prompt = "no JSON";
  EXPECT_EQ(goal_of(session, 100), "no JSON");
}

TEST(SessionText, DetailsHideNothingAndMoveNothing) {
  const auto root = session_of("root", "main");
  EXPECT_THAT(details_text(root, {root, session_of("a", "first", 0)}, kNow, "/file"),
              AllOf(HasSubstr("state       completed"), HasSubstr("child       a [first] completed"),
                    HasSubstr("transcript  /file"), HasSubstr("look␛[2J around"), Not(HasSubstr("\x1b"))));
}

std::vector<Event> conversation() {
  std::vector<Event> events(5);
  events[0].fact = InputGiven{Source::parent, "find x"};
  ReplyReceived reply;
  reply.reply.message = {
      .role = Role::assistant, .text = "looking", .calls = {{"c1", "Grep", R"({"pattern":"x"})"}}};
  events[1].fact = reply;
  events[2].fact = NoteTaken{"x is here"};
  events[3].fact = CallFinished{{.call_id = "c1", .content = "a.txt:1:x\x1b"}};
  ReplyReceived last;
  last.reply.message = {.role = Role::assistant, .text = "found it"};
  events[4].fact = last;
  return events;
}

TEST(TranscriptText, TellsWhoSaidWhatInOrder) {
  EXPECT_THAT(transcript_text(session_of("a", "first", 0), conversation()),
              HasSubstr("\n--- parent\nfind x\n\n--- agent\nlooking\n> Grep {\"pattern\":\"x\"}\n"
                        "\n--- result of Grep\na.txt:1:x␛\n\n--- agent\nfound it\n"));
}

TEST(TranscriptText, AsJsonItHasTheFieldsOfASealedTranscript) {
  const auto document = transcript_json(session_of("a", "first", 0), conversation());
  EXPECT_EQ(string_or(document, "outcome", ""), "success");
  EXPECT_EQ(string_or(document, "ended_at", ""), "2027-01-15T08:01:30.000000Z");
  EXPECT_EQ(array_at(document, "messages")->size(), 4U);
}

TEST(TranscriptText, TellsWhatWasSaidBeforeAStop) {
  std::vector<Event> events(2);
  events[0].fact = RequestStopped{};
  events[1].fact = RequestStopped{{}, "half of"};
  const auto messages = messages_of(events);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].role, Role::assistant);
  EXPECT_EQ(messages[0].text, "half of");
}

// As pieces of it were kept, and until the whole is there.
TEST(TranscriptText, TellsWhatWasHeardOfAReplyThatIsNotWhole) {
  const Session session = session_of("a", "first", 0);
  std::vector<Event> events(6);
  events[0].fact = InputGiven{Source::parent, "find x"};
  events[1].fact = ReplyHeard{true, "I be"};
  events[2].fact = ReplyHeard{true, "I look\x1b "};  // asked for again
  events[3].fact = ReplyHeard{false, "for x"};
  events[4].fact = RunEnded{};
  events[5].fact = SessionCreated{};
  EXPECT_THAT(
      transcript_text(session, events),
      testing::EndsWith("\n--- parent\nfind x\n\n--- agent, as far as it was heard\nI look␛ for x\n"));
  const auto document = transcript_json(session, events);
  const auto* messages = array_at(document, "messages");
  ASSERT_EQ(messages->size(), 2U);
  const auto& heard = messages->at(1).as_object();
  EXPECT_EQ(string_or(heard, "role", ""), "assistant");
  EXPECT_EQ(string_or(heard, "content", ""), "I look\x1b for x");
  EXPECT_EQ(bool_at(heard, "is_whole"), false);
  events[5].fact = RequestStopped{};
  EXPECT_EQ(heard_of(events), "I look\x1b for x") << "its run was suspended";
  for (const Fact& over :
       {Fact(ReplyReceived{}), Fact(RequestStopped{{}, "I look for x"}), Fact(RunStarted{})}) {
    events[5].fact = over;
    EXPECT_EQ(heard_of(events), "") << kind_of(over);
  }
}

TEST(TranscriptText, NotesStandAlone) { EXPECT_THAT(notes_of(conversation()), ElementsAre("x is here")); }

}  // namespace
}  // namespace deputy
