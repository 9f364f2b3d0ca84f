// The whole runtime with a model behind HTTP, in the tongue of every provider: children work, run out of
// context, are turned down, cut off and left alone, and nothing is lost or done that should not be.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "support/canary.h"
#include "support/hosted_provider.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::string_view kRootTask = "ROOT-TASK";
constexpr std::string_view kChildTask = "CHILD-TASK";

std::int64_t counted(std::string_view body) { return static_cast<std::int64_t>(body.size()) / 4; }

Call read_of(std::string_view file) {
  return {"call_r", "Read", fmt::format(R"({{"file_path":"{}"}})", file)};
}
Call note_of(std::string_view text) { return {"call_n", "Note", fmt::format(R"({{"content":"{}"}})", text)}; }

class HttpModels : public testing::TestWithParam<Tongue> {
 protected:
  HttpModels() {
    world_.script = R"({"v":1,"sessions":[{"match":{},"replies":[{"text":"unused"}]}]})";
    world_.write_file("a.txt", "hello\n");
    std::string long_text;
    for (int i = 0; i < 150; ++i)
      long_text += fmt::format("Line {} says that the quick brown fox jumps.\n", i);
    world_.write_file("long.txt", long_text);
  }

  // The root hands `children` tasks down, then reports; `child_says` is what a child's model says at each
  // step.
  Result<Report> play(int children, std::int64_t window = 200'000, Duration turned_down_for = {}) {
    Life life(world_, {.limits = {}, .model = [&](Loop& loop) {
                         return std::make_unique<HostedProvider>(
                             loop, GetParam(),
                             [this, &loop, children, turned_down_for](const HttpRequest& request) {
                               came_with_key_ = came_with_key_ || has_key(request);
                               if (loop.clock().now().time_since_epoch() < turned_down_for) {
                                 ++turned_down_;
                                 return too_many_requests(GetParam());
                               }
                               return answer(request.body, children);
                             },
                             window, canary_of_all_tests().key());
                       }});
    RootBrief brief = life.brief(std::string(kRootTask));
    brief.model = ModelName(std::string(dialect_of(GetParam())->provider()) + "/test");
    auto report = life.start(brief);
    const auto told = life.events();
    events_.assign(told.begin(), told.end());
    EXPECT_TRUE(came_with_key_) << "that it is in no event shows nothing";
    for (const Event& event : events_) {
      EXPECT_FALSE(canary_of_all_tests().is_in(to_json_text(fact_to_json(event.fact))));
    }
    return report;
  }
  static bool has_key(const HttpRequest& request) {
    return std::ranges::any_of(request.headers, [](const HttpHeader& header) {
      return header.value.contains(canary_of_all_tests().key());
    });
  }

  SimExchange answer(const std::string& body, int children) {
    bodies_.push_back(body);
    if (body.contains(kRootTask)) return spoken(root_says(children), body);
    for (int i = 0; i < 9; ++i) {
      if (!body.contains(fmt::format("{} number {}.", kChildTask, i))) continue;
      const int step = child_steps_[i]++;
      if (step > 0 && i == child_at_fault_) return fault_;
      return spoken(child_says_(step), body);
    }
    ADD_FAILURE() << "neither the root's nor a child's request: " << body;
    return {};
  }
  static SimExchange spoken(Said said, const std::string& body) {
    said.input = counted(body);
    return answer_in(GetParam(), said);
  }

  Said root_says(int children) {
    if (root_step_++ > 0) return {.text = "They are done."};
    json::array tasks;
    for (int i = 0; i < children; ++i) {
      tasks.push_back(json::object{{"label", fmt::format("c{}", i)},
                                   {"prompt", fmt::format("{} number {}.", kChildTask, i)}});
    }
    return {
        .text = "I ask.",
        .calls = {{"call_d", "Delegate", to_json_text(json::object{{"tasks", tasks}, {"concurrency", 4}})}}};
  }

  template <class Fact>
  int count_of(std::string_view tool = "") const {
    int count = 0;
    for (const Event& event : events_) {
      const auto* fact = std::get_if<Fact>(&event.fact);
      if (!fact) continue;
      if constexpr (std::is_same_v<Fact, CallStarted>)
        count += tool.empty() || fact->tool == tool;
      else
        ++count;
    }
    return count;
  }

