// The façade for surfaces and for programs that embed deputy: start, resume, say, answer, nudge, cancel,
// subscribe. Every
// call may be made from any thread and returns at once; what it leads to happens on the loop. Several
// runtimes may live in one process: there is no global state.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "async/loop.h"
#include "async/pool.h"
#include "async/task_group.h"
#include "base/disk.h"
#include "base/random.h"
#include "delegation/admission.h"
#include "delegation/profiles.h"
#include "delegation/question_desk.h"
#include "delegation/tree.h"
#include "model/models.h"
#include "runtime/bell.h"
#include "sandbox/processes.h"
#include "store/store.h"
#include "tools/connected_tools.h"
#include "transcript/event.h"

namespace deputy {

class Runtime {
 public:
  // The seams it stands on outlive it.
  struct Parts {
    Loop& loop;
    Pool& pool;
    const Disk& disk;
    Processes& processes;
    Random& random;
    std::unique_ptr<Store> store;
    Models models;
    Profiles profiles = Profiles::built_in();
    Network* network = nullptr;  // nothing: no web tools
    std::shared_ptr<const Folder> state =
        nullptr;  // for long reports and the errors log; nothing: none are kept
  };
  struct Options {
    TreeLimits limits;
    Attendance attendance = Attendance::nobody;
    ToolSettings tools = {};
    std::string home = {};                 // the person's, for rules written with ~
    std::vector<std::string> hidden = {};  // folders that no tool sees: the state folder
    ReportBounds reports = {};
    ContextBounds context = {};
    // How often the inbox is looked into; nothing: no other process can reach these trees.
    std::optional<Duration> inbox_every = std::nullopt;
    // For each tree; with one it is looked into only when that has rung. Empty, or nothing: all the time.
    std::function<std::unique_ptr<Bell>()> bell = {};
    // The tree that ran last stays held when it has ended: a person talks to it, and nobody else may.
    bool holds_last = false;
  };
  Runtime(Parts parts, Options options);
  ~Runtime();

  // Called on the loop, once, when the tree has ended; an Error means that no report could be recorded.
  using Done = std::move_only_function<void(Result<Report>)>;
  void start(RootBrief root, Done done);
  // `terms`: other limits than it was started with, for as long as this process runs it.
  void resume(SessionId root, Done done, std::optional<TreeLimits> terms = std::nullopt);
  // A root that has ended goes on with a further input.
  void say(SessionId root, NextInput input, Done done);
  // On the loop, where nothing runs: the tree is held in place of the one before, as if it had run last. All
  // that it holds; Error::busy, naming the holder, where another process has it.
  Result<std::vector<Event>> hold(const SessionId& root);
  // The person's answer, to whoever asks.
  void answer(std::string question_id, Answer answer);
  // Stops everything that runs. StopReason::shutdown leaves it to be resumed.
  void cancel(StopReason reason);
  // Stops one session and all below it, children first. What does not run is left as it is.
  void cancel(SessionId session, StopReason reason);
  // The person's word to a running session, read between two steps.
  void nudge(SessionId session, std::string text);
  // The parent of a child that it waits for goes on beside it.
  void send_to_background(SessionId child);

  // Told of every event, in order, on the loop. Before start() or resume().
  using Listener = std::function<void(const Event&, const EventOrigin&)>;
  void subscribe(Listener listener);

  // What the commands of a session print while they run, on the loop. Kept nowhere: what it came to is in the
  // call's result.
  using OutputListener = std::function<void(const SessionId&, const EventOrigin&, std::string_view)>;
  void subscribe_output(OutputListener listener);

  // What there is to see of a reply while it is under way, on the loop. The reply is in its event; what was
  // heard of one that is cut off by a crash is kept as far as something was recorded meanwhile.
  using DeltaListener = std::function<void(const SessionId&, const Delta&)>;
  void subscribe_deltas(DeltaListener listener);

  // Looks through what dead children left in a workspace, and names the work that was kept.
  Task<Result<std::vector<std::string>>> clean_workspace(std::string path);

  // Waits on the loop until all trees have ended; then the runtime may be destroyed.
  Task<> close();

  // How many sessions of all trees have a place to run; on the loop.
  int places_taken() const;

  const Store& store() const { return *parts_.store; }
  const Models& models() const { return parts_.models; }
  const Profiles& profiles() const { return parts_.profiles; }

 private:
  Task<> run_tree(std::function<Task<Result<Boxed<Report>>>(Tree&, StopToken)> run, Done done);
  TreeServices services();
  // On the loop, for each tree that runs.
  void with_trees(std::function<void(Tree&)> act);
  void publish(const Event& event);
  // Lets go of the one that was held before.
  void keep_held(const SessionId& tree);

  Parts parts_;
  Options options_;
  QuestionDesk desk_;
  std::vector<Listener> listeners_;
  std::vector<OutputListener> output_listeners_;
  std::vector<DeltaListener> delta_listeners_;
  std::map<SessionId, EventOrigin> origins_;
  std::set<Tree*> running_;
  SessionId held_;    // while nothing of it runs
  int taken_up_ = 0;  // by hold()
  TaskGroup trees_;
};

}  // namespace deputy
