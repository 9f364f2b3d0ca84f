// What goes wrong with children: each row of the failure table, each type of failure, and what the parent is
// told of it. Told by the sessions, the count of delegations and the statuses; what a parent can make of it
// is in failure_ways_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <new>
#include <stdexcept>

#include "support/dialogue_world.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kBroken = R"({"error":{"kind":"failed","message":"the server is down"}})";

class ThrowingModel final : public Provider {
 public:
  explicit ThrowingModel(std::exception_ptr error) : error_(std::move(error)) {}
  std::string_view name() const override { return "broken"; }
  std::string encode(const Message&) const override { return {}; }
  Task<Reply> ask(Request, DeltaSink, StopToken) override {
    std::rethrow_exception(error_);
    co_return Reply{};
  }
  std::int64_t window(const ModelName&) const override { return 1000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

 private:
  std::exception_ptr error_;
};

class Failure : public testing::Test {
 protected:
  // A parent with these replies, and children by label.
  void script(std::string_view parent, const std::vector<std::pair<std::string, std::string>>& children) {
    std::vector<std::string> sessions{fmt::format(R"({{"match":{{"depth":0}},"replies":[{}]}})", parent)};
    for (const auto& [label, replies] : children)
      sessions.push_back(fmt::format(R"({{"match":{{"label":"{}"}},"replies":[{}]}})", label, replies));
    world_.script = fmt::format(R"({{"v":1,"sessions":[{}]}})", fmt::join(sessions, ","));
    world_.write_file("a.txt", "alpha\n");
  }
  static std::string delegates(const std::vector<std::string>& labels, std::string_view model = "") {
    std::vector<std::string> tasks;
    for (const auto& label : labels) {
      tasks.push_back(fmt::format(R"({{"label":"{}","prompt":"p"{}}})", label,
                                  model.empty() ? "" : fmt::format(R"(,"model":"{}")", model)));
    }
    return fmt::format(R"({{"calls":[{{"name":"Delegate","arguments":{{"tasks":[{}]}}}}]}})",
                       fmt::join(tasks, ","));
  }
  // One slot for all: whoever kept his would leave the others waiting for ever.
  Report go(Life::Options options = {}) {
    options.limits.live_children = 1;
    options.limits.live_sessions = 1;
    Life life(world_, std::move(options));
    const auto report = life.start(life.brief("go"));
    EXPECT_TRUE(report) << report.error().message;
    for (const auto& session : world_.sessions()) {
      EXPECT_TRUE(is_terminal(session.state)) << session.label;
      EXPECT_EQ(world_.terminal_records(session.id), 1) << session.label;
      EXPECT_FALSE(world_.transcript(session.label).empty()) << session.label;
    }
    return report.value_or(Report{});
  }
  std::string told() const {
    std::string all;
    for (const auto& event : world_.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && world_.memory->sessions.at(event.run.session).depth == 0)
        all += finished->result.content;
    }
    return all;
  }
  std::int64_t delegations() const { return used_by(world_.memory->journal).delegations; }
  SessionState state(std::string_view label) const {
    const Session* session = world_.session_labelled(label);
    return session ? session->state : SessionState::pending;
  }
  Reason reason(std::string_view label) const { return world_.session_labelled(label)->reason; }

  SimWorld world_;
};