  SimWorld world_;
  std::function<Said(int)> child_says_;
  int root_step_ = 0;
  std::map<int, int> child_steps_;
  int child_at_fault_ = -1;  // gets this in place of an answer, from its second step on
  SimExchange fault_;
  int turned_down_ = 0;
  bool came_with_key_ = false;
  std::vector<std::string> bodies_;
  std::vector<Event> events_;
};

TEST_P(HttpModels, RunAChildThatUsesTools) {
  child_says_ = [](int step) -> Said {
    if (step == 0) return {.text = "I look.", .calls = {read_of("a.txt"), note_of("I looked")}};
    return {.text = "It says hello."};
  };
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(report->body, "They are done.");
  const Session* child = world_.session_labelled("c0");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::completed);
  EXPECT_EQ(child->result, "It says hello.");
  EXPECT_EQ(count_of<CallStarted>("Note"), 1);
  EXPECT_GT(child->usage.cost_micros.value_or(0), 0);
  // The second request of the child brings what was read, the last of the root what the child found.
  ASSERT_EQ(bodies_.size(), 4u);
  EXPECT_TRUE(bodies_[2].contains("hello")) << bodies_[2];
  EXPECT_TRUE(bodies_[3].contains("It says hello.")) << bodies_[3];
}

// So that a provider finds in its cache what it was sent before: of a sibling up to the task, of a child up
// to what is new.
TEST_P(HttpModels, BeginWithTheBytesThatSiblingsAndFormerStepsBeganWith) {
  child_says_ = [](int step) -> Said {
    if (step < 2) return {.text = "I look.", .calls = {read_of("a.txt")}};
    return {.text = "It says so."};
  };
  ASSERT_TRUE(play(3));
  std::map<std::string, int> beginnings;
  for (int i = 0; i < 3; ++i) {
    const std::string task = fmt::format("{} number {}.", kChildTask, i);
    std::string former;
    for (const std::string& body : bodies_) {
      if (body.contains(kRootTask) || !body.contains(task)) continue;
      const std::size_t told = body.find(task);
      ++beginnings[body.substr(0, told)];
      EXPECT_TRUE(body.starts_with(former)) << body;
      const std::size_t read = body.rfind("hello");
      former = body.substr(0, read == std::string::npos ? told + task.size() : read);
    }
  }
  ASSERT_EQ(beginnings.size(), 1u) << "as many as there are ways to begin";
  EXPECT_EQ(beginnings.begin()->second, 9) << "three requests of each of three";
  EXPECT_GT(beginnings.begin()->first.size(), 2000u) << "what it is and its tools";
}

