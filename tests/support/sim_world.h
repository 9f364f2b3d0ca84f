// The whole runtime in simulation. A SimWorld is what outlives a process: the disk and what the store made
// durable. A Life is one process in it: a loop shuffled by a seed, a runtime, and what it told its listeners.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "async/pool.h"
#include "async/sim_loop.h"
#include "base/disk.h"
#include "base/random.h"
#include "model/command.h"
#include "model/scripted.h"
#include "net/sim_network.h"
#include "runtime/runtime.h"
#include "sandbox/processes.h"
#include "store/memory_store.h"
#include "support/crashing_store.h"

namespace deputy {

struct SimWorld {
  SimWorld() : disk(*clock) {}
  std::unique_ptr<ManualClock> clock =
      std::make_unique<ManualClock>();  // stays where it is when a world is moved
  MemoryDisk disk;
  std::shared_ptr<MemoryStore::Memory> memory = std::make_shared<MemoryStore::Memory>();
  std::string script;                    // of the scripted model
  std::vector<std::string> model_calls;  // one log line each, over all lives

  void write_file(std::string_view path, std::string_view text);  // in the workspace
  std::vector<Session> sessions() const;                          // in order of creation
  const Session* session_labelled(std::string_view label) const;
  int terminal_records(const SessionId& id) const;
  // The sealed transcript of the session with this label; empty where it is not sealed.
  std::string transcript(std::string_view label) const;
};

class Life {
 public:
  struct Options {
    std::uint64_t seed = 1;
    CrashPoint crash;
    TreeLimits limits;
    Attendance attendance = Attendance::approves_all;
    std::function<std::unique_ptr<Provider>(Loop&)> model = {};  // besides the scripted one
    std::vector<Profile> profiles = {};                          // besides the built-in ones
    ReportBounds reports = {};
    ContextBounds context = {};
    std::optional<Duration> inbox_every = {};  // whether other processes can reach it
    std::function<std::unique_ptr<Bell>()> bell = {};
    std::vector<std::shared_ptr<Tool>> tools = {};  // besides our own
    bool has_web = false;  // whether there are web tools; the search service is https://search.example
    // In place of the world's own; then what the world says of sessions and events does not hold.
    std::function<std::unique_ptr<Store>(Loop&)> store = {};
    Pool* pool = nullptr;  // in place of one that works at once
    // What rode along last is kept, as where a process is not killed at the end of its tree.
    bool ends_in_order = false;
  };
  Life(SimWorld& world, Options options);
  ~Life();

  static constexpr std::string_view kWorkspace = "/work";
  RootBrief brief(std::string prompt) const;

  // Runs the loop until the tree has ended.
  Result<Report> start(RootBrief root);
  Result<Report> resume(const SessionId& root, std::optional<TreeLimits> terms = std::nullopt);
  Result<Report> say(const SessionId& root, NextInput input);  // to one that has ended
  // Calls `then` on the loop right after the n-th event (from 1) was published.
  void after_event(int n, std::function<void(Runtime&)> then);

  Runtime& runtime() { return *runtime_; }
  SimLoop& loop() { return loop_; }
  SimProcesses& processes() { return processes_; }
  SimNetwork& network() { return network_; }
  // What was recorded in it, which is what its listeners were told.
  std::span<const Event> events() const { return std::span(memory_->journal).subspan(recorded_before_); }
  bool crashed() const { return store_->crashed(); }
  int records() const { return store_->records(); }
  int late_records() const { return store_->late_records(); }
  std::size_t acknowledged() const { return store_->acknowledged(); }

 private:
  Result<Report> finish();

  SimLoop loop_;
  InlinePool pool_;
  SimProcesses processes_;
  SimNetwork network_;
  SeededRandom random_;
  CrashingStore* store_ = nullptr;
  bool ends_in_order_;
  std::shared_ptr<const MemoryStore::Memory> memory_;  // the world's
  std::size_t recorded_before_;
  int published_ = 0;
  std::map<int, std::function<void(Runtime&)>> after_;
  std::optional<Result<Report>> result_;
  std::unique_ptr<Runtime> runtime_;
};

// How many seeds a simulation tries: DEPUTY_SIM_SEEDS, or `otherwise`.
std::uint64_t simulation_seeds(std::uint64_t otherwise);

}  // namespace deputy
