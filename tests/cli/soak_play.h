// What the trees of the soak do, and the server behind which they do it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "support/fault_server.h"

namespace deputy {

inline constexpr int kChildren = 64;
inline constexpr int kSteps = 15;                           // of each child; it may take 20
inline constexpr std::string_view kRootTask = "ROOT-TASK";  // and, behind it, what makes a tree another one
inline constexpr std::string_view kAllIsDone = "all is done";

std::string note_of(int child, int step);
std::string file_of(int child);

// What may become of a request.
enum class Wrong { nothing, reset, cut_off, failed, dripped, turned_down };

// One in six goes wrong, and one in 480 is turned down: that makes all others slow for ten seconds, so that
// more of them would leave a tree hardly anything else to do.
Wrong wrong_by(std::uint64_t chance);

// Each request may go wrong when it first comes, never when it comes again.
class GoingWrong {
 public:
  // For so long the model thinks, and that long the processes would last that commands leave behind.
  GoingWrong(std::chrono::milliseconds thinking, int lasting_seconds)
      : thinking_(thinking), lasting_seconds_(lasting_seconds) {}
  FaultProgram answer(const std::string& request);
  std::atomic<int> requests = 0;
  std::atomic<int> faults = 0;

 private:
  Wrong chance_of(const std::string& request);

  const std::chrono::milliseconds thinking_;
  const int lasting_seconds_;
  std::mutex mutex_;
  std::mt19937_64 chance_{1};
  std::set<std::size_t> seen_;
};

}  // namespace deputy
