#include "app/tree_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using ::testing::HasSubstr;

Session session_of(const std::string& id, const std::string& agent, SessionState state) {
  Session session;
  session.id = SessionId(id);
  session.tree = SessionId("root");
  session.agent = agent;
  session.state = state;
  session.usage = {.input = 10, .output = 1, .cost_micros = 0};
  if (id != "root") session.parent = SessionId("root");
  return session;
}

Event event_of(Fact fact) {
  Event event;
  event.fact = std::move(fact);
  return event;
}

// A batch of as many tasks as are given, each ended so.
TreeEnd batch_of(const std::vector<SessionState>& children, const std::string& layout = "markdown") {
  TreeEnd end;
  end.root = SessionId("root");
  Report report;
  report.session = end.root;
  report.body = "the batch";
  end.report = report;
  end.sessions.push_back(session_of("root", "command", SessionState::completed));
  json::array tasks;
  for (std::size_t i = 0; i < children.size(); ++i) {
    end.sessions.push_back(session_of(fmt::format("child{}", i), "reader", children[i]));
    tasks.emplace_back(json::object{{"label", "a"}, {"prompt", "p"}});
  }
  end.sessions.front().prompt = to_json_text(
      json::object{{"tool", "Delegate"}, {"arguments", json::object{{"tasks", tasks}, {"return", layout}}}});
  end.root_events.push_back(event_of(CallStarted{"Delegate", ""}));
  end.root_events.push_back(
      event_of(CallFinished{{.content = layout == "json" ? R"({"total":1})" : "the batch"}}));
  return end;
}

TEST(TreeResult, ABatchIsCountedByItsChildren) {
  using enum SessionState;
  EXPECT_EQ(result_of(batch_of({completed, completed})).status, ExitStatus::completed);
  EXPECT_EQ(result_of(batch_of({completed, failed})).status, ExitStatus::partial);
  EXPECT_EQ(result_of(batch_of({blocked, failed})).status, ExitStatus::partial);
  EXPECT_EQ(result_of(batch_of({failed, cancelled})).status, ExitStatus::failed);
}

TEST(TreeResult, AChildThatNeverCameToBeCountsAsFailed) {
  auto end = batch_of({SessionState::completed, SessionState::completed});
  end.sessions.pop_back();
  EXPECT_EQ(result_of(end).status, ExitStatus::partial);
}

TEST(TreeResult, ACancelledBatchKeepsWhatItsChildrenFound) {
  auto end = batch_of({SessionState::completed, SessionState::cancelled});
  end.report->status = Status::cancelled;
  end.report->body = "";
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::cancelled);
  EXPECT_EQ(result.text, "the batch");
}

TEST(TreeResult, WhatWasLeftSaysByWhichSignalWhereItWasOne) {
  TreeEnd end{.report = std::unexpected(Error::cancelled()), .root = SessionId("root")};
  EXPECT_EQ(result_of(end).problem, "left unfinished");
  end.left_by = "SIGHUP";
  EXPECT_EQ(result_of(end).problem, "left unfinished: ended by SIGHUP");
  EXPECT_EQ(result_of(end).status, ExitStatus::cancelled);
  EXPECT_EQ(result_of(end).advice, "to go on: `deputy resume root`");
}

// One whose model had asked for children twice, and was told of the first time only.
TreeEnd run_stopped_at_children() {
  TreeEnd end;
  end.root = SessionId("root");
  Report report;
  report.session = end.root;
  report.status = Status::cancelled;
  report.reason = Reason::cancelled_by_user;
  report.body = "I ask two.";
  end.report = report;
  end.sessions.push_back(session_of("root", "main", SessionState::cancelled));
  const auto add = [&end](int call, Fact fact) {
    end.root_events.push_back(event_of(std::move(fact)));
    end.root_events.back().call = call;
  };
  for (const std::string_view found : {"told before", "found last"}) {
    add(-1, ReplyReceived{});
    add(0, CallStarted{"Read", ""});
    add(1, CallStarted{"Delegate", ""});
    add(0, CallFinished{{.content = "a file"}});
    add(1, CallFinished{{.content = std::string(found)}});
  }
  return end;
}

