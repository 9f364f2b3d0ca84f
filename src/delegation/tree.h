// One tree of sessions: it admits children, gives them a place to run, starts or re-attaches them, and hands
// back their reports. A child is known by the call that made it, so asking for it twice, also after a crash,
// gives the same child: finished ones are never run again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "async/loop.h"
#include "async/pool.h"
#include "async/task_group.h"
#include "base/disk.h"
#include "base/random.h"
#include "delegation/admission.h"
#include "delegation/approval.h"
#include "delegation/background_children.h"
#include "delegation/budget.h"
#include "delegation/children.h"
#include "delegation/context_files.h"
#include "delegation/deadlines.h"
#include "delegation/profiles.h"
#include "delegation/report_desk.h"
#include "delegation/slots.h"
#include "delegation/workspaces.h"
#include "guard/rules.h"
#include "model/models.h"
#include "sandbox/processes.h"
#include "store/store.h"
#include "tools/asker.h"
#include "tools/connected_tools.h"
#include "tools/tool.h"
#include "transcript/brief.h"
#include "transcript/report.h"

namespace deputy {

// What a tree works with; all of it outlives the tree.
struct TreeServices {
  Loop& loop;
  Store& store;
  Pool& pool;
  const Disk& disk;
  Processes& processes;
  Random& random;
  const Models& models;
  const Profiles& profiles;
  Asker& asker;
  bool is_attended = false;    // a person is asked, and waited for
  Network* network = nullptr;  // nothing: no web tools
  ToolSettings tools = {};
  std::string home = {};                     // the person's, for rules written with ~
  std::vector<std::string> hidden = {};      // folders that no tool sees
  std::shared_ptr<const Folder> state = {};  // where long reports and the errors log are kept
  ReportBounds reports = {};
  ContextBounds context = {};  // of the files that come with a task
  // What the commands of a session print, as it comes. May be empty.
  std::function<void(const Session&, std::string_view)> output = {};
  // What there is to see of a reply while it is under way. May be empty.
  std::function<void(const Session&, const Delta&)> deltas = {};
};

struct RootBrief {
  std::string agent = "main";
  Brief brief;
  ModelName model;
  std::string workspace;  // absolute path
  Rules rules;
  bool network = false;                             // whether commands may have one
  std::optional<int> sandbox_level = std::nullopt;  // what commands are confined to here
};

// What a person says to a session that has ended.
struct NextInput {
  std::string text;
  ModelName model = {};  // from now on; empty: as before. Calls already made keep theirs
  std::optional<TreeLimits> terms = std::nullopt;  // other limits than it was started with
  RunTask task = RunTask::reply;                   // the others take no text
};

// A child as one of the delegation tools wants it.
struct Delegation {
  DelegationKey key;
  const Session& parent;
  ModelName model;  // of the call
  std::string agent;
  Brief brief;
  int index = 0;  // in its batch
  int total = 1;
  std::optional<int> max_turns = std::nullopt;  // lowers the profile's, never raises it
  std::optional<Duration> timeout = std::nullopt;
  bool background = false;  // its parent goes on beside it from the start
};

// Another run of a child that has ended.
struct Resumption {
  SessionId child;
  int run = 2;  // the number of that run: asking for it twice gives the same run
  const Session& parent;
  std::string prompt;
  Children::Where where = Children::Where::awaited;
  std::optional<int> max_turns = std::nullopt;     // of this run; lowers the session's, never raises it
  std::optional<Duration> timeout = std::nullopt;  // of this run; nothing: as long as the session was given
};

// The report of a child that never came to be.
Report report_of_refusal(const Delegation& delegation, const Error& error);
// That of one whose context files cannot be had, whatever is wrong with them.
Report report_without_context(const Delegation& delegation, const Error& error);

// Whether the session is offered task_completion: every child but those of a batch, unless their profile
// demands it.
bool may_report(const Session& session, const Profile& profile);
RunLimits limits_of(const Session& session, const Profile& profile, const Provider& provider,
                    std::int64_t prefix_tokens, const TreeLimits& tree);

// How long a stopped session may take to its end: then that is recorded for it.
inline constexpr Duration kEndTime = std::chrono::seconds(10);

class Tree {
 public:
  Tree(TreeServices services, TreeLimits limits);
  ~Tree();

  // Starts a new tree, or goes on with the one a dead process left. An Error means that no report could be
  // recorded.
  Task<Result<Boxed<Report>>> start(RootBrief root, StopToken stop);
  // `terms` are other limits than it was started with.
  Task<Result<Boxed<Report>>> resume(SessionId root, std::optional<TreeLimits> terms, StopToken stop);
  // A root that has ended begins another run.
  Task<Result<Boxed<Report>>> say(SessionId root, NextInput input, StopToken stop);
  // Waits for what went on although its session was ended by force. Then the tree may be destroyed.
  Task<> leave() { return runs_.join(); }

