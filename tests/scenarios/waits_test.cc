// Every wait is on record, with whom it waits for, and ends: looked for at every second at which nothing
// moves, in trees that wait in every way there is.
#include "support/waits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "support/acting_model.h"
#include "support/dialogue_world.h"
#include "support/sim_world.h"
#include "support/stream_states.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// `left` are those that a process before this one left, and that may not have been taken up again yet.
std::vector<std::string> all_faults_in(const Sessions& all, int places,
                                       const std::set<SessionId>& left = {}) {
  std::vector<std::string> faults;
  for (auto& [id, fault] : faults_in(all, left)) faults.push_back(std::move(fault));
  const int running = running_in(all);
  const auto may_run = std::ranges::count_if(
      left, [&all](const SessionId& id) { return all.at(id).state == SessionState::running; });
  if (running < places || running > places + may_run)
    faults.push_back(fmt::format("{} run, but {} places are taken", running, places));
  return faults;
}

TEST(AWait, ThatDoesNotEndIsFound) {
  Session one{.id = SessionId("sess_1_aaaaaa"), .label = "one", .state = SessionState::waiting};
  Session two{.id = SessionId("sess_1_bbbbbb"), .label = "two", .state = SessionState::waiting};
  const auto faults = [&](int places) { return all_faults_in({{one.id, one}, {two.id, two}}, places); };
  two.wait = Wait{.owner = std::string(kPerson)};
  EXPECT_THAT(faults(0), testing::ElementsAre("one waits for nobody"));
  one.wait = Wait{.owner = std::string(kPlace)};
  EXPECT_THAT(faults(0), testing::ElementsAre("one waits for place without an end"));
  one.wait->until = WallTime{};
  EXPECT_THAT(faults(0), testing::ElementsAre("one waits for a place that nobody has"));
  one.wait = Wait{.owner = two.id.value};
  EXPECT_THAT(faults(0), testing::ElementsAre("one waits for two without an end"));
  one.wait->until = WallTime{};
  EXPECT_THAT(faults(0), IsEmpty());
  EXPECT_THAT(faults(1), testing::ElementsAre("0 run, but 1 places are taken"));
  two.wait = Wait{.owner = one.id.value, .until = WallTime{}};
  EXPECT_THAT(faults(0), testing::Contains(HasSubstr("waits for itself"))) << "for all its deadline";
  two.state = SessionState::interrupted;
  EXPECT_THAT(faults(0), testing::ElementsAre("one rests on two, which does not run"));
  two.state = SessionState::completed;
  EXPECT_THAT(faults(0), testing::ElementsAre("one waits for two, which has ended"));
  EXPECT_THAT(faults_in({{one.id, one}, {two.id, two}}, {one.id}), IsEmpty()) << "as it was when it was left";
}

Call task(std::string_view agent, std::string_view prompt, std::string_view more = "") {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"{}"{}}})", agent, prompt, more));
}
constexpr auto kBeside = R"(,"run_in_background":true)";

Call spawn(std::string_view task) {
  return call_of("spawn_subagent", fmt::format(R"({{"agent":"explore","task":"{}"}})", task));
}

Call about(std::string name, const std::string& id, std::string_view more = "") {
  return call_of(std::move(name), fmt::format(R"({{"id":"{}"{}}})", id, more));
}
std::string second_beside(const Scene& scene) { return scene.value_of("background.\nid: ", 1); }

