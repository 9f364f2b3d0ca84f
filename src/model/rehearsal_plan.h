// From the words of a brief to what the rehearsal model will do about it. Pure: the same prompt gives the
// same plan. No tool, no conversation and no file is known here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

enum class Inquiry {
  survey,      // what is here
  unfinished,  // what is unfinished
  risky,       // what is large or risky
  mentions,    // where the prompt's own words stand
};

struct Plan {
  Inquiry inquiry = Inquiry::survey;
  std::vector<std::string> terms;  // most telling first; empty unless it looks for mentions
  std::vector<std::string> files;  // what the prompt names as files; they may not exist
  bool operator==(const Plan&) const = default;
};

Plan plan_for(std::string_view prompt);

struct RehearsalTask {
  std::string label;
  std::string prompt;
};

// The three of `deputy demo`: what is here, what is unfinished, what is large or risky.
std::vector<RehearsalTask> demo_tasks();
// What a root hands down for a prompt that is general or asks for it; none where one agent had better do it
// alone.
std::vector<RehearsalTask> tasks_for(std::string_view prompt);

// A regular expression that finds any of the terms as they stand, from the beginning of a word on.
std::string pattern_for(const std::vector<std::string>& terms);

}  // namespace deputy