  // Runs the child to its end, or attaches to it where it exists already. Every failure is a Report, a
  // refusal too.
  Task<Report> delegate(Delegation delegation, StopToken stop);
  bool has_child(const DelegationKey& key) const;
  // Why the child would not be let in now; nothing for one that would, or is there already.
  std::optional<Error> refusal_of(const Delegation& delegation);
  // The same for a run of a child that has ended; nothing for one that has begun already.
  std::optional<Error> refusal_of(const Resumption& resumption);
  // The error says that the parent has none of that id.
  Result<Session> own_child(const SessionId& parent, const SessionId& id) const;
  // What the child would run on, for the person who is asked about it. One that would be refused is told as
  // its call wants it.
  PlannedChild planned(const Delegation& delegation) const;
  // The child runs, or has run, when they return; meet() tells what comes of it. The error is why there is
  // none.
  Task<Result<SessionId>> start_child(Delegation delegation, StopToken stop);
  Task<Result<SessionId>> resume_child(Resumption resumption, StopToken stop);
  // For the call that is about to resume it, until it has. An error where it runs, or another call is.
  Result<std::shared_ptr<const void>> prepare_to_resume(const SessionId& child);
  // Until the child has ended, asks, or is sent to the background.
  Task<Children::Met> meet(const Session* parent, SessionId child, StopToken stop);
  // Until the child has ended or asks, or `until` has come: nothing is taken from it.
  Task<> watch(SessionId parent, SessionId child, std::optional<TimePoint> until, StopToken stop);
  Result<Report> report_of_ended(const SessionId& child) const;
  // Goes on with a child that a process before this one left; one that runs is left alone. `in_batch` is for
  // one that had no place to run yet.
  void take_up_child(const Session& child, Children::Where where, const StopToken& stop,
                     const RunStarted& in_batch = {});
  int run_of(const SessionId& child) const;

  // `session` outlives the call.
  Task<Answer> ask_parent(const Session* session, Question question, StopToken stop);
  // A message that the session reads between two steps; durable when it returns.
  Task<Result<void>> nudge(SessionId to, Nudged nudge);
  void nudge_soon(const SessionId& to, Nudged nudge);
  // Stops a session and all below it, those first. False where it does not run.
  bool cancel(const SessionId& session, StopReason reason);
  Children& running() { return running_; }
  // What was heard of replies that are still under way, for a unit that is just recorded.
  std::vector<Event> take_heard();

  const Budget& budget() const { return *budget_; }
  int places_taken() const { return slots_->running(); }

  const Models& models() const { return services_.models; }
  const Profiles& profiles() const { return services_.profiles; }
  const Store& store() const { return services_.store; }
  WallTime now() const { return services_.loop.clock().wall(); }
  const SessionId& id() const { return id_; }
  ReportDesk& reports() { return reports_; }
  const ContextBounds& context_bounds() const { return services_.context; }
  Task<> log_errors(SessionId session, Report report);

 private:
  // What a session waits for; of several, as its calls may have them, the first is the one on record.
  struct OpenWait {
    std::string what;  // the id of the child, or of the question
    StateChanged told;
  };
  // A session that is running here, and its place; while it waits it has none.
  struct Work;
  struct Live {
    std::optional<Slots::Place> place;
    std::vector<OpenWait> waits;
    bool is_in_line = false;  // a call of its has come back from its wait, and takes a place for all
    std::optional<WallTime> told_at = {};  // when its state was last told beside its questions
    Budget::Hold first;                    // for its first request, until that is made
    Work* work = nullptr;                  // while that goes on
  };
  struct Leaving;
  struct Run;
  // What all sessions of one profile, model and set of rules share.
  struct Kit {
    std::shared_ptr<const RequestPrefix> prefix;
    std::int64_t prefix_tokens = 0;
    std::shared_ptr<const Toolbox> toolbox;
    Provider* provider = nullptr;
  };
  struct Equipment {
    const Profile* profile;
    Kit kit;
    std::shared_ptr<const Folder> workspace;
  };
  // What leads to a run, to be overseen once there is a place for it; to nothing where the session has ended
  // by then, and its report is on record. What is handed by value to a task stays in the frame of who waits
  // for it, as long as it takes: so none of what a run begins with is awaited while it lasts.
  using Beginning = std::move_only_function<Task<Result<std::shared_ptr<Run>>>(StopToken)>;