TEST(TreeResult, ARunThatWasStoppedEndsWithWhatItsChildrenFoundLast) {
  auto end = run_stopped_at_children();
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::cancelled);
  EXPECT_EQ(result.text, "I ask two.\n\nfound last");
  end.report->body = "";
  EXPECT_EQ(result_of(end).text, "found last");
  end.report->status = Status::partial;
  EXPECT_EQ(result_of(end).text, "") << "its own words, wherever it could say some";
}

TEST(TreeResult, ARunThatWasStoppedSaysNothingOfAChildThatOnlyItsModelCouldHaveGoneOnWith) {
  auto end = run_stopped_at_children();
  const auto add = [&end](Fact fact) {
    end.root_events.push_back(event_of(std::move(fact)));
    end.root_events.back().call = 2;
  };
  add(CallStarted{"task", ""});
  add(Detached{SessionId("child"), 1, "q1"});
  add(CallFinished{{.content = "The subagent waits. Answer with answer_subagent."}});
  EXPECT_EQ(result_of(end).text, "I ask two.\n\nfound last");
}

TEST(TreeResult, ACommandWhoseCallNeverBeganWasRefused) {
  auto end = batch_of({});
  end.report->status = Status::failed;
  end.root_events = {
      event_of(CallFinished{{.status = ToolStatus::error, .content = "Not permitted: by a rule."}})};
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::refused);
  EXPECT_THAT(result.problem, HasSubstr("Not permitted"));
}

TEST(TreeResult, ARefusalSaysWhatToDoAboutItAndOfNoChildThatDidNotComplete) {
  const auto refused_by = [](std::string words, std::vector<Question> unapproved) {
    auto end = batch_of({});
    end.report->status = Status::failed;
    end.report->errors = {{.type = "denied", .code = "CHILDREN", .message = "1 of 1 did not complete"}};
    end.root_events = {event_of(CallFinished{{.status = ToolStatus::error, .content = std::move(words)}})};
    end.unapproved = std::move(unapproved);
    return to_json(result_of(end));
  };
  const auto denied = refused_by("Not permitted: denied by rule Delegate.", {});
  EXPECT_THAT(string_or(denied.at("error").as_object(), "hint", ""), HasSubstr("--deny"));
  EXPECT_FALSE(denied.contains("errors"));
  const auto unapproved =
      refused_by("Not permitted: Delegate needs approval, and nobody is there to give it.",
                 {{.text = "may I?", .suggestions = {"Delegate"}}});
  EXPECT_THAT(string_or(unapproved.at("error").as_object(), "hint", ""), HasSubstr("--allow Delegate"));
  EXPECT_FALSE(unapproved.contains("unapproved_calls")) << "it is said once";
  const auto limited = refused_by("budget exhausted: no step is left.", {});
  EXPECT_THAT(string_or(limited.at("error").as_object(), "hint", ""), HasSubstr("raise the limit"));
}

TEST(TreeResult, ARefusalHasTheCodeOfOneBeforeTheStart) {
  const auto code_of = [](std::string problem) {
    const TreeResult refused{.status = ExitStatus::refused, .problem = std::move(problem)};
    return to_json(refused).at("error").at("code");
  };
  EXPECT_EQ(code_of("budget exhausted: 1 of 1 delegations"), "exhausted");
  EXPECT_EQ(code_of("depth exceeded: a child here would be at depth 2"), "exhausted");
  EXPECT_EQ(code_of("Not permitted: by a rule."), "denied");
}

