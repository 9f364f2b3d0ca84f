// Every failure a child can come to, times every way its parent can answer it: retry, fall back, escalate,
// give up. Told by the sessions, the count of delegations, the statuses, and the places to run: with one for
// all whoever kept his would leave the others waiting for ever, with eight it would be seen to be taken.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

enum class Way { retry, fall_back, escalate, give_up };

struct Trouble {
  std::string name;
  std::function<Act(const Scene&)> worker;
  int failing = 1;
  int fine = 1;
  SessionState state = SessionState::failed;
  Reason reason = Reason::provider_error;
  bool is_cancelled = false;  // by the person, while it works
  int retries = 0;
  std::string says = {};  // what its session tells of the error
};

Act ends_as(ReplyStop stop) { return {.ends_as = stop}; }
SimExchange turned_down_for(std::string seconds) {
  SimExchange answer = too_many_requests(Tongue::anthropic);
  EXPECT_EQ(answer.status, 429);
  for (HttpHeader& header : answer.headers) {
    if (header.name == "retry-after") header.value = seconds;
  }
  return answer;
}
Call completion_failed() {
  return call_of("task_completion", R"({"status":"failed","summary":"it cannot be done","body":"no"})");
}

const std::vector<Trouble>& troubles() {
  static const std::vector<Trouble> all{
      // S0, section 13.
      {.name = "OneChildExhausted",
       .worker = [](const Scene&) { return ends_as(ReplyStop::context_exhausted); },
       .state = SessionState::partial,
       .reason = Reason::context_exhausted},
      {.name = "OneChildInError", .worker = [](const Scene&) { return ends_as(ReplyStop::refused); }},
      {.name = "ProviderDown",
       .worker = [](const Scene&) { return ends_as(ReplyStop::failed); },
       .failing = 2,
       .fine = 0},
      {.name = "AllFail",
       .worker = [](const Scene&) { return ends_as(ReplyStop::failed); },
       .failing = 3,
       .fine = 0},
      {.name = "NoKey",
       .worker = [](const Scene&) { return ends_as(ReplyStop::no_key); },
       .failing = 2,
       .fine = 0,
       .reason = Reason::no_api_key},
      {.name = "Cancelled",
       .worker = [](const Scene&) { return Act{.text = "late", .after = 50s}; },
       .state = SessionState::cancelled,
       .reason = Reason::cancelled_by_user,
       .is_cancelled = true},
      // S3, failure types.
      {.name = "ToolError",
       .worker =
           [](const Scene& scene) {
             if (scene.step == 0) return Act{.calls = {call_of("Read", R"({"file_path":"none.txt"})")}};
             return Act{.calls = {completion_failed()}};
           },
       .reason = Reason::reported},
      {.name = "RateLimited",
       .worker = [](const Scene&) { return Act{.http = {turned_down_for("1"), turned_down_for("3600")}}; },
       .retries = 1,
       .says = "slow down"},
      {.name = "TimeIsUp",
       .worker = [](const Scene&) { return Act{.text = "late", .after = 10min}; },
       .state = SessionState::partial,
       .reason = Reason::timeout},
      {.name = "StepsUsedUp",
       .worker =
           [](const Scene& scene) {
             return Act{.calls = {call_of(
                            "Read", fmt::format(R"({{"file_path":"a.txt","limit":{}}})", scene.step + 1))}};
           },
       .state = SessionState::partial,
       .reason = Reason::max_turns},
      {.name = "OutOfMemory",
       .worker = [](const Scene&) { return Act{.throws = std::make_exception_ptr(std::bad_alloc())}; },
       .reason = Reason::internal},
      {.name = "Crash",
       .worker =
           [](const Scene&) {
             return Act{.throws = std::make_exception_ptr(std::runtime_error("the play says so"))};
           },
       .reason = Reason::internal},
  };
  return all;
}

Call hand_over(std::string_view prompt) {
  return call_of("task", fmt::format(R"({{"agent":"worker","prompt":"{}"}})", prompt));
}

Act lead(const Scene& scene, const Trouble& trouble, Way way) {
  const std::vector<Call> again(static_cast<std::size_t>(trouble.failing), hand_over("do it well"));
  if (scene.step == 0) {
    std::vector<Call> calls(static_cast<std::size_t>(trouble.failing), hand_over("do it badly"));
    calls.insert(calls.end(), static_cast<std::size_t>(trouble.fine), hand_over("do it well"));
    return {.calls = calls};
  }
  if (scene.step > 1) return {.text = "done"};
  switch (way) {
    case Way::retry:
      return {.calls = again};
    case Way::fall_back:
      return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}};
    case Way::escalate:
      return {.calls = {call_of("ask_parent", R"({"question":"it fails: go on without?"})")}};
    case Way::give_up:
      return {.calls = {completion_failed()}};
  }
  return {};
}