// The ways to wait: for several children at once, for one beside by its mail or with task_status and
// task_cancel, for a place, for an answer of the parent and for one of the person, also while calls beside
// wait for children or for another answer.
Act waits_in_every_way(const Scene& scene) {
  if (scene.depth == 2) return {.text = "leaf", .after = 3s};
  if (scene.agent == "middle") {
    if (scene.step == 0) return {.calls = {task("planner", "look"), task("researcher", "look")}};
    return {.text = "both", .after = 2s};
  }
  if (scene.agent == "general") {  // must be asked about
    if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"make"})")}, .after = 1500ms};
    return {.text = "refused", .after = 1s};
  }
  if (scene.depth > 0 && scene.heard.contains("ask")) {
    if (scene.step == 0) return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}, .after = 1s};
    return {.text = "took it", .after = 4s};
  }
  if (scene.depth > 0) return {.text = "found", .after = scene.heard.contains("long") ? 90s : 5s};
  switch (scene.step) {
    case 0:
      return {.calls = {task("explore", "look long", kBeside), task("explore", "look"), task("general", "do"),
                        task("middle", "look"), task("explore", "look", R"(,"timeout":"none")"),
                        spawn("look"),
                        call_of("Delegate", R"({"tasks":[{"label":"reader","prompt":"look"}]})")}};
    case 1:
      return {.calls = {spawn("ask"), task("explore", "look long")}, .after = 1s};
    case 2:
      return {.calls = {call_of("answer_subagent", fmt::format(R"({{"question_id":"{}","answer":"red"}})",
                                                               scene.value_of("question_id: ")))},
              .after = 20s};
    case 3:
      return {
          .calls = {call_of("ask_user", R"({"question":"Enough?"})"), task("explore", "look long", kBeside)}};
    case 4:
      return {.calls = {about("task_status", second_beside(scene), R"(,"wait_seconds":30)"),
                        about("task_status", second_beside(scene), R"(,"wait_seconds":7)")}};
    case 5:
      return {.calls = {about("task_cancel", second_beside(scene))}};
    default:
      return {.text = "over"};
  }
}

struct Looked {
  int times = 0;
  std::set<std::string> faults;
  std::set<std::string> owners;  // of the waits that were seen
};

class WaitingTree {
 public:
  WaitingTree(int places, std::uint64_t seed, Attendance attendance = Attendance::person)
      : places_(places), seed_(seed), attendance_(attendance) {
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  }
  // Until it ends, or is left at the n-th event.
  void live(std::optional<int> left_at = {}) {
    Life::Options options{.seed = seed_++, .attendance = attendance_};
    options.limits.live_children = options.limits.live_sessions = places_;
    options.profiles = {Profile{.name = "middle", .description = "m", .subagents = {"*"}, .timeout = 1h}};
    options.model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, waits_in_every_way); };
    Life life(world, std::move(options));
    for (const Event& event : world.memory->journal) answer_later(life, event);
    life.runtime().subscribe([this, &life](const Event& event, const EventOrigin& origin) {
      if (auto fault = stream_.fault_after(event, origin); !fault.empty())
        looked.faults.insert(std::move(fault));
      if (shows_taken_up(event)) left_.erase(event.run.session);
      answer_later(life, event);
    });
    is_left_ = false;
    left_ = unfinished_in(world.memory->sessions);
    if (left_at)
      life.after_event(*left_at, [this](Runtime& runtime) {
        is_left_ = true;
        runtime.cancel(StopReason::shutdown);
      });
    look_at(life, life.loop().clock().now() + kBetween);
    RootBrief root = life.brief("go");
    root.model = ModelName("acting/test");
    root.rules = Rules({{Decision::allow, "task", ""}});
    const auto report =
        world.memory->sessions.empty() ? life.start(root) : life.resume(world.sessions().front().id);
    has_ended = report.has_value();
  }

  SimWorld world;
  Looked looked;
  bool has_ended = false;

 private:
  // What the person is asked is answered after a minute, and a little later each time: yes to the root alone.
  static void answer_later(Life& life, const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked || asked->question.kind == QuestionKind::to_parent) return;
    const bool is_permission = asked->question.kind == QuestionKind::permission;
    const auto kind = !is_permission                    ? AnswerKind::text
                      : asked->question.agent == "main" ? AnswerKind::approved
                                                        : AnswerKind::refused;
    life.loop().timers().call_at(
        life.loop().clock().now() + 60s + event.call * 3s,
        [&life, kind, id = asked->question.id] { life.runtime().answer(id, {kind, "no"}); });
  }
  // No timer of the play is due at such a moment: all that can move has moved.
  static constexpr Duration kBetween = 997'003us;
  static constexpr int kMostLooks = 2000;

  void look_at(Life& life, TimePoint when) {
    life.loop().timers().call_at(when, [this, &life, when] {
      const Sessions& all = world.memory->sessions;
      if (all.empty() || is_left_ || is_terminal(world.sessions().front().state)) return;
      if (++looked.times > kMostLooks) return;
      for (const auto& [id, session] : all) {
        if (!session.wait) continue;
        looked.owners.insert(is_session_id(session.wait->owner) ? "session" : session.wait->owner);
      }
      for (auto& fault : all_faults_in(all, life.runtime().places_taken(), left_))
        looked.faults.insert(fmt::format(
            "{:.0f} s: {}", std::chrono::duration<double>(when.time_since_epoch()).count(), fault));
      look_at(life, when + kBetween);
    });
  }
  int places_;
  std::uint64_t seed_;
  Attendance attendance_;
  StreamStates stream_;
  bool is_left_ = false;
  std::set<SessionId> left_;
};