TEST_F(Failure, OneChildWithAFullContextIsPartialFromItsNotesAndTheOthersGoOn) {
  script(
      delegates({"full", "good"}) + R"(,{"text":"x"})",
      {{"full",
        R"({"calls":[{"name":"Note","arguments":{"content":"a finding"}}]},{"error":{"kind":"context_exhausted","message":"too long"}})"},
       {"good", R"({"text":"fine"})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_EQ(state("full"), SessionState::partial);
  EXPECT_EQ(reason("full"), Reason::context_exhausted);
  EXPECT_THAT(world_.session_labelled("full")->result, HasSubstr("a finding"));
  EXPECT_EQ(state("good"), SessionState::completed);
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, OneChildInErrorIsMarkedSoAndTheOthersGoOn) {
  script(delegates({"bad", "good"}) + R"(,{"text":"x"})",
         {{"bad", std::string(kBroken)}, {"good", R"({"text":"fine"})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_EQ(state("bad"), SessionState::failed);
  EXPECT_EQ(reason("bad"), Reason::provider_error);
  EXPECT_EQ(state("good"), SessionState::completed);
  EXPECT_THAT(told(), AllOf(HasSubstr("1/2"), HasSubstr("### [bad] ✗ error"), HasSubstr("### [good] ✓")));
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, AProviderThatIsDownIsAnErrorOfEachTaskItAffects) {
  script(delegates({"a", "b"}) + R"(,{"text":"x"})",
         {{"a", std::string(kBroken)}, {"b", std::string(kBroken)}});
  EXPECT_EQ(go().status, Status::completed) << "the parent can still answer";
  EXPECT_EQ(state("a"), SessionState::failed);
  EXPECT_EQ(state("b"), SessionState::failed);
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, AllFailGivesTheParentAStructuredResult) {
  script(delegates({"a", "b", "c"}) + R"(,{"text":"x"})",
         {{"a", std::string(kBroken)}, {"b", std::string(kBroken)}, {"c", std::string(kBroken)}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_THAT(told(), AllOf(HasSubstr("## Subagents complete: 0/3"), HasSubstr("### [a] ✗ error"),
                            HasSubstr("### [c] ✗ error"), HasSubstr("the server is down")));
  EXPECT_EQ(world_.sessions().size(), 4u);
  EXPECT_EQ(delegations(), 3);
}

TEST_F(Failure, ABatchOfThePersonsWhoseTasksAllFailedHasFailed) {
  script(R"({"text":"unused"})", {{"a", std::string(kBroken)}, {"b", std::string(kBroken)}});
  Life life(world_, {});
  RootBrief root = life.brief(
      R"({"tool":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"}]}})");
  root.agent = "command";
  root.rules = Rules({{Decision::allow, "Delegate", ""}});
  const auto report = life.start(std::move(root));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::failed);
  EXPECT_EQ(report->reason, Reason::provider_error);
  EXPECT_EQ(world_.sessions().front().state, SessionState::failed);
  EXPECT_THAT(report->body, HasSubstr("0/2"));
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, NoKeyIsAToolErrorThatNamesTheProvider) {
  script(
      delegates({"a", "b"}) + R"(,{"text":"x"})",
      {{"a", R"({"error":{"kind":"no_key","message":"no API key for provider acme: set ACME_API_KEY"}})"},
       {"b", R"({"error":{"kind":"no_key","message":"no API key for provider acme: set ACME_API_KEY"}})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_THAT(told(), HasSubstr("Cannot spawn subagents: no API key for provider acme"));
  EXPECT_EQ(reason("a"), Reason::no_api_key);
  EXPECT_EQ(state("b"), SessionState::failed);
  EXPECT_EQ(world_.sessions().size(), 3u);
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, ACancelByThePersonCancelsAllAndKeepsTheTranscripts) {
  script(
      delegates({"a", "b"}) + R"(,{"text":"x"})",
      {{"a",
        R"({"calls":[{"name":"Note","arguments":{"content":"half"}}]},{"text":"late","first_byte_ms":60000})"},
       {"b", R"({"text":"late","first_byte_ms":60000})"}});
  Life life(world_, {});
  life.runtime().subscribe([&life](const Event& event, const EventOrigin& origin) {
    if (origin.label == "a" && std::holds_alternative<NoteTaken>(event.fact))
      life.runtime().cancel(StopReason::user);
  });
  const auto report = life.start(life.brief("go"));
  ASSERT_TRUE(report) << report.error().message;
  for (const auto& session : world_.sessions()) {
    EXPECT_EQ(session.state, SessionState::cancelled) << session.label;
    EXPECT_EQ(session.reason, Reason::cancelled_by_user) << session.label;
    EXPECT_FALSE(world_.transcript(session.label).empty()) << session.label;
  }
  EXPECT_THAT(world_.session_labelled("a")->result, HasSubstr("half"));
  EXPECT_EQ(world_.sessions().size(), 3u);
  EXPECT_EQ(delegations(), 2);
}

// The types of failure.

TEST_F(Failure, AToolThatFailsIsToldToTheChildAndIsNotItsEnd) {
  script(
      delegates({"a"}) + R"(,{"text":"x"})",
      {{"a",
        R"({"calls":[{"name":"Read","arguments":{"file_path":"none.txt"}}]},{"text":"it is not there"})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_EQ(state("a"), SessionState::completed);
  EXPECT_EQ(world_.session_labelled("a")->steps, 2);
  EXPECT_EQ(delegations(), 1);
}

TEST_F(Failure, AChildWhoseTimeIsUpIsPartial) {
  script(
      R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p","timeout":60}}]},{"text":"x"})",
      {{"explore", R"({"text":"late","first_byte_ms":600000},{"text":"late","first_byte_ms":600000})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_EQ(state("explore"), SessionState::partial);
  EXPECT_EQ(reason("explore"), Reason::timeout);
  EXPECT_EQ(delegations(), 1);
}

TEST_F(Failure, AChildThatUsesUpItsStepsIsPartial) {
  const std::string again = R"({"calls":[{"name":"Glob","arguments":{"pattern":"*"}}]},)";
  script(
      R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p","max_turns":2}}]},{"text":"x"})",
      {{"explore", again + again + R"({"text":"over"},{"text":"over"})"}});
  EXPECT_EQ(go().status, Status::completed);
  EXPECT_EQ(state("explore"), SessionState::partial);
  EXPECT_EQ(reason("explore"), Reason::max_turns);
  EXPECT_EQ(delegations(), 1);
}

TEST_F(Failure, ACrashOfAChildIsAResultOfItsParent) {
  for (const auto& [error, told_as] :
       {std::pair(std::make_exception_ptr(std::runtime_error("a slip")), "a bug in deputy: a slip"),
        std::pair(std::make_exception_ptr(std::bad_alloc()), "out of memory; let fewer sessions run")}) {
    world_ = SimWorld();
    script(delegates({"a"}, "broken/x") + R"(,{"text":"x"})", {});
    EXPECT_EQ(go({.model = [&](Loop&) { return std::make_unique<ThrowingModel>(error); }}).status,
              Status::completed);
    EXPECT_EQ(state("a"), SessionState::failed);
    EXPECT_EQ(reason("a"), Reason::internal);
    EXPECT_THAT(told(), HasSubstr(told_as));
    EXPECT_EQ(delegations(), 1);
  }
}

TEST_F(Failure, TheParentRetriesUntilItsDelegationsAreUsedUp) {
  script(delegates({"a"}) + "," + delegates({"b"}) + "," + delegates({"c"}) + R"(,{"text":"x"})",
         {{"a", std::string(kBroken)}, {"b", std::string(kBroken)}, {"c", R"({"text":"never"})"}});
  EXPECT_EQ(go({.limits = {.delegations = 2}}).status, Status::completed);
  EXPECT_EQ(world_.sessions().size(), 3u);
  EXPECT_FALSE(world_.session_labelled("c"));
  EXPECT_EQ(delegations(), 2);
}

TEST_F(Failure, AServerThatAlwaysPausesIsNotAskedWithoutEnd) {
  SimExchange pauses = answer_in(Tongue::anthropic, {.text = "I search."});
  std::string& bytes = pauses.chunks.front().bytes;
  ASSERT_TRUE(bytes.contains("end_turn"));
  bytes.replace(bytes.find("end_turn"), std::string_view("end_turn").size(), "pause_turn");
  int asked = 0;
  DialogueWorld world([&](const Scene& scene) -> Act {
    if (scene.agent != "searcher") {
      if (scene.step > 0) return {.text = "over"};
      return {.calls = {call_of("task", R"({"agent":"searcher","prompt":"look"})")}};
    }
    if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"a finding"})")}};
    ++asked;
    return {.http = {pauses}};
  });
  world.options.profiles = {Profile{.name = "searcher", .tools = {"Read", "Note"}}};
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(asked, 8);
  EXPECT_EQ(world.child("searcher").state, SessionState::partial);
  EXPECT_EQ(world.child("searcher").reason, Reason::provider_error);
  EXPECT_THAT(world.heard_by_root(), AllOf(HasSubstr("a finding"), HasSubstr("I search."),
                                           HasSubstr("paused its answer 8 times in a row")));
}

// Nobody stopped it, so it is not asked again without end.
TEST(AModelThatStopsByItself, IsAFailureOfItsRun) {
  DialogueWorld world([](const Scene&) -> Act { return {.ends_as = ReplyStop::stopped}; });
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::failed);
  EXPECT_EQ(report->reason, Reason::internal);
}

}  // namespace
}  // namespace deputy
