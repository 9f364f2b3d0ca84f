// The children of a tree that run now. Each is a task of its own, so that whoever started it may wait for it,
// go on beside it, or be asked by it: a question ends the wait, and the answer is given by a later call. So
// no loop ever waits for a loop that waits for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "async/task_group.h"
#include "async/waiter.h"
#include "base/boxed.h"
#include "delegation/mailbox.h"
#include "transcript/report.h"
#include "transcript/session.h"

namespace deputy {

class Children {
 public:
  enum class Where { awaited, beside };  // whether a call of its parent waits for it
  struct SentAway {};                    // the person wants the parent to go on without it
  using Ended = Result<Boxed<Report>>;
  using Met = std::variant<Ended, Boxed<Question>, SentAway>;
  using Run = std::move_only_function<Task<Ended>(StopToken)>;

  // What a session is told of a child's report.
  using Tell = std::function<Task<std::string>(SessionId reader, Report report)>;

  Children(Loop& loop, Tell tell) : loop_(loop), tell_(std::move(tell)), group_(loop) {}

  // `above` is the stop of its parent's run.
  void start(const Session& session, Where where, const StopToken& above, Run run);
  bool is_live(const SessionId& child) const { return live_.contains(child); }
  bool is_beside(const SessionId& child) const;
  std::optional<int> run_of(const SessionId& child) const;
  std::optional<WallTime> deadline_of(const SessionId& child) const;
  void move_deadline(const SessionId& child, WallTime deadline) const;
  // The question that it waits with.
  std::optional<Question> question_of(const SessionId& child) const;
  // In the order of their start.
  std::vector<SessionId> live_of(const SessionId& parent) const;
  // The first that goes on beside its parent and will write to it: not one that waits for its answer.
  std::optional<SessionId> next_to_write_to(const SessionId& parent) const;

  // Until the child has ended, asks, or is sent away; from then on it goes on beside its parent, and what it
  // has to say comes by mail. Only for one that is live.
  Task<Met> meet(SessionId child);
  // False where no call waits for it.
  bool send_to_background(const SessionId& child);
  // Until it has ended or asks, or the stop. One that has been stopped has nothing to ask any more.
  Task<> watch(SessionId child, StopToken stop);
  bool is_watchable(const SessionId& child) const;  // whether that would wait at all

  // Puts a child's question to its parent. AnswerKind::nobody once `until` has come, or when stopped.
  Task<Answer> ask(Question question, StopToken stop);
  // Also before a child that was resumed has come to ask again. False where it has been settled.
  bool answer(const SessionId& child, const std::string& question_id, Answer answer);

  // The child alone, or with all below it: those first, the last started first.
  void stop(const SessionId& child, StopReason reason) const;
  void stop_below(const SessionId& parent, StopReason reason) const;
  // Stops all that its parent leaves behind, and waits for their ends. Who asks is left without an answer.
  Task<> end_all_of(SessionId parent);
  // Something to be done beside them, and waited for by join().
  void spawn(Task<> task) { group_.spawn(std::move(task)); }
  Task<> join() { return group_.join(); }

  // The mail of a running session; it is told what its children have to say.
  class Post {
   public:
    Post(Children& children, SessionId owner, const Conversation& so_far);
    ~Post();
    Post(const Post&) = delete;
    Mailbox& box() { return box_; }
    const SessionId& owner() const { return owner_; }

   private:
    Children& children_;
    SessionId owner_;
    Mailbox box_;
  };
  Mailbox* mailbox_of(const SessionId& owner) const;
  // Those that went on beside their parent at any time of its run.
  const std::set<SessionId>& left_by(const SessionId& parent) const;

 private:
  struct Child {
    RunId run;
    SessionId parent;
    std::optional<WallTime> deadline;
    StopSource stop;
    std::uint64_t order = 0;
    Where where = Where::awaited;
    bool sent_away = false;
    std::optional<Question> question = {};
    Waiter<Answer> answer = {};  // to that
    std::optional<Ended> ended = {};
    std::set<std::string> asked = {};          // ids, since this process began
    std::map<std::string, Answer> early = {};  // answers to what it will ask again
    std::vector<Waiter<bool>> watching = {};
    void changed();
    bool is_at_work() const { return !ended && (!question || stop.token().stopped()); }
  };
  Task<> drive(std::shared_ptr<Child> child, Run run);
  std::shared_ptr<Child> find(const SessionId& child) const;
  void forget(const SessionId& child);
  void go_beside(Child& child);
  Task<> mail_report(std::shared_ptr<Child> child);
  // In place of one that could not be.
  void mail_in_short(const Child& child);
  void mail_question(const Child& child);
  Mailbox* box_above(const Child& child) const;
  std::vector<std::shared_ptr<Child>> children_of(const SessionId& parent) const;

  Loop& loop_;
  Tell tell_;
  std::uint64_t started_ = 0;
  std::map<SessionId, std::shared_ptr<Child>> live_;
  // The same, in the order of their start: each step of a session asks for its own, in a tree of thousands.
  std::map<SessionId, std::map<std::uint64_t, std::shared_ptr<Child>>> by_parent_;
  std::map<SessionId, Mailbox*> boxes_;
  std::map<SessionId, std::set<SessionId>> left_;
  TaskGroup group_;
};

}  // namespace deputy