TEST(WaitsSimulation, HaveAnOwnerAndAnEndWheneverNothingMoves) {
  std::set<std::string> owners;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    for (const int places : {1, 2, 8}) {
      WaitingTree waits(places, seed);
      waits.live();
      ASSERT_TRUE(waits.has_ended) << "seed " << seed;
      EXPECT_GT(waits.looked.times, 60);
      ASSERT_THAT(waits.looked.faults, IsEmpty()) << "seed " << seed << ", " << places << " places";
      owners.merge(waits.looked.owners);
    }
  }
  EXPECT_THAT(owners, testing::UnorderedElementsAre(std::string(kPerson), std::string(kPlace), "session"))
      << "a way that was not seen proves nothing";
}

TEST(WaitsSimulation, SoTheyHaveAfterARestart) {
  int restarts = 0;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    for (const int places : {1, 8}) {
      WaitingTree waits(places, seed * 100);
      waits.live(10 + static_cast<int>(seed * 7 % 70));
      if (waits.has_ended) continue;
      restarts += 1;
      waits.live();
      ASSERT_TRUE(waits.has_ended) << "seed " << seed << ", " << places << " places";
      ASSERT_THAT(waits.looked.faults, IsEmpty()) << "seed " << seed << ", " << places << " places";
    }
  }
  EXPECT_GT(restarts, 0);
}

TEST(WaitsSimulation, AreKnownAlsoWhereTheRuntimeAnswersForThePerson) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    for (const Attendance attendance : {Attendance::approves_all, Attendance::nobody}) {
      for (const int places : {1, 8}) {
        WaitingTree waits(places, seed, attendance);
        waits.live();
        ASSERT_TRUE(waits.has_ended) << "seed " << seed;
        ASSERT_THAT(waits.looked.faults, IsEmpty()) << "seed " << seed << ", " << places << " places";
      }
    }
  }
}

TEST(Waits, ForThePersonHoldNoPlace) {
  WaitingTree waits(1, 1);
  waits.live();
  ASSERT_TRUE(waits.has_ended);
  const Session* asks = waits.world.session_labelled("general");
  ASSERT_TRUE(asks);
  int ended_meanwhile = 0;
  for (const Session& session : waits.world.sessions()) {
    if (session.agent == "explore" && session.ended_at > asks->started_at &&
        session.ended_at < asks->ended_at)
      ended_meanwhile += 1;
  }
  EXPECT_GT(ended_meanwhile, 0) << "with one place for all";
}

// Of two calls of one reply, which run beside each other, one waits for a child and one must be permitted.
Act asks_beside_a_child(const Scene& scene) {
  if (scene.agent == "explore") return {.text = "leaf", .after = 20s};
  if (scene.agent == "planner") return {.text = "another", .after = 40s};
  if (scene.step > 0) return {.text = "over"};
  if (scene.depth == 0) return {.calls = {task("strict", "do")}};
  return {
      .calls = {task("explore", "look"), call_of("spawn_subagent", R"({"agent":"planner","task":"plan"})")}};
}