TEST_P(HttpModels, SayWhatAChildIsInAFewThousandBytes) {
  std::size_t bytes = 0;
  Life life(world_, {.model = [&](Loop& loop) {
              return std::make_unique<HostedProvider>(
                  loop, GetParam(),
                  [&bytes, step = 0](const HttpRequest& request) mutable {
                    if (!request.body.contains(kRootTask)) bytes = request.body.size();
                    if (step++ > 0) return spoken({.text = "done"}, request.body);
                    const Call call{
                        "call_t", "task",
                        fmt::format(R"({{"agent":"general","prompt":"{}"}})", std::string(150, 'x'))};
                    return spoken({.calls = {call}}, request.body);
                  },
                  200'000);
            }});
  RootBrief brief = life.brief(std::string(kRootTask));
  brief.model = ModelName(std::string(dialect_of(GetParam())->provider()) + "/test");
  ASSERT_TRUE(life.start(brief));
  EXPECT_GT(bytes, 5000u);
  EXPECT_LT(bytes, GetParam() == Tongue::anthropic ? 7000u : 7500u);  // others put more round a tool
  RecordProperty("bytes", static_cast<int>(bytes));
}

// A command of nine minutes and a person who takes an hour: no silence of the model's.
TEST_P(HttpModels, TakeNeitherAToolsTimeNorAPersonsForSilence) {
  int asked = 0;
  Life life(world_, {.attendance = Attendance::person, .model = [&](Loop& loop) {
                       return std::make_unique<HostedProvider>(
                           loop, GetParam(),
                           [&asked](const HttpRequest& request) {
                             switch (asked++) {
                               case 0:
                                 return spoken(
                                     {.calls = {{"c1", "Bash", R"({"command":"make","timeout":600000})"}}},
                                     request.body);
                               case 1:
                                 return spoken({.calls = {{"c2", "ask_user", R"({"question":"go on?"})"}}},
                                               request.body);
                               default:
                                 return spoken({.text = "made"}, request.body);
                             }
                           },
                           200'000);
                     }});
  life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{}; }, minutes(9));
  life.runtime().subscribe([&life](const Event& event, const EventOrigin&) {
    const auto* question = std::get_if<QuestionAsked>(&event.fact);
    if (!question) return;
    const bool is_permission = question->question.kind == QuestionKind::permission;
    life.loop().timers().call_at(
        life.loop().clock().now() + minutes(60), [&life, is_permission, id = question->question.id] {
          life.runtime().answer(id, {is_permission ? AnswerKind::approved : AnswerKind::text, "yes"});
        });
  });
  RootBrief brief = life.brief(std::string(kRootTask));
  brief.model = ModelName(std::string(dialect_of(GetParam())->provider()) + "/test");
  const auto report = life.start(brief);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(report->body, "made");
  EXPECT_EQ(asked, 3) << "no request was ended and made again";
  EXPECT_GE(report->duration, minutes(129));
  for (const Event& event : life.events()) EXPECT_FALSE(std::holds_alternative<Retried>(event.fact));
}

TEST_P(HttpModels, EndAChildWithItsNotesWhenItsContextIsFull) {
  child_says_ = [](int step) -> Said {
    if (step == 0) return {.text = "I begin.", .calls = {note_of("the fox jumps on every line")}};
    return {.text = "I read on.", .calls = {read_of("long.txt")}};
  };
  constexpr std::int64_t kWindow = 8192;
  const auto report = play(1, kWindow);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  const Session* child = world_.session_labelled("c0");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::partial);
  EXPECT_EQ(child->reason, Reason::context_exhausted);
  EXPECT_TRUE(child->result.contains("the fox jumps on every line")) << child->result;
  EXPECT_GE(child_steps_[0], 3);
  for (const std::string& body : bodies_) EXPECT_LE(counted(body), kWindow);
  EXPECT_TRUE(bodies_.back().contains("the fox jumps on every line")) << "the root does not hear of it";
}

// What is named as the most that is taken in a minute, by Ollama as by what may stand before it.
SimExchange over_quota(Tongue tongue) {
  SimExchange refused = too_many_requests(tongue);
  switch (tongue) {
    case Tongue::anthropic:
      refused.headers.push_back({"anthropic-ratelimit-input-tokens-limit", "1000"});
      break;
    case Tongue::gemini:
      refused.chunks = {
          {R"({"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute","quotaValue":"1000"}]}]}})"}};
      break;
    default:
      refused.chunks = {
          {R"({"error":{"message":"Rate limit reached on tokens per min (TPM): Limit 1000, Used 900, Requested 900.","code":"rate_limit_exceeded"}})"}};
      break;
  }
  return refused;
}

TEST_P(HttpModels, EndAChildWithItsNotesWhenNoMinuteHasRoomForIt) {
  child_says_ = [](int) -> Said {
    return {.text = "I begin.", .calls = {note_of("the fox jumps on every line"), read_of("long.txt")}};
  };
  child_at_fault_ = 0;
  fault_ = over_quota(GetParam());
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  const Session* child = world_.session_labelled("c0");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::partial);
  EXPECT_EQ(child->reason, Reason::context_exhausted);
  EXPECT_THAT(child->error, HasSubstr("1,000 are taken in a minute"));
  EXPECT_TRUE(child->result.contains("the fox jumps on every line")) << child->result;
  EXPECT_EQ(child_steps_[0], 2) << "it is not asked again";
}

