// What seeds came to, for figures that show that the simulation simulates.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace deputy {

enum class Figure : std::size_t {
  sessions,
  lives,
  deaths,
  events,
  cancels,
  questions,
  compactions,
  retries,
  waits,
  jumps,
  timeouts,
  unanswered,
  failing_disks,
  failed_changes,
  sealed_later,
  refused_starts,
  hung_commands,
  killed_commands,
  told_truly,
};

class Figures {
 public:
  std::uint64_t& operator[](Figure figure) { return counts_[static_cast<std::size_t>(figure)]; }
  void operator+=(const Figures& more) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.counts_[i];
  }
  // The first that never came to be; empty where there is none.
  std::string_view missing() const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) return kNames[i];
    }
    return {};
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", with_thousands(counts_[i]), kNames[i]);
    return all;
  }

 private:
  static constexpr std::array<std::string_view, 19> kNames{
      "sessions",
      "lives",
      "deaths at a record",
      "events",
      "cancels",
      "questions to the person",
      "compactions",
      "attempts paid for in vain",
      "waits looked at",
      "jumps of the wall clock",
      "ends of time held to what was granted",
      "questions that ran out of time",
      "disks that failed for a while",
      "changes of files that failed",
      "transcripts sealed by the next start",
      "processes that could not be started",
      "commands that never returned",
      "commands killed in their middle",
      "results of commands and writes held to what was done",
  };
  static_assert(kNames.size() == static_cast<std::size_t>(Figure::told_truly) + 1);
  std::array<std::uint64_t, kNames.size()> counts_{};
};

}  // namespace deputy