// Once the one is settled, the wait of the other is what is told.
class WaitBesideAQuestion {
 public:
  explicit WaitBesideAQuestion(Attendance attendance, OnAsk on_ask = OnAsk::person) {
    world.options.attendance = attendance;
    world.options.profiles = {{.name = "strict", .subagents = {"*"}, .timeout = 1h, .on_ask = on_ask}};
    world.rules = Rules({{Decision::allow, "task", ""}});
  }
  WaitBesideAQuestion(const WaitBesideAQuestion&) = delete;
  // As the first life, or as one that goes on.
  Result<Report> live() {
    world.on_event = [this](Runtime&, const Event& event) {
      const auto* reply = std::get_if<ReplyReceived>(&event.fact);
      if (!reply || reply->reply.message.text != "leaf") return;
      told_at_last = world.stream.told_of(world.child("strict").id);
    };
    return world.sessions().empty() ? world.run() : world.resume(2);
  }
  void expect_answered(AnswerKind kind, Source by) const {
    const auto answers = world.facts<QuestionAnswered>();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].answer.kind, kind);
    EXPECT_EQ(answers[0].answer.by, by);
    EXPECT_THAT(told_at_last, testing::StartsWith("waiting for sess_")) << "when its first child replied";
    world.expect_sound("");
  }

  DialogueWorld world{asks_beside_a_child};
  std::string told_at_last;
};

TEST(Waits, BesideAQuestionAreToldAgainOnceTheRuntimeHasAnsweredIt) {
  for (const auto& [attendance, answer] : {std::pair{Attendance::approves_all, AnswerKind::approved},
                                           std::pair{Attendance::nobody, AnswerKind::nobody}}) {
    WaitBesideAQuestion waits(attendance);
    ASSERT_TRUE(waits.live());
    waits.expect_answered(answer, Source::runtime);
  }
}

TEST(Waits, BesideAQuestionAreToldAgainWhereTheProfileLeavesNothingToBeAsked) {
  for (const Attendance attendance : {Attendance::person, Attendance::nobody, Attendance::approves_all}) {
    WaitBesideAQuestion waits(attendance, OnAsk::deny);
    ASSERT_TRUE(waits.live());
    waits.expect_answered(AnswerKind::refused, Source::runtime);
  }
}

TEST(Waits, BesideAQuestionAreToldAgainWhereTheAnswerLayInTheInbox) {
  WaitBesideAQuestion waits(Attendance::person);
  DialogueWorld& world = waits.world;
  world.options.inbox_every = 80ms;
  world.on_event = [](Runtime& runtime, const Event& event) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) runtime.cancel(StopReason::shutdown);
  };
  EXPECT_FALSE(world.run());
  const auto asked = world.facts<QuestionAsked>();
  ASSERT_EQ(asked.size(), 1u);
  const Session strict = world.child("strict");
  SimLoop other_loop{1};
  MemoryStore other(other_loop, world.world.memory);
  ASSERT_TRUE(other.post({.tree = strict.tree,
                          .session = strict.id,
                          .kind = LetterKind::answer,
                          .text = "yes",
                          .question = asked[0].question.id}));
  ASSERT_TRUE(waits.live());
  waits.expect_answered(AnswerKind::approved, Source::person);
}

// What the one tells is on its way to the record when the other looks whether its own wait is known there.
TEST(WaitsSimulation, ForThePersonAreToldWhereAnotherQuestionIsSettledJustThen) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.step == 0) return {.calls = {spawn("look"), spawn("look again")}};
      return {.text = "over"};
    });
    world.rules = {};
    world.options.seed = seed;
    world.options.attendance = Attendance::person;
    world.options.inbox_every = 80ms;
    std::vector<std::string> asked;
    world.on_event = [&](Runtime& runtime, const Event& event) {
      const auto* question = std::get_if<QuestionAsked>(&event.fact);
      if (question) asked.push_back(question->question.id);
      if (asked.size() == 2) runtime.cancel(StopReason::shutdown);
    };
    EXPECT_FALSE(world.run());
    ASSERT_EQ(asked.size(), 2u);
    const SessionId root = world.sessions().front().id;
    SimLoop other_loop{1};
    MemoryStore other(other_loop, world.world.memory);
    ASSERT_TRUE(other.post({.tree = root,
                            .session = root,
                            .kind = LetterKind::answer,
                            .text = "no",
                            .question = asked.front()}));
    world.on_event = {};
    std::string told;
    world.on_question = [&](Runtime& runtime, const Question& question) {
      if (question.id != asked.back()) return;
      told = world.stream.told_of(root);
      runtime.answer(question.id, {AnswerKind::refused, "no"});
    };
    ASSERT_TRUE(world.resume(seed + 100));
    EXPECT_EQ(told, "waiting for person");
    world.expect_sound("");
  });
}

