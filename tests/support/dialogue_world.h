// A simulated world for dialogue and background work: a played model, the events as they come, and what must
// hold of every run: one terminal record each, every wait with an owner and an end, and states in the event
// stream that are those of the store.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/acting_model.h"
#include "support/sim_world.h"
#include "support/stream_states.h"

namespace deputy {

class DialogueWorld {
 public:
  explicit DialogueWorld(ActingModel::Play play) : play_(std::move(play)) {
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    world.write_file("a.txt", "one\n");
  }

  SimWorld world;
  Life::Options options = {};
  std::int64_t window = ActingModel::kWide;
  Duration away{};  // for how long nobody ran it, since the first life began, when it goes on
  Rules rules = Rules({{Decision::allow, "spawn_subagent", ""}, {Decision::allow, "task", ""}});
  std::function<void(Runtime&, const Question&)> on_question = {};
  Duration before_answer = std::chrono::seconds(1);  // from a question to that
  std::function<void(Runtime&, const Event&)> on_event = {};
  std::function<void(SimProcesses&)> programs = {};  // defines what its commands run

  Result<Report> run() {
    Life life(world, with_model(options));
    listen(life);
    return life.start(brief(life));
  }
  Result<Report> resume(std::uint64_t seed, std::optional<TreeLimits> terms = std::nullopt,
                        CrashPoint crash = {}) {
    Life::Options again = with_model(options);
    again.seed = seed;
    again.crash = crash;
    Life life(world, std::move(again));
    listen(life);
    life.loop().manual_clock().jump_wall(away);
    return life.resume(sessions().front().id, terms);
  }
  Result<Report> say(std::string input, std::optional<TreeLimits> terms = std::nullopt,
                     RunTask task = RunTask::reply) {
    Life life(world, with_model(options));
    listen(life);
    life.loop().manual_clock().jump_wall(away);
    return life.say(sessions().front().id, {.text = std::move(input), .terms = terms, .task = task});
  }
  // By a process that does not run the tree.
  void leave_word(std::string_view label, std::string text) {
    MemoryStore::Memory& memory = *world.memory;
    memory.inbox.push_back({.id = ++memory.letters_so_far,
                            .tree = sessions().front().id,
                            .session = child(label).id,
                            .text = std::move(text)});
  }
  // One life that dies where the options say, and a second that goes on. Nothing where it did not die.
  std::optional<Result<Report>> run_through_crash() {
    {
      Life life(world, with_model(options));
      listen(life);
      auto report = life.start(brief(life));
      if (!life.crashed()) return std::nullopt;
    }
    if (sessions().empty()) return Result<Report>(Report{});
    return resume(options.seed + 1'000'000);
  }

  std::vector<Session> sessions() const { return world.sessions(); }
  Session child(std::string_view label) const {
    const Session* found = world.session_labelled(label);
    EXPECT_TRUE(found) << label;
    return found ? *found : Session{};
  }
  int terminal_records(std::string_view label) const { return world.terminal_records(child(label).id); }
  template <class F>
  std::vector<F> facts() const {
    std::vector<F> found;
    for (const Event& event : world.memory->journal) {
      if (const auto* fact = std::get_if<F>(&event.fact)) found.push_back(*fact);
    }
    return found;
  }
  // What calls of the tool were told, in the order of their ends.
  std::vector<std::string> results_of(std::string_view tool) const {
    std::map<std::pair<RunId, std::pair<int, int>>, std::string> started;
    std::vector<std::string> told;
    for (const Event& event : world.memory->journal) {
      const std::pair key{event.run, std::pair{event.step, event.call}};
      if (const auto* intent = std::get_if<CallStarted>(&event.fact)) started[key] = intent->tool;
      if (const auto* end = std::get_if<CallFinished>(&event.fact); end && started[key] == tool)
        told.push_back(end->result.content);
    }
    return told;
  }
  // All that the root's model was told by calls and by mail.
  std::string heard_by_root() const {
    std::string heard;
    for (const Event& event : world.memory->journal) {
      if (event.run.session != sessions().front().id) continue;
      if (const auto* mail = std::get_if<Delivered>(&event.fact)) heard += mail->text + "\n";
      if (const auto* end = std::get_if<CallFinished>(&event.fact)) heard += end->result.content + "\n";
    }
    return heard;
  }
  void expect_sound(const std::string& where) const {
    for (const Session& session : sessions()) {
      EXPECT_TRUE(is_terminal(session.state)) << session.label << " " << where;
      EXPECT_FALSE(session.wait) << session.label << " " << where;
    }
    EXPECT_EQ(waits_without_end, 0) << where;
    EXPECT_EQ(stream_fault, "") << where;
  }

  int waits_without_end = 0;  // or without an owner
  std::string stream_fault;   // the first one
  StreamStates stream;

 private:
  Life::Options with_model(Life::Options given) const {
    given.model = [play = play_, room = window](Loop& loop) {
      return std::make_unique<ActingModel>(loop, play, room);
    };
    return given;
  }
  RootBrief brief(const Life& life) const {
    RootBrief root = life.brief("go");
    root.model = ModelName("acting/test");
    root.rules = rules;
    return root;
  }
  void listen(Life& life) {
    if (programs) programs(life.processes());
    life.runtime().subscribe([this, &life](const Event& event, const EventOrigin& origin) {
      const std::string fault = stream.fault_after(event, origin);
      if (stream_fault.empty()) stream_fault = fault;
      if (const auto* asked = std::get_if<QuestionAsked>(&event.fact); asked && on_question) {
        life.loop().timers().call_at(
            life.loop().clock().now() + before_answer,
            [this, &life, question = asked->question] { on_question(life.runtime(), question); });
      }
      if (on_event) on_event(life.runtime(), event);
      const auto found = world.memory->sessions.find(event.run.session);
      if (found == world.memory->sessions.end()) return;
      look_for_wait(found->second);
      const auto above = world.memory->sessions.find(found->second.parent.value_or(SessionId{}));
      if (above != world.memory->sessions.end()) look_for_wait(above->second);
    });
  }
  void look_for_wait(const Session& session) {
    if (session.state != SessionState::waiting) return;
    const auto& wait = session.wait;
    const bool has_end = wait && !wait->owner.empty() && (wait->until || wait->owner == kPerson);
    if (!has_end) waits_without_end += 1;
  }

  ActingModel::Play play_;
};

// Tries it with the loop's work in other orders, until it fails.
inline void in_many_orders(const std::function<void(std::uint64_t seed)>& test) {
  constexpr std::uint64_t kOrders = 50;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(kOrders) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test(seed);
  }
}

}  // namespace deputy
