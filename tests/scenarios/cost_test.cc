// What each session cost and what it came to with all below it: failures, retries and further runs included,
// and nothing twice.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "app/session_text.h"
#include "support/dialogue_world.h"
#include "support/hosted_provider.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

Usage costs(std::int64_t micros) { return {.input = micros, .output = 1, .cost_micros = micros}; }

Call task(std::string_view agent) {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"}})", agent));
}

// One that fails, one whose request is made three times, and one with a child of its own that is resumed.
Act play(const Scene& scene) {
  if (scene.agent == "fails") return {.ends_as = ReplyStop::failed, .usage = costs(700)};
  if (scene.agent == "retries")
    return {.text = "found", .usage = costs(200), .retries = {{.usage = costs(40)}, {.usage = costs(60)}}};
  if (scene.agent == "leaf") return {.text = "found", .usage = costs(5)};
  if (scene.agent == "lead" && scene.step == 0) return {.calls = {task("leaf")}, .usage = costs(10)};
  if (scene.agent == "lead") return {.text = "found", .usage = costs(scene.step == 1 ? 20 : 30)};
  switch (scene.step) {
    case 0:
      return {.calls = {task("fails"), task("retries")}, .usage = costs(1000)};
    case 1:
      return {.calls = {task("lead")}, .usage = costs(1000)};
    case 2:
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})",
                                                    scene.value_of("Session: ", 2)))},
              .usage = costs(1000)};
    default:
      return {.text = "over", .usage = costs(1000)};
  }
}

std::int64_t told_of(const std::vector<Event>& journal) {
  std::int64_t micros = 0;
  for (const Event& event : journal) {
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact))
      micros += reply->reply.usage.cost_micros.value_or(0);
    if (const auto* retry = std::get_if<Retried>(&event.fact)) micros += retry->usage.cost_micros.value_or(0);
  }
  return micros;
}

TEST(CostOfATree, IsRolledUpWithWhatFailedWasRetriedAndResumedAndNothingTwice) {
  DialogueWorld world(play);
  for (const char* name : {"fails", "retries", "leaf"})
    world.options.profiles.push_back({.name = name, .tools = {"Read"}});
  world.options.profiles.push_back({.name = "lead", .tools = {"Read"}, .subagents = {"leaf"}});
  int looks = 0;
  world.on_event = [&](Runtime&, const Event&) {
    const auto sessions = world.sessions();
    if (sessions.empty()) return;
    EXPECT_EQ(usage_with_children(sessions.front(), sessions).cost_micros.value_or(0),
              told_of(world.world.memory->journal))
        << "at every moment it is what was used so far: replaced, not added";
    looks += 1;
  };
  ASSERT_TRUE(world.run());
  EXPECT_GT(looks, 20);
  ASSERT_EQ(world.child("lead").run, 2);
  ASSERT_EQ(world.child("fails").state, SessionState::failed);
  const std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected{
      {"root", {4000, 4000 + 700 + 300 + 60 + 5}},
      {"fails", {700, 700}},
      {"retries", {300, 300}},
      {"lead", {60, 65}},
      {"leaf", {5, 5}}};
  const auto sessions = world.sessions();
  ASSERT_EQ(sessions.size(), expected.size());
  for (const Session& session : sessions) {
    const auto& [own, all] = expected.at(session.label);
    EXPECT_EQ(session.usage.cost_micros, own) << session.label;
    EXPECT_EQ(usage_with_children(session, sessions).cost_micros, all) << session.label;
  }
  const std::string shown = tree_text(sessions.front(), sessions, {}, Style{});
  for (const char* cell : {"$0.0040 (all $0.0051)", "$0.0007", "$0.0003", "$0.0001 (all $0.0001)"})
    EXPECT_THAT(shown, HasSubstr(cell));
}

// What one request of a root cost whose server answers so, one after the other, the last from then on. The
// records are those beside the one of each attempt that failed and was paid for.
Usage used_by_one(const std::vector<SimExchange>& answers, const TreeLimits& limits, int* records) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"unused"}]}]})";
  std::size_t asked = 0;
  Life life(world, {.limits = limits, .model = [&](Loop& loop) {
                      return std::make_unique<HostedProvider>(
                          loop, Tongue::openai_responses,
                          [&](const HttpRequest&) { return answers[std::min(asked++, answers.size() - 1)]; },
                          200'000);
                    }});
  life.loop().timers().call_at(life.loop().clock().now() + std::chrono::hours(1),
                               [&life] { life.runtime().cancel(StopReason::user); });
  RootBrief brief = life.brief("go");
  brief.model = ModelName("openai/test");
  EXPECT_TRUE(life.start(brief));
  *records = life.records() - static_cast<int>(std::ranges::count_if(
                                  life.events(), [](const Event& event) { return is_spending(event.fact); }));
  return world.sessions().front().usage;
}

TEST(CostOfATree, CountsWhatBrokeOffOrWasStoppedAlsoWhereNothingIsLimited) {
  const SimExchange whole = answer_in(Tongue::openai_responses, {.text = "It says hello.", .input = 1000});
  SimExchange cut = whole;
  cut.fault = SimFault::cut;
  cut.fault_after = whole.chunks.front().bytes.find("hello");
  SimExchange silent = cut;
  silent.fault = SimFault::silence;
  const TreeLimits never_met{.cost_micros = 1'000'000'000};
  int records = 0;
  const std::int64_t undisturbed = used_by_one({whole}, {}, &records).cost_micros.value_or(0);
  ASSERT_GT(undisturbed, 0);
  ASSERT_EQ(records, 2) << "its start and its end";
  for (const auto& answers : {std::vector{cut, whole}, std::vector{cut}, std::vector{silent}}) {
    const Usage used = used_by_one(answers, {}, &records);
    EXPECT_EQ(records, 2) << "it costs no other record";
    EXPECT_EQ(used, used_by_one(answers, never_met, &records));
    ASSERT_TRUE(used.cost_micros);
    EXPECT_GT(*used.cost_micros, undisturbed);
  }
}

}  // namespace
}  // namespace deputy