// Of four that are asked at the same time those are answered at once that are there by then: the session is
// sent on while others of its calls are on their way to wait.
TEST(WaitsSimulation, ForThePersonAreToldWhereAnotherQuestionIsAnsweredJustThen) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.step == 0) return {.calls = {spawn("1"), spawn("2"), spawn("3"), spawn("4")}};
      return {.text = "over"};
    });
    world.rules = {};
    world.options.seed = seed;
    world.options.attendance = Attendance::person;
    world.on_event = [](Runtime& runtime, const Event& event) {
      if (const auto* asked = std::get_if<QuestionAsked>(&event.fact))
        runtime.answer(asked->question.id, {AnswerKind::refused, "no"});
    };
    std::vector<std::string> told;
    world.on_question = [&](Runtime& runtime, const Question& question) {
      const auto answered = world.facts<QuestionAnswered>();
      if (std::ranges::find(answered, question.id, &QuestionAnswered::question_id) != answered.end()) return;
      told.push_back(world.stream.told_of(question.asker));
      runtime.answer(question.id, {AnswerKind::refused, "no"});
    };
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.facts<QuestionAnswered>().size(), 4u);
    EXPECT_THAT(told, testing::Each("waiting for person"));
    world.expect_sound("");
  });
}

// The waits of the root for a child that are on record from its call of this tool on.
std::vector<StateChanged> waits_in(const DialogueWorld& world, std::string_view tool,
                                   std::string_view label) {
  std::vector<StateChanged> waits;
  bool has_begun = false;
  for (const Event& event : world.world.memory->journal) {
    if (event.run.session != world.sessions().front().id) continue;
    const auto* started = std::get_if<CallStarted>(&event.fact);
    has_begun = has_begun || (started && started->tool == tool);
    const auto* changed = std::get_if<StateChanged>(&event.fact);
    if (has_begun && changed && changed->waits_for == world.child(label).id.value) waits.push_back(*changed);
  }
  return waits;
}

// One of two beside it has asked and waits for its answer: it is the other one that the parent waits for.
Act waits_for_the_other(const Scene& scene) {
  if (scene.agent == "explore" && scene.step == 0)
    return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}};
  if (scene.depth > 0) return {.text = "planned", .after = 20s};
  if (scene.step == 0) return {.calls = {task("explore", "ask", kBeside), task("planner", "plan", kBeside)}};
  if (!scene.heard.contains("planned")) return {.text = "I wait.", .after = 1s};
  return {.text = "over"};
}

TEST(Waits, ForMailAreForOneThatWillWrite) {
  DialogueWorld world(waits_for_the_other);
  std::set<std::string> faults;
  std::set<std::string> waited_for;
  world.on_event = [&](Runtime&, const Event&) {
    const Sessions& all = world.world.memory->sessions;
    const Session& root = world.world.memory->sessions.at(world.sessions().front().id);
    if (!root.wait) return;
    waited_for.insert(root.wait->owner);
    if (auto fault = fault_of(root, all); fault.contains("itself")) faults.insert(std::move(fault));
  };
  ASSERT_TRUE(world.run());
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_THAT(waited_for, testing::ElementsAre(world.child("planner").id.value));
}

// After a restart the one that asked comes to its question again when its parent waits already.
TEST(WaitsSimulation, ForMailAreForOneThatWillWriteAlsoAfterARestart) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world(waits_for_the_other);
    world.options.seed = seed;
    const auto owner = [&world] {
      const Session& root = world.world.memory->sessions.at(world.sessions().front().id);
      return root.wait ? root.wait->owner : "";
    };
    world.on_event = [&](Runtime& runtime, const Event&) {
      if (!owner().empty()) runtime.cancel(StopReason::shutdown);
    };
    EXPECT_FALSE(world.run());
    std::string at_last;
    world.on_event = [&](Runtime&, const Event& event) {
      const bool has_planned = std::holds_alternative<ReplyReceived>(event.fact);
      if (has_planned && event.run.session == world.child("planner").id) at_last = owner();
    };
    ASSERT_TRUE(world.resume(seed + 100));
    EXPECT_EQ(at_last, world.child("planner").id.value);
    world.expect_sound("");
  });
}

