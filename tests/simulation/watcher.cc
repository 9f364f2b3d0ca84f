#include "watcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/agent.h"
#include "delegation/budget.h"
#include "delegation/tree.h"
#include "support/waits.h"
#include "transcript/mail.h"

namespace deputy {

using namespace std::chrono_literals;

void Watcher::begin_life() {
  left_ = unfinished_in(world_.memory->sessions);
  suspects_.clear();
  seen_at_ = {};
  stands_still_ = false;
}

void Watcher::look(const Event& event, const EventOrigin& origin, Life& life) {
  EXPECT_LE(life.runtime().places_taken(), limits_.live_sessions);
  EXPECT_LE(bank_.micros, limits_.cost_micros) << "the provider has more than there was";
  EXPECT_LE(bank_.tokens, limits_.tokens);
  look_at_requests();
  look_at_run(event);
  look_at_time(event, life.loop().clock().now());
  EXPECT_EQ(stream_.fault_after(event, origin), "");
  if (shows_taken_up(event)) left_.erase(event.run.session);
  const auto found = world_.memory->sessions.find(event.run.session);
  if (found == world_.memory->sessions.end()) return;
  if (std::holds_alternative<SessionCreated>(event.fact)) look_at_rights(found->second);
  look_at_wait(found->second);
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
  if (is_work) EXPECT_FALSE(ended_.contains(event.run)) << where() << " after the end of its run";
  if (std::holds_alternative<RunEnded>(event.fact))
    EXPECT_TRUE(ended_.insert(event.run).second) << where() << " a second time";
  if (std::holds_alternative<CallFinished>(event.fact))
    EXPECT_TRUE(finished_calls_.insert({event.run, event.step, event.call}).second)
        << where() << " a second time";
  if (const auto* mail = std::get_if<Delivered>(&event.fact))
    EXPECT_TRUE(delivered_.insert({event.run.session, mail->item}).second)
        << where() << ": " << mail->item << " was delivered twice";
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
  waits_seen_ += static_cast<int>(std::ranges::count_if(
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

void Watcher::expect_over(const Runtime& runtime, const std::map<std::string, int>& effects) const {
  EXPECT_EQ(runtime.places_taken(), 0);
  const auto& journal = world_.memory->journal;
  for (std::size_t i = 0; i < journal.size(); ++i) ASSERT_EQ(journal[i].seq, i + 1) << "a gap in the journal";
  for (const auto& [id, session] : world_.memory->sessions) {
    EXPECT_TRUE(is_terminal(session.state)) << id.value << " is " << name_of(session.state);
    EXPECT_FALSE(session.wait) << id.value;
    for (int run = 1; run <= session.run; ++run)
      EXPECT_TRUE(ended_.contains({id, run})) << id.value << " has no end of run " << run;
  }
  const Amount used = used_by(journal);
  EXPECT_LE(used.delegations, limits_.delegations);
  EXPECT_LE(used.steps, limits_.steps);
  EXPECT_LE(used.tokens, limits_.tokens);
  EXPECT_LE(used.cost_micros, limits_.cost_micros);
  for (const auto& [command, times] : effects) EXPECT_EQ(times, 1) << command << " was run again";
  for (const auto& [path, text] : world_.disk.files())
    EXPECT_FALSE(path.ends_with(".transcript.jsonl")) << path << " was not sealed";
  expect_nothing_lost();
}

// What a child that went on beside its parent has to say is put before the parent's model, which is asked
// again: the second reply after the child's end is to a request that was made after it. A last step at a
// limit does not count: where it is told nothing but to report, the rest is owed to its next run. Nor does a
// reply that pauses: nothing may be said before it is gone on with.
void Watcher::expect_nothing_lost() const {
  struct Owed {
    SessionId parent;
    bool has_ended = false;
    int replies_since = 0;
  };
  std::map<RunId, Owed> owed;                              // by the child's run
  std::map<std::pair<SessionId, std::string>, int> words;  // taken in for a session: its replies since
  std::set<RunId> at_limit;
  for (const Event& event : world_.memory->journal) {
    if (const auto* word = std::get_if<Nudged>(&event.fact))
      words[{event.run.session, nudge_item(word->id)}] = 0;
    if (const auto* left = std::get_if<Detached>(&event.fact))
      owed[{left->child, left->run}].parent = event.run.session;
    if (const auto* taken = std::get_if<Attached>(&event.fact)) owed.erase({taken->child, taken->run});
    const auto ended = owed.find(event.run);
    if (ended != owed.end() && std::holds_alternative<RunEnded>(event.fact)) ended->second.has_ended = true;
    if (const auto* input = std::get_if<InputGiven>(&event.fact)) {
      if (input->about == Reason::timeout || input->about == Reason::max_turns ||
          input->about == Reason::budget)
        at_limit.insert(event.run);
    }
    const auto* reply = std::get_if<ReplyReceived>(&event.fact);
    if (!reply || reply->reply.stop == ReplyStop::paused || at_limit.contains(event.run)) continue;
    for (auto& [run, debt] : owed) debt.replies_since += debt.has_ended && debt.parent == event.run.session;
    for (auto& [word, replies] : words) replies += word.first == event.run.session;
  }
  for (const auto& [run, debt] : owed) {
    if (debt.replies_since < 2) continue;
    EXPECT_TRUE(delivered_.contains({debt.parent, report_item(run.session, run.number)}))
        << "what " << run.session.value << " came to was never told to " << debt.parent.value;
  }
  for (const auto& [word, replies] : words)
    EXPECT_TRUE(replies < 2 || delivered_.contains(word))
        << word.second << " was never told to " << word.first.value;
}

}  // namespace deputy
