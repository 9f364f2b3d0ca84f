// The machine that a tree runs on, and what goes wrong with it, by the ids of the corpus: its disk is full or
// fails now and then (env-02, env-03), no process can be started (env-07), a command never returns (tool-12)
// or is killed in its middle (tool-13). It knows what was done, whatever anybody was told of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chance_play.h"
#include "figures.h"
#include "support/sim_world.h"

namespace deputy {

class Machine {
 public:
  Machine(std::uint64_t seed, SimWorld& world);
  // Another process is there, and its disk is in order.
  void begin_life(Life& life);
  // For a while; at the latest until the process is gone.
  void disk_fails(Life& life);
  void no_process_starts(Life& life);

  // Whether what is told of a command or a write is what was done; empty where it is so.
  std::string fault_after(const Event& event);
  // What is amiss with the files of a tree that has ended. What could not be written may be missing, and that
  // it could not is told; nothing else may.
  std::string fault_of_files(const Store& store) const;
  // What is still amiss once the next process has begun.
  std::string fault_after_next_start();
  std::string fault_of_commands() const;

  const Figures& figures() const { return figures_; }

 private:
  enum class Disk { works, is_full, is_flaky };
  Result<void> change(std::string_view path);
  Result<void> start(Life& life);
  bool is_open(const Session& session) const;
  std::string fault_of_notes(const Session& session) const;
  std::string fault_of_write(const Call& call, const ToolResult& told);
  std::string fault_of_command(const Call& call, const ToolResult& told);

  SimWorld& world_;
  Chance chance_;
  Disk disk_ = Disk::works;
  std::string failing_;  // the folder beneath which it fails
  bool may_start_ = true;
  std::map<std::string, bool> marred_;  // exports that failed once; whether in this life
  std::map<std::string, int> effects_;  // how often each command was run
  std::map<SessionId, std::vector<Call>> calls_;
  Figures figures_;
};

}  // namespace deputy