// One task whose child has ended so, with that report.
TreeEnd task_of(SessionState state, Report report) {
  TreeEnd end = batch_of({state});
  end.sessions.front().prompt = R"({"tool":"task","arguments":{"agent":"explore","prompt":"p"}})";
  report.session = SessionId("child0");
  end.sessions.back().reason = report.reason;
  end.children = {std::move(report)};
  return end;
}

Report blocked_by(const std::string& what) {
  Report report;
  report.status = Status::blocked;
  report.reason = Reason::reported;
  report.errors = {
      {.type = "access", .code = "PROTECTED", .message = what, .recommendation = "ask its owner"}};
  return report;
}

TEST(TreeResult, AsJsonABlockedChildNamesItsBlockerAndIsBlocked) {
  const auto json = to_json(result_of(task_of(SessionState::blocked, blocked_by("the branch is protected"))));
  EXPECT_EQ(string_or(json, "status", ""), "blocked");
  EXPECT_EQ(string_or(json, "reason", ""), "reported");
  const auto* errors = array_at(json, "errors");
  ASSERT_TRUE(errors && errors->size() == 1);
  EXPECT_EQ(errors->front().at("message"), "the branch is protected");
  EXPECT_EQ(errors->front().at("session_id"), "child0");
  EXPECT_EQ(json.at("error").at("code"), "reported");
  EXPECT_EQ(json.at("error").at("hint"), "ask its owner");
}

TEST(TreeResult, AsJsonABatchHasTheErrorsOfAllItsChildren) {
  auto end = batch_of({SessionState::completed, SessionState::blocked});
  Report blocked = blocked_by("the branch is protected");
  blocked.session = SessionId("child1");
  end.children = {blocked};
  const auto json = to_json(result_of(end));
  EXPECT_EQ(string_or(json, "status", ""), "partial") << "a batch counts blocked as partial";
  const auto* errors = array_at(json, "errors");
  ASSERT_TRUE(errors && errors->size() == 1);
  EXPECT_EQ(errors->front().at("session_id"), "child1");
}

// Its child has been asked to go on for a second run.
TreeEnd resumed_task(int run_of_child) {
  Report report;
  report.status = Status::partial;
  TreeEnd end = task_of(SessionState::partial, report);
  end.sessions.back().run = run_of_child;
  end.root_events = {
      event_of(RunStarted{}),
      event_of(
          InputGiven{Source::person,
                     R"({"tool":"task","arguments":{"agent":"explore","prompt":"p","resume":"child0"}})"}),
      event_of(CallStarted{"task", ""}), event_of(Attached{SessionId("child0"), 2}),
      event_of(CallFinished{{.status = ToolStatus::error, .content = "Not resumed: no step is left."}})};
  return end;
}

TEST(TreeResult, AResumeThatWasNotLetIsRefusedAndNoResult) {
  const auto refused = result_of(resumed_task(1));
  EXPECT_EQ(refused.status, ExitStatus::refused);
  EXPECT_EQ(refused.text, "");
  EXPECT_EQ(refused.problem, "Not resumed: no step is left.");
  const auto failed = result_of(resumed_task(2));
  EXPECT_EQ(failed.status, ExitStatus::partial) << "it went on, and has ended so";
}

TEST(TreeResult, AnyOtherRunFollowsItsRoot) {
  TreeEnd end;
  end.root = SessionId("root");
  end.sessions = {session_of("root", "main", SessionState::partial),
                  session_of("child", "reader", SessionState::failed)};
  Report report;
  report.status = Status::partial;
  report.reason = Reason::output_limit;
  report.body = "half";
  report.errors.push_back({.message = "cut off", .recoverable = true, .recommendation = "ask for less"});
  end.report = report;
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::partial);
  EXPECT_EQ(result.text, "half");
  EXPECT_EQ(result.problem, "partial: cut off");
  EXPECT_EQ(result.advice, "ask for less");
  EXPECT_EQ(to_json(result).at("errors").at(0).at("message"), "cut off");
  EXPECT_FALSE(to_json(result).contains("files")) << "there are none";
  EXPECT_EQ(result.usage.input, 20);
}