  Result<std::vector<Event>> claim(SessionId id);
  Result<void> take_up(Session& root, const std::vector<Event>& events,
                       const std::optional<TreeLimits>& terms);
  std::optional<TreeLimits> other_limits(const Session& root) const;
  Result<std::optional<Event>> unrecorded_request(const Session& session);
  // Counts the child and reserves for its first request, or refuses it. `further` is what one that has ended
  // is told to go on with.
  Result<Budget::Hold> admit(const Session& parent, const Profile& profile, const Session& child,
                             std::string_view further);
  SessionId unused_id() const;
  std::optional<WallTime> deadline_after(const std::optional<Duration>& timeout) const;
  // Since when its time has stood still, where a process before this one left it.
  WallTime when_left(const SessionId& id) const;
  // Its time stood still until now.
  void skip_downtime(Session& session) const;
  // What is recorded of a deadline: where the root was started with a limit of time, its own is on record
  // under that one, since another holds only while this process runs it.
  std::optional<WallTime> on_record(const SessionId& id, const std::optional<WallTime>& deadline) const;
  Result<Session> root_session(const RootBrief& root) const;
  // The child before it has a name: enough to tell whether it may be let in.
  Result<Session> unnamed_child(const Delegation& delegation, const Profile& profile) const;
  Result<Session> child_session(const Delegation& delegation, const Profile& profile) const;
  Result<Kit> kit_for(const Session& session, const Profile& profile);
  Task<Result<std::string>> workspace_above(Session session) const;
  // What a session may reach beside its workspace.
  std::vector<const Folder*> roots_of(const SessionId& session);
  Result<std::vector<std::shared_ptr<Tool>>> tools_for(const Profile& profile, const Session& session);
  // Also what ran it, so that it may run again.
  bool has_ended(const Session& session) const;
  // Whether a question of the session goes to the person: there is no agent above it.
  bool asks_person(const Session& session) const;
  Task<Report> complete(Session session, Report report);
  Task<Report> with_its_work(Session session, Report report);
  Task<> end_children_of(SessionId id);

  // Records it for the session, once however often and by whomever its letter is acted on.
  Task<Result<void>> take_in(Session session, Nudged nudge);
  Task<> nudge_and_forget(SessionId to, Nudged nudge);

  class SessionMail;
  class PatientAsker;
  std::unique_ptr<Mail> mail_of(const Session& session, Mailbox& box);
  Task<Result<void>> take_up_children(std::map<RunId, bool> children, Children::Post& post, StopToken stop);
  OpenWait wait_for(const SessionId& child) const;
  // A session that waits gives its place back and takes one again afterwards.
  void rest(const Session& session, OpenWait wait);
  // It goes on with that wait, but for another child.
  void tell_wait_anew(const Session& session, std::string_view what, const SessionId& child);
  // The question itself is on record, unless it was asked before a restart.
  Task<> rest_with_question(Session session, Question question);
  Task<> work_again(Session session, std::string what, StopToken stop);
  // It rides along, so the record may still say something else when another of its calls looks there; but
  // not for long, though nothing else may be recorded until its model or a child has something to say.
  void tell_state(const Session& session, const StateChanged& state);
  void record_soon();
  void record_what_rides();
  // What it still waits for, where that is not on record any more.
  void tell_first_wait(const Session& session);
  // A question of its is answered without anybody being waited for: what it does is what its other calls do,
  // which the question had hidden. It rides along with the answer.
  void tell_settled(const Session& session);
  // A parent that waits for others too waits for one of those from now on.
  void pass_wait_on(const Session& ending);