// It hands on to the person what its child cannot decide.
Act root(const Scene& scene) {
  if (scene.step == 0)
    return {.calls = {call_of("spawn_subagent", R"({"agent":"lead","task":"have it done"})")}};
  if (scene.is_told("state: question"))
    return {.calls = {call_of("ask_user", R"({"question":"go on without?"})")}};
  if (scene.is_told("without it"))
    return {.calls = {call_of("answer_subagent",
                              fmt::format(R"({{"question_id":"{}","answer":"go on without it"}})",
                                          scene.value_of("question_id: ")))}};
  return {.text = "over"};
}

class AfterAFailure : public testing::TestWithParam<std::tuple<std::size_t, Way>> {
 protected:
  const Trouble trouble = troubles()[std::get<0>(GetParam())];
  const Way way = std::get<1>(GetParam());

  void expect_handled(int places) {
    DialogueWorld world([this](const Scene& scene) {
      if (scene.depth == 0) return root(scene);
      if (scene.depth == 1) return lead(scene, trouble, way);
      return scene.heard.contains("badly") ? trouble.worker(scene) : Act{.text = "fine"};
    });
    world.options.limits.live_children = places;
    world.options.limits.live_sessions = places;
    world.options.attendance = Attendance::person;
    world.options.profiles = {
        Profile{.name = "lead", .tools = {"Read"}, .subagents = {"worker"}, .timeout = Duration::max()},
        Profile{.name = "worker", .tools = {"Read", "Note"}, .max_turns = 2, .timeout = 60s}};
    world.on_question = [](Runtime& runtime, const Question& question) {
      if (question.kind == QuestionKind::to_person)
        runtime.answer(question.id, {AnswerKind::text, "without it"});
    };
    int looks = 0;
    world.on_event = [&](Runtime& runtime, const Event& event) {
      const auto* input = std::get_if<InputGiven>(&event.fact);
      if (trouble.is_cancelled && input && input->text.contains("badly"))
        runtime.cancel(event.run.session, StopReason::user);
      const auto* reply = std::get_if<ReplyReceived>(&event.fact);
      if (!reply || !reply->reply.message.calls.empty()) return;
      if (world.world.memory->sessions.at(event.run.session).depth == 2) return;
      EXPECT_EQ(runtime.places_taken(), 1) << "all below whoever speaks have ended, or wait";
      looks += 1;
    };
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(looks, way == Way::give_up ? 1 : 2) << "the last words of the lead and of the root";
    expect_outcome(world, *report);
  }

  void expect_outcome(const DialogueWorld& world, const Report& report) const {
    const auto workers = [&world](SessionState state, Reason reason) {
      return std::ranges::count_if(world.sessions(), [&](const Session& session) {
        return session.agent == "worker" && session.state == state && session.reason == reason;
      });
    };
    const auto questions = [&world](QuestionKind kind) {
      return std::ranges::count_if(world.facts<QuestionAsked>(),
                                   [kind](const auto& asked) { return asked.question.kind == kind; });
    };
    const int retried = way == Way::retry ? trouble.failing : 0;
    const int children = trouble.failing + trouble.fine + retried;
    EXPECT_EQ(std::ssize(world.sessions()), 2 + children);
    EXPECT_EQ(used_by(world.world.memory->journal).delegations, 1 + children) << "failed ones count too";
    EXPECT_EQ(workers(trouble.state, trouble.reason), trouble.failing);
    EXPECT_EQ(workers(SessionState::completed, Reason::none), trouble.fine + retried);
    EXPECT_EQ(std::ssize(world.facts<Retried>()), trouble.retries);
    for (const Session& session : world.sessions()) {
      if (session.agent == "worker" && session.reason == trouble.reason)
        EXPECT_THAT(session.error, testing::HasSubstr(trouble.says));
    }
    const bool gives_up = way == Way::give_up;
    EXPECT_EQ(world.child("lead").state, gives_up ? SessionState::failed : SessionState::completed);
    EXPECT_EQ(world.child("lead").reason, gives_up ? Reason::reported : Reason::none);
    EXPECT_EQ(report.status, Status::completed) << "a child's failure is no failure of who stands above";
    EXPECT_EQ(questions(QuestionKind::to_parent), way == Way::escalate ? 1 : 0);
    EXPECT_EQ(questions(QuestionKind::to_person), way == Way::escalate ? 1 : 0);
    for (const Session& session : world.sessions())
      EXPECT_EQ(world.world.terminal_records(session.id), 1) << session.label;
    world.expect_sound(trouble.name);
  }
};

TEST_P(AfterAFailure, TheParentCan) {
  for (const int places : {1, 8}) expect_handled(places);
}

std::string name_of_way(Way way) {
  switch (way) {
    case Way::retry:
      return "Retry";
    case Way::fall_back:
      return "FallBack";
    case Way::escalate:
      return "Escalate";
    case Way::give_up:
      return "GiveUp";
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(Failure, AfterAFailure,
                         testing::Combine(testing::Range(std::size_t{0}, troubles().size()),
                                          testing::Values(Way::retry, Way::fall_back, Way::escalate,
                                                          Way::give_up)),
                         [](const auto& test) {
                           return troubles()[std::get<0>(test.param)].name +
                                  name_of_way(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace deputy
