// What kind of agent a session is: instructions, tools and scalar defaults. Immutable once loaded. An absent
// scalar is inherited.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "transcript/ids.h"

namespace deputy {

struct Profile {
  std::string name;
  std::string description;
  std::string instructions;
  std::vector<std::string> tools;
  std::vector<std::string> subagents;  // the profiles it may delegate to
  std::optional<ModelName> model;
  std::optional<int> max_turns;
  std::optional<int> max_output_tokens;
  std::optional<Duration> timeout;
  std::string
      driver;  // the provider that plays the profile in place of its model; empty for all but commands
  bool hidden = false;     // not offered to models
  bool reentrant = false;  // may stand twice on one path
};

}  // namespace deputy