  Result<Session> claimed_root(const SessionId& id, const std::optional<TreeLimits>& terms = std::nullopt);
  // What the run that these end with was given in place of the session's own.
  Result<void> check_model(const SessionId& root) const;
  Result<void> check_history(const SessionId& root, RunTask task) const;
  static Session as_started(Session session, const std::vector<Event>& events);
  Task<Result<Boxed<Report>>> to_its_end(Session root, Beginning begin);
  // Whatever breaks on the way, the run has one report, and its end is on record where the session is.
  Task<Result<Boxed<Report>>> to_a_report(RunId id, Beginning begin, StopToken stop);
  Task<Result<Boxed<Report>>> end_broken(RunId id, Error error);
  void start_running(const Session& child, Children::Where where, const StopToken& above, Beginning begin);
  // The fact that a session was made, for it to be known before there is a place for it.
  std::vector<Event> created(const Session& session) const;
  // All that leads to a run is handed the session's ticket, taken before anything is waited for: so places go
  // by the order in which sessions were started.
  Task<Result<std::shared_ptr<Run>>> begin(Session session, RunStarted started, Source source,
                                           Budget::Hold admitted, Slots::Ticket ticket, StopToken stop);
  // A further run of a root, or the first of a session that was recorded before there was a place for it.
  Task<Result<std::shared_ptr<Run>>> begin_run(Session session, RunStarted started, std::string input,
                                               Budget::Hold admitted, Slots::Ticket ticket, StopToken stop);
  Task<Result<std::shared_ptr<Run>>> go_on(Session session, RunStarted in_batch, Slots::Ticket ticket,
                                           StopToken stop);
  // What was asked of it while nobody ran it comes before its model is asked again.
  Task<> heed_letters(Session session);
  // Before another run of one that has ended: what was asked of the last is not asked of it.
  void discard_letters(const SessionId& session);
  // A run whose start and input are on record, once there is a place for it. Its time has stood still since
  // `still_since`.
  Task<Result<std::shared_ptr<Run>>> run_on(Session session, WallTime still_since, Budget::Hold admitted,
                                            Slots::Ticket ticket, StopToken stop);
  // The same where its start and input ride along: it is told only what is on record.
  Task<Result<std::shared_ptr<Run>>> run_once_told(Session session, WallTime still_since,
                                                   Budget::Hold admitted, Slots::Ticket ticket,
                                                   StopToken stop);
  // Others are to see now that it waits for a place: what that could ride along with may be long in coming.
  Task<Result<void>> stand_in_line(Session session);
  StateChanged in_line(const Session& session) const;
  // Nothing where it is stopped before there is one, or none comes free for kLongestSilence.
  Task<std::optional<Slots::Place>> place_to_begin(Slots::Ticket ticket, StopToken stop);
  static Finish no_place();
  Task<Result<std::shared_ptr<Run>>> end_in_line(Session session, Finish finish);
  static StateChanged now_running() { return {SessionState::running, ""}; }
  std::shared_ptr<Run> new_run(Session&& session, std::unique_ptr<Conversation> so_far,
                               std::optional<Slots::Place> place, Budget::Hold admitted, StopToken stop);
  void tell_moved(const RunId& run, const std::optional<WallTime>& deadline);
  void end_clock_of(const SessionId& id);
  // Until the run ends, or has to be ended by force.
  Task<Result<Boxed<Report>>> oversee(std::shared_ptr<Run> run);
  Task<> drive(std::shared_ptr<Run> run);
  void force_after(const std::shared_ptr<Run>& run, Duration patience);
  Task<Result<Boxed<Report>>> end_by_force(std::shared_ptr<Run> run);
  // Nothing where it cannot run: then its end is on record.
  Task<Result<std::optional<Equipment>>> equip(std::shared_ptr<Run> run);
  Task<Result<Boxed<Report>>> run_session(std::shared_ptr<Run> run);
  // By itself: it may have been ended by force meanwhile, and then has its end on record.
  enum class Ending { in_order, by_itself, by_force };
  Task<Result<Boxed<Report>>> record_end(Session session, Finish finish, Ending ending = Ending::in_order);

  TreeServices services_;
  TreeLimits limits_;
  SessionId id_;
  std::unique_ptr<Budget> budget_;
  Deadlines deadlines_;
  std::optional<WallTime> left_at_;            // when the process before this one recorded its last
  std::map<SessionId, WallTime> still_since_;  // the time of those that it left
  struct OtherTerms {                          // the root's deadline when it was taken up
    WallTime recorded;
    std::optional<WallTime> real;
  };
  std::optional<OtherTerms> other_terms_;  // than the limit of time that it was started with
  BackgroundCommands background_;
  std::vector<std::shared_ptr<Tool>> tools_;
  std::vector<std::shared_ptr<Tool>> approved_web_;  // of a batch that the person has approved
  std::map<std::string, Kit> kits_;
  Workspaces workspaces_;
  ReportDesk reports_;
  std::unique_ptr<Slots> slots_;
  std::map<SessionId, Live> live_;
  std::vector<SessionId> heard_;  // said something since take_heard() last asked them
  std::map<SessionId, std::vector<SessionId>> children_;
  std::set<DelegationKey> delegated_;     // whose children there are
  std::set<SessionId> left_;              // by a process before this one, and not taken up again
  std::optional<StopSource> root_stop_;   // from its start
  std::set<SessionId> lost_;              // ended by force, and something of them goes on
  std::set<SessionId> to_be_resumed_;     // by a call that is about to
  std::set<std::string> being_taken_in_;  // nudges whose record is under way
  std::set<SessionId> nudged_early_;      // before there was a mailbox
  std::optional<TimerId> to_record_;      // what rides along, where nothing else did
  bool is_over_ = false;                  // nothing runs any more that would be waited for
  BackgroundChildren beside_;
  Children running_;
  TaskGroup runs_;
};

}  // namespace deputy