TEST_P(HttpModels, LoseNothingInAStormOfRejections) {
  child_says_ = [](int step) -> Said {
    if (step < 2) return {.text = "I look.", .calls = {read_of("a.txt")}};
    return {.text = "It says hello."};
  };
  const auto report = play(4, 200'000, seconds{90});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  for (int i = 0; i < 4; ++i) {
    const Session* child = world_.session_labelled(fmt::format("c{}", i));
    ASSERT_TRUE(child);
    EXPECT_EQ(child->state, SessionState::completed);
    EXPECT_EQ(child->result, "It says hello.");
    EXPECT_EQ(child_steps_[i], 3);
  }
  EXPECT_GE(turned_down_, 5);
  EXPECT_EQ(count_of<Retried>(), turned_down_);
}

TEST_P(HttpModels, DoNotRunTheCallsOfAReplyThatWasCutOff) {
  child_says_ = [](int) -> Said {
    return {.text = "I note it.", .calls = {note_of("half of a th")}, .is_cut_off = true};
  };
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  const Session* child = world_.session_labelled("c0");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::partial);
  EXPECT_EQ(child->reason, Reason::output_limit);
  EXPECT_EQ(count_of<CallStarted>("Note"), 0);
  EXPECT_EQ(child_steps_[0], 1);
}

TEST_P(HttpModels, GiveEachOfTwoCallsWithOneIdItsOwnResult) {
  child_says_ = [](int step) -> Said {
    if (step < 2) return {.calls = {note_of("this"), note_of("that")}};  // and the ids of the step before
    return {.text = "Both are noted."};
  };
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(world_.session_labelled("c0")->state, SessionState::completed);
  EXPECT_EQ(count_of<CallStarted>("Note"), 4);
  EXPECT_EQ(count_of<NoteTaken>(), 4);
  EXPECT_EQ(count_of<CallFinished>(), 4 + 1);  // and the root's
}

TEST_P(HttpModels, DoNotRunACallThatIsOnlyWritten) {
  const std::string written =
      "<tool_call>{\"name\":\"Note\",\"arguments\":{\"content\":\"x\"}}</tool_call>\n"
      "```json\n{\"tool\":\"Note\",\"content\":\"x\"}\n```";
  child_says_ = [&](int) -> Said { return {.text = written}; };
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(world_.session_labelled("c0")->result, written);
  EXPECT_EQ(count_of<CallStarted>("Note"), 0);
  EXPECT_EQ(child_steps_[0], 1);
}

// How an answer begins whose model thinks first.
std::string thinking_in(Tongue tongue) {
  switch (tongue) {
    case Tongue::anthropic:
      return "event: message_start\ndata: "
             R"({"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":100,"output_tokens":1}}})"
             "\n\nevent: content_block_start\ndata: "
             R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})"
             "\n\nevent: content_block_delta\ndata: "
             R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me see"}})"
             "\n\n";
    case Tongue::openai_responses:
      return "event: response.reasoning_summary_text.delta\ndata: "
             R"({"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Let me see"})"
             "\n\n";
    case Tongue::openai_chat:
    case Tongue::compatible:
      return R"(data: {"choices":[{"index":0,"delta":{"reasoning_content":"Let me see"}}]})"
             "\n\n";
    case Tongue::gemini:
      return R"(data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Let me see","thought":true}]}}]})"
             "\n\n";
    case Tongue::ollama:
      return R"({"message":{"role":"assistant","content":"","thinking":"Let me see"},"done":false})"
             "\n";
  }
  return {};
}