// Its model and its child have nothing to say for long.
TEST(Waits, AreOnRecordATenthOfASecondAfterTheyBeganThoughNothingElseIs) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  Life::Options options;
  options.model = [](Loop& loop) {
    return std::make_unique<ActingModel>(loop, [](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found", .after = 20s};
      if (scene.step == 0) return {.calls = {task("explore", "look", kBeside)}};
      if (scene.step > 1) return {.text = "over"};
      return {.calls = {call_of("task_status", R"({"wait_seconds":60})")}, .after = 1s};
    });
  };
  Life life(world, std::move(options));
  std::vector<SessionState> seen;
  const TimePoint began = life.loop().clock().now();
  for (const auto after : {1099ms, 1101ms}) {
    life.loop().timers().call_at(began + after, [&] { seen.push_back(world.sessions().front().state); });
  }
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "task", ""}});
  ASSERT_TRUE(life.start(std::move(root)));
  EXPECT_THAT(seen, testing::ElementsAre(SessionState::running, SessionState::waiting));
}

TEST(Waits, WithTaskStatusHoldNoPlaceAndAreOnRecordUntilTheyAreOver) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found it", .after = 20s};
    if (scene.step == 0) return {.calls = {task("explore", "look", kBeside)}};
    if (scene.step == 1)
      return {.calls = {about("task_status", scene.value_of("id: "), R"(,"wait_seconds":60)")}};
    return {.text = "over"};
  });
  world.options.limits.live_sessions = 1;
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.results_of("task_status"), testing::ElementsAre(HasSubstr("found it")))
      << "it had to run while its parent waited";
  const auto waits = waits_in(world, "task_status", "explore");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].state, SessionState::waiting);
  ASSERT_TRUE(waits[0].until);
  EXPECT_LT(*waits[0].until, *world.child("explore").deadline) << "it waits for a minute, not for an hour";
  world.expect_sound("");
}

TEST(Waits, WithTaskStatusThatAreOverTakeAPlaceOnlyWhereThereIsOne) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found it", .after = 60s};
    if (scene.step == 0) return {.calls = {task("explore", "look", kBeside)}};
    if (scene.step == 1)
      return {.calls = {about("task_status", scene.value_of("id: "), R"(,"wait_seconds":30)")}};
    return {.text = "over", .after = 5s};
  });
  world.options.limits.live_sessions = 1;
  int most = 0;
  world.on_event = [&most](Runtime& runtime, const Event&) { most = std::max(most, runtime.places_taken()); };
  ASSERT_TRUE(world.run());
  EXPECT_THAT(world.results_of("task_status"), testing::ElementsAre(HasSubstr("found it")));
  EXPECT_EQ(most, 1);
  world.expect_sound("");
}

TEST(Waits, WithTaskCancelAreOnRecordUntilTheEnd) {
  for (const bool asks : {false, true}) {
    DialogueWorld world([asks](const Scene& scene) -> Act {
      if (scene.depth > 0 && asks && scene.step == 0)
        return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}};
      if (scene.depth > 0) return {.text = "late", .after = 1h, .is_deaf = true};
      if (scene.step == 0) return {.calls = {task("explore", "look", kBeside)}};
      if (scene.step == 1) return {.calls = {about("task_cancel", scene.value_of("id: "))}, .after = 5s};
      return {.text = "over"};
    });
    ASSERT_TRUE(world.run());
    EXPECT_THAT(world.results_of("task_cancel"), testing::ElementsAre(HasSubstr("Status: cancelled")));
    EXPECT_EQ(waits_in(world, "task_cancel", "explore").size(), 1u) << asks;
    EXPECT_EQ(world.child("explore").reason, Reason::cancelled_by_parent);
    world.expect_sound("");
  }
}

}  // namespace
}  // namespace deputy
