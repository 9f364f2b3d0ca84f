#include "watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/agent.h"
#include "delegation/budget.h"
#include "delegation/tree.h"
#include "support/waits.h"

namespace deputy {

using namespace std::chrono_literals;

void Watcher::begin_life() {
  left_ = unfinished_in(world_.memory->sessions);
  suspects_.clear();
  granted_.begin_life();
  seen_at_ = {};
  stands_still_ = false;
}

void Watcher::jumped(Duration by, TimePoint now) {
  gained_ += std::max(-by, Duration{});
  granted_.jumped(by, now);
}

Figures Watcher::figures() const {
  Figures seen = granted_.figures();
  seen[Figure::waits] = waits_seen_;
  return seen;
}

void Watcher::look(const Event& event, const EventOrigin& origin, Life& life) {
  const TimePoint now = life.loop().clock().now();
  EXPECT_LE(life.runtime().places_taken(), limits_.live_sessions);
  look_at_requests();
  look_at_run(event);
  look_at_spending();
  look_at_time(event, now);
  EXPECT_EQ(stream_.fault_after(event, origin), "");
  EXPECT_EQ(debts_.fault_after(event), "");
  EXPECT_EQ(granted_.fault_after(event, now, world_.memory->sessions, left_), "");
  if (shows_taken_up(event)) left_.erase(event.run.session);
  const auto found = world_.memory->sessions.find(event.run.session);
  if (found == world_.memory->sessions.end()) return;
  if (std::holds_alternative<SessionCreated>(event.fact)) look_at_rights(found->second);
  look_at_wait(found->second);
}

// By the provider's account, by what children have done, and by the journal, by which another process would
// go on.
void Watcher::look_at_spending() {
  EXPECT_LE(bank_.micros, limits_.cost_micros) << "the provider has more than there was";
  EXPECT_LE(bank_.tokens, limits_.tokens);
  EXPECT_LE(bank_.answers, limits_.steps) << "the provider has answered more often than there were steps";
  EXPECT_LE(worked_.size(), limits_.delegations) << "more runs of children have worked than there may be";
  const auto& journal = world_.memory->journal;
  if (std::exchange(counted_, journal.size()) == journal.size()) return;
  const Amount used = used_by(journal);
  EXPECT_LE(used.delegations, limits_.delegations);
  EXPECT_LE(used.steps, limits_.steps);
  EXPECT_LE(used.tokens, limits_.tokens);
  EXPECT_LE(used.cost_micros, limits_.cost_micros);
}

// Who has no place asks no model, so there are no more of these than places: told by what the provider sees,
// not by what the tree counts. A model that is deaf may still think for a session that was ended by force.
void Watcher::look_at_requests() const {
  int asking = 0;
  std::map<SessionId, int> children;
  for (const SessionId& id : bank_.asking) {
    const auto found = world_.memory->sessions.find(id);
    if (found == world_.memory->sessions.end() || is_terminal(found->second.state)) continue;
    EXPECT_LE(++asking, limits_.live_sessions);
    const auto& parent = found->second.parent;
    if (parent) EXPECT_LE(++children[*parent], limits_.live_children) << "children of " << parent->value;
  }
}

// Each thing once, and nothing after the end of its run.
void Watcher::look_at_run(const Event& event) {
  const auto where = [&event] {
    return fmt::format("{} {}, step {}, call {}, {}", event.run.session.value, event.run.number, event.step,
                       event.call, kind_of(event.fact));
  };
  const bool is_work =
      std::holds_alternative<ReplyReceived>(event.fact) || std::holds_alternative<CallStarted>(event.fact) ||
      std::holds_alternative<CallFinished>(event.fact) || std::holds_alternative<NoteTaken>(event.fact) ||
      std::holds_alternative<ReplyHeard>(event.fact);
  if (is_work && event.run.session != event.tree) worked_.insert(event.run);
  if (is_work) EXPECT_FALSE(ended_.contains(event.run)) << where() << " after the end of its run";
  if (std::holds_alternative<RunEnded>(event.fact))
    EXPECT_TRUE(ended_.insert(event.run).second) << where() << " a second time";
  if (std::holds_alternative<CallFinished>(event.fact))
    EXPECT_TRUE(finished_calls_.insert({event.run, event.step, event.call}).second)
        << where() << " a second time";
  // Where the program is left, nobody answers, and the question is asked again.
  if (const auto* answer = std::get_if<QuestionAnswered>(&event.fact);
      answer && answer->answer.kind != AnswerKind::nobody)
    EXPECT_TRUE(answered_.insert(answer->question_id).second)
        << where() << ": " << answer->question_id << " was answered twice";
}

// A child may do nothing that its parent may not.
void Watcher::look_at_rights(const Session& session) const {
  EXPECT_LE(session.depth, limits_.depth);
  if (!session.parent) return;
  const Session& parent = world_.memory->sessions.at(*session.parent);
  EXPECT_FALSE(session.network && !parent.network) << session.id.value;
  if (parent.workspace_mode == WorkspaceMode::read_only)
    EXPECT_NE(session.workspace_mode, WorkspaceMode::shared) << session.id.value;
  if (session.workspace_mode == WorkspaceMode::shared || session.workspace_mode == WorkspaceMode::read_only)
    EXPECT_EQ(session.workspace, parent.workspace) << session.id.value;
  const auto rules = Rules::from_json(session.permissions);
  const auto above = Rules::from_json(parent.permissions);
  ASSERT_TRUE(rules && above) << session.id.value;
  for (const std::string_view tool : {"Bash", "Write", "Read", "task", "Delegate"}) {
    for (const std::string_view subject : {"count 1", "/work/w1.txt", "/work/a.txt", "worker"})
      EXPECT_GE(rules->judge(tool, subject, Decision::allow).decision,
                above->judge(tool, subject, Decision::allow).decision)
          << session.id.value << " may " << tool << " " << subject;
  }
}

void Watcher::look_at_wait(const Session& session) const {
  if (session.state != SessionState::waiting) return;
  ASSERT_TRUE(session.wait) << session.id.value << " waits for nobody";
  EXPECT_FALSE(session.wait->owner.empty()) << session.id.value << " waits for nobody";
  EXPECT_TRUE(session.wait->owner == kPerson || session.wait->until)
      << session.id.value << " waits for " << session.wait->owner << " without an end";
}

bool Watcher::look_at_waits(Life& life) {
  constexpr Duration kLongestStop = kEndTime + 5s;  // of a parent after its children, and of theirs
  const TimePoint now = life.loop().clock().now();
  const Sessions& all = world_.memory->sessions;
  waits_seen_ += static_cast<std::uint64_t>(std::ranges::count_if(
      all, [](const auto& each) { return each.second.state == SessionState::waiting; }));
  auto faults = faults_in(all, left_);
  if (running_in(all) < life.runtime().places_taken()) faults[SessionId()] = "one that waits holds a place";
  std::map<SessionId, Suspect> suspects;
  for (auto& [id, fault] : faults) {
    const auto before = suspects_.find(id);
    const bool is_same = before != suspects_.end() && before->second.fault == fault;
    const TimePoint since = is_same ? before->second.since : now;
    EXPECT_LT(now - since, kLongestStop) << id.value << ": " << fault;
    suspects.emplace(id, Suspect{std::move(fault), since});
  }
  suspects_ = std::move(suspects);
  return !suspects_.empty() && !testing::Test::HasFailure();
}

// A tree's time stands still while a person is waited for anywhere in it, and while nobody runs it.
void Watcher::look_at_time(const Event& event, TimePoint now) {
  if (limits_.time == Duration::max()) return;
  if (!stands_still_) used_ += now - seen_at_;
  seen_at_ = now;
  stands_still_ = std::ranges::any_of(world_.memory->sessions, [](const auto& each) {
    return each.second.wait && each.second.wait->owner == kPerson;
  });
  const bool begins = std::holds_alternative<CallStarted>(event.fact) ||
                      (std::holds_alternative<SessionCreated>(event.fact) && event.run.session != event.tree);
  if (begins)
    EXPECT_LE(used_, limits_.time + gained_ + kGraceTime)
        << event.run.session.value << ": " << kind_of(event.fact) << " when the tree's time was up";
}

void Watcher::expect_over(const Runtime& runtime) const {
  EXPECT_EQ(runtime.places_taken(), 0);
  const auto& journal = world_.memory->journal;
  for (std::size_t i = 0; i < journal.size(); ++i) ASSERT_EQ(journal[i].seq, i + 1) << "a gap in the journal";
  for (const auto& [id, session] : world_.memory->sessions) {
    EXPECT_TRUE(is_terminal(session.state)) << id.value << " is " << name_of(session.state);
    EXPECT_FALSE(session.wait) << id.value;
    for (int run = 1; run <= session.run; ++run)
      EXPECT_TRUE(ended_.contains({id, run})) << id.value << " has no end of run " << run;
  }
}

}  // namespace deputy