TEST(TreeResult, WhatWasLeftCanBeResumed) {
  TreeEnd end;
  end.root = SessionId("root");
  end.report = std::unexpected(Error::cancelled());
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::cancelled);
  EXPECT_EQ(result.advice, "to go on: `deputy resume root`");
  const auto document = to_json(result);
  EXPECT_EQ(string_or(*object_at(document, "error"), "hint", ""), result.advice);
}

TEST(TreeResult, AFailureOfTheStoreIsAFailure) {
  TreeEnd end;
  end.report = fail(ErrorCode::exhausted, "the disk is full", "free some space");
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::failed);
  EXPECT_EQ(result.problem, "the disk is full");
  EXPECT_EQ(result.advice, "free some space");
}

TEST(TreeResult, AFullDiskIsGoneOnAfterOnlyWhereSomethingWasKept) {
  TreeEnd end;
  end.report = fail(ErrorCode::exhausted, "the disk is full", "free some space");
  EXPECT_EQ(result_of(end).advice, "free some space") << "it was not recorded";
  end.root = SessionId("root");
  end.sessions = {session_of("root", "main", SessionState::interrupted)};
  EXPECT_EQ(result_of(end).advice, "free some space, then run `deputy resume root`");
  end.sessions.front().state = SessionState::completed;
  EXPECT_EQ(result_of(end).advice, "free some space") << "nothing is left to do";
}

Question asking_for(const std::string& rule) { return {.text = "may I?", .suggestions = {rule}}; }

TEST(TreeResult, WhatNobodyApprovedIsCountedAndTheWayToAllowItNamed) {
  EXPECT_FALSE(told_of_unapproved({}));
  EXPECT_FALSE(to_json(result_of(batch_of({SessionState::completed}))).contains("unapproved_calls"));
  auto end = batch_of({SessionState::completed});
  end.unapproved = {asking_for("Write(a.txt)")};
  EXPECT_EQ(told_of_unapproved(end.unapproved)->message,
            "1 call was not made: nobody was there to approve it");
  end.unapproved.push_back(asking_for("Write(a.txt)"));
  const auto told = told_of_unapproved(end.unapproved);
  EXPECT_EQ(told->message, "2 calls were not made: nobody was there to approve them");
  EXPECT_THAT(told->advice,
              ::testing::AllOf(HasSubstr("--yes"), ::testing::EndsWith(": --allow 'Write(a.txt)'")));
  const auto result = result_of(end);
  EXPECT_EQ(result.status, ExitStatus::completed) << "the run follows its root";
  const auto document = to_json(result);
  EXPECT_EQ(document.at("unapproved_calls").to_number<int>(), 2);
  EXPECT_EQ(string_or(*object_at(document, "unapproved"), "hint", ""), told->advice);
}

TEST(TreeResult, AtMostThreeRulesAreNamed) {
  const std::vector<Question> four{asking_for("A"), asking_for("B"), asking_for("C"), asking_for("D")};
  const auto told = told_of_unapproved(four);
  EXPECT_THAT(told->message, HasSubstr("4 calls"));
  EXPECT_THAT(told->advice, ::testing::AllOf(HasSubstr("--allow C"), ::testing::Not(HasSubstr("--allow D"))));
}

TEST(TreeResult, AsJsonABatchStandsAsAnObjectOrAsText) {
  auto json = to_json(result_of(batch_of({SessionState::completed}, "json")));
  EXPECT_EQ(to_json_text(json), R"({"status":"completed","result":{"total":1},"session_id":"root",)"
                                R"("usage":{"input":20,"output":2,"cost_micros":0},"duration_ms":0})");
  json = to_json(result_of(batch_of({SessionState::completed})));
  EXPECT_EQ(string_or(json, "result", ""), "the batch");
}

}  // namespace
}  // namespace deputy
