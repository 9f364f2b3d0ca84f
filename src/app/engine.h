// The runtime as this program has it: on the system's randomness, threads and processes. In the order in
// which it may be taken down again.
#pragma once

#include <memory>

#include "app/program.h"
#include "runtime/runtime.h"

namespace deputy {

// Who answers questions, by the flags and the terminal.
Attendance attendance_of(const Program& program);

struct Engine {
  struct Parts {
    TreeLimits limits;
    ToolSettings tools;
    Models models;
    Profiles profiles;
    std::unique_ptr<Store> store;
    bool holds_last = false;  // for a chat
  };
  Engine(Program& program, Parts parts);

  // How far commands are confined here, as it was learnt at an earlier start or now; a new root session,
  // where there is one, records it, and its children after it.
  Task<> find_out_level(Program& program, RootBrief* root);

  // Sees to what dead processes left in the state folder and what has grown old there, off the way of
  // whatever runs. What cannot be done now waits for the next start; the journal has it all.
  Task<> see_to_leftovers(Program& program, StopToken stop);
  Task<> prune_what_is_old(Program& program);

  SystemRandom random;
  ThreadPool pool;
  SystemProcesses processes;
  Runtime runtime;
};

}  // namespace deputy
