#include "app/past_events.h"

#include <gmock/gmock.h>

#include "app/progress_view.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;

Event event_of(const std::string& session, Fact fact) {
  Event event;
  event.tree = SessionId("root");
  event.run.session = SessionId(session);
  event.fact = std::move(fact);
  return event;
}

Event created(const std::string& id, const std::string& agent, const std::string& parent = "") {
  Session session;
  session.id = SessionId(id);
  session.label = id;
  session.agent = agent;
  if (!parent.empty()) session.parent = SessionId(parent);
  return event_of(id, SessionCreated{session});
}

Event replied(const std::string& session, std::int64_t input) {
  ReplyReceived fact;
  fact.reply.usage = {.input = input, .output = 7};
  return event_of(session, std::move(fact));
}

Event ended(const std::string& session) {
  RunEnded fact;
  fact.report->status = Status::completed;
  return event_of(session, std::move(fact));
}

std::vector<std::string> frame_after(std::vector<Event> journal) {
  ProgressView view{Style{}};
  for (const auto& [event, origin] : past_events(std::move(journal))) view.apply(event, origin);
  std::vector<std::string> rows;
  for (const Line& line : view.frame({})) rows.push_back(plain_text(line));
  return rows;
}

TEST(PastEvents, MakeATreeWholeThatIsGoneOnWith) {
  std::vector<Event> journal{created("root", "command"),
                             event_of("root", RunStarted{}),
                             created("done", "reader", "root"),
                             event_of("done", RunStarted{0, 2}),
                             created("busy", "reader", "root"),
                             event_of("busy", RunStarted{1, 2}),
                             replied("done", 10),
                             ended("done"),
                             replied("busy", 20),
                             event_of("busy", CallStarted{"Read", "x"}),
                             created("below", "reader", "busy"),
                             event_of("below", RunStarted{0, 1})};
  EXPECT_THAT(frame_after(std::move(journal)),
              ElementsAre("Delegate [2 subagents]",               //
                          "  [done]   ✓ complete (in=10 out=7)",  //
                          "  [busy]   → Read x (in=20 out=7)",    //
                          "    [below]  → started (in=0 out=0)"));
}

TEST(PastEvents, TellThatACallHasEndedAndWhoGoesOnBesideIt) {
  std::vector<Event> journal{created("root", "main"),
                             event_of("root", RunStarted{}),
                             event_of("root", CallStarted{"task", "look"}),
                             created("a", "reader", "root"),
                             event_of("a", RunStarted{0, 1}),
                             event_of("root", Detached{SessionId("a")}),
                             event_of("root", CallFinished{})};
  EXPECT_THAT(frame_after(std::move(journal)), ElementsAre("[root]  → thinking (in=0 out=0)",  //
                                                           "  [a]     → background: started (in=0 out=0)"));
}

TEST(PastEvents, AreWithoutWhatThePersonWasAsked) {
  std::vector<Event> journal{created("root", "main")};
  for (const auto kind : {QuestionKind::permission, QuestionKind::to_person})
    journal.push_back(event_of("root", QuestionAsked{{.id = "q", .kind = kind, .text = "?"}}));
  journal.push_back(event_of("root", QuestionAnswered{"q", {AnswerKind::text, "green"}}));
  journal.push_back(
      event_of("root", QuestionAsked{{.id = "p", .kind = QuestionKind::to_parent, .text = "?"}}));
  const auto past = past_events(std::move(journal));
  ASSERT_EQ(past.size(), 2U);
  const auto* asked = std::get_if<QuestionAsked>(&past.back().event.fact);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->question.kind, QuestionKind::to_parent);
  EXPECT_EQ(past.back().origin.agent, "main");
}

}  // namespace
}  // namespace deputy