// Nobody knows what it came to: providers count what nobody heard, and say so only at the end.
TEST_P(HttpModels, CountARequestThatIsStoppedInItsMiddleWithAllThatItMayHaveComeTo) {
  SimExchange calling = answer_in(GetParam(), {.calls = {note_of("half of a thought")}});
  calling.fault = SimFault::silence;
  calling.fault_after = calling.chunks[0].bytes.find("half of a") + 9;
  SimExchange thinking = calling;
  thinking.chunks = {{thinking_in(GetParam())}};
  thinking.fault_after = thinking.chunks[0].bytes.size();
  for (const SimExchange& begun : {thinking, calling}) {
    SimWorld world;
    world.script = world_.script;
    std::int64_t input = 0;
    Life life(world, {.limits = {.cost_micros = 1'000'000}, .model = [&](Loop& loop) {
                        return std::make_unique<HostedProvider>(
                            loop, GetParam(),
                            [&](const HttpRequest& request) {
                              input = counted(request.body);
                              return begun;
                            },
                            200'000);
                      }});
    RootBrief brief = life.brief("go");
    brief.model = ModelName(std::string(dialect_of(GetParam())->provider()) + "/test");
    life.loop().timers().call_at(life.loop().clock().now() + seconds{30},
                                 [&life] { life.runtime().cancel(StopReason::user); });
    ASSERT_TRUE(life.start(brief));
    std::optional<BudgetReserved> reserved;
    std::optional<Usage> stopped;
    for (const Event& event : life.events()) {
      if (const auto* fact = std::get_if<BudgetReserved>(&event.fact)) reserved = *fact;
      if (const auto* fact = std::get_if<RequestStopped>(&event.fact)) stopped = fact->usage;
    }
    ASSERT_TRUE(reserved && stopped && stopped->cost_micros);
    // At 1 for the input and 5 for the output.
    const std::int64_t output = (reserved->cost_micros - reserved->tokens) / 4;
    EXPECT_GE(output, 1024);
    EXPECT_GE(*stopped->cost_micros, std::min<std::int64_t>(input, 100) + 5 * output);
    EXPECT_LE(*stopped->cost_micros, reserved->cost_micros);
  }
}

TEST_P(HttpModels, KeepWhatAChildSaidWhenItsHistoryIsRejected) {
  child_says_ = [](int) -> Said {
    return {.text = "I look at \u2028 and \x01 and \xff.", .calls = {note_of("the note stays")}};
  };
  child_at_fault_ = 0;
  fault_ = {.status = 400, .chunks = {{R"({"error":{"message":"messages.1: orphan tool_use"}})"}}};
  const auto report = play(1);
  ASSERT_TRUE(report) << report.error().message;
  const Session* child = world_.session_labelled("c0");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->state, SessionState::failed);
  EXPECT_EQ(child->reason, Reason::provider_error);
  // Once more only where the turn came in a form of its own, and can be written in another.
  const bool can_differ = GetParam() == Tongue::openai_responses || GetParam() == Tongue::gemini;
  EXPECT_EQ(child_steps_[0], can_differ ? 3 : 2);
  EXPECT_THAT(child->result, HasSubstr("the note stays"));
  const auto transcript = parse_json(world_.transcript("c0"));
  ASSERT_TRUE(transcript) << transcript.error().message;
  EXPECT_THAT(to_json_text(*transcript), HasSubstr("I look at"));
}

TEST_P(HttpModels, EndOneOfEightThatHearsNothingMoreWithItsNotesAndKeepTheSeven) {
  child_says_ = [](int step) -> Said {
    if (step == 0) return {.text = "I begin.", .calls = {note_of("half of it is done")}};
    return {.text = "It says hello."};
  };
  child_at_fault_ = 3;
  fault_ = {.fault = SimFault::silence};
  const auto report = play(8);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  for (int i = 0; i < 8; ++i) {
    const Session* child = world_.session_labelled(fmt::format("c{}", i));
    ASSERT_TRUE(child);
    EXPECT_EQ(child->state, i == 3 ? SessionState::partial : SessionState::completed) << i;
  }
  const Session* silent = world_.session_labelled("c3");
  EXPECT_EQ(silent->reason, Reason::stalled);
  EXPECT_THAT(silent->result, HasSubstr("half of it is done"));
  EXPECT_THAT(bodies_.back(), HasSubstr("half of it is done")) << "the root does not hear of it";
  EXPECT_THAT(bodies_.back(), HasSubstr("7/8"));
  EXPECT_LE(events_.back().at - events_.front().at, minutes{7});
}

INSTANTIATE_TEST_SUITE_P(Http, HttpModels, testing::ValuesIn(kTongues), [](const auto& test) {
  std::string name(dialect_of(test.param)->provider());
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace deputy
