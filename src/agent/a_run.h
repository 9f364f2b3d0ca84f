// For tests: a run that is told one event after the other, and what it comes to.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "agent/next.h"

namespace deputy {

class ARun : public testing::Test {
 protected:
  void apply_fact(Fact fact, int call = -1) {
    Event event;
    event.step = conversation.step;
    event.call = call;
    event.fact = std::move(fact);
    if (call >= 0) event.step -= 1;
    apply(conversation, event);
    events.push_back(std::move(event));
  }
  void reply(ReplyStop stop, std::string text, std::vector<Call> calls = {}) {
    Reply reply;
    reply.stop = stop;
    reply.message = {.role = Role::assistant, .text = std::move(text), .calls = std::move(calls)};
    apply_fact(ReplyReceived{std::move(reply)});
  }
  void says(std::string text) { reply(ReplyStop::finished, std::move(text)); }
  // A step with one call.
  void calls(std::string name, std::string arguments, ToolStatus status, std::string result) {
    reply(ReplyStop::calls, "", {{"1", std::move(name), std::move(arguments)}});
    apply_fact(CallFinished{{"1", status, std::move(result)}}, 0);
  }
  void reads(std::string path, std::string content) {
    calls("Read", R"({"file_path":")" + path + "\"}", ToolStatus::ok, std::move(content));
  }
  void completes(std::string arguments) {
    calls("task_completion", std::move(arguments), ToolStatus::ok, "Reported.");
  }
  Next next(StopReason stop = StopReason::none) const { return decide(conversation, limits, stop); }
  bool asks(StopReason stop = StopReason::none) const { return std::holds_alternative<AskModel>(next(stop)); }
  Finish finish(StopReason stop = StopReason::none) const {
    const Next decided = next(stop);
    const auto* finish = std::get_if<Finish>(&decided);
    EXPECT_TRUE(finish) << "it goes on";
    return finish ? *finish : Finish{Status::failed, Reason::internal, "it goes on"};
  }
  // What the run is told, which it then has heard.
  Reason is_told(StopReason stop = StopReason::none) {
    const Next decided = next(stop);
    const auto* tell = std::get_if<Tell>(&decided);
    if (!tell) return Reason::none;
    apply_fact(InputGiven{Source::runtime, tell->text, tell->about});
    return tell->about;
  }
  Report report() const { return report_of(conversation, session, finish(), {}); }

  Conversation conversation;
  std::vector<Event> events;
  RunLimits limits{.reporting = Reporting::offered, .is_delegated = true};
  Session session{.id = SessionId("sess_1_aaaaaa"), .agent = "general"};
};

inline constexpr auto kGood = R"({"status":"completed","summary":"all done","body":"the whole story",
  "artifacts":[{"path":"a.txt","kind":"file","description":"d"}],"next_steps":["merge it"]})";

}  // namespace deputy
