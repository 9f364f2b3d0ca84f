#include "delegation/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deputy {

namespace {

constexpr std::string_view kChildAsset = R"(
# How you work
You are a subagent: a parent agent handed you one task and sees only what you report. You cannot see its conversation.
Use the Note tool to record each important finding as soon as you have it. If your context fills up or you are stopped, your notes are what is
returned, so write them to be useful on their own.
When you are done, answer with your report as plain text and no tool call: the conclusion first, then what supports it, with file paths and line
numbers. Say plainly what you did not check.)";

constexpr std::string_view kParentAsset = R"(
# Delegating
Use Delegate for work that splits into independent parts: parallel exploration, separate points of view, an independent check. Two to four children
are usually right. Give each a task that does not overlap with the others, everything it needs to know, and the shape of the answer you want. Children
read but do not write. Treat their reports as advice: check what matters, reconcile what disagrees, and go on with what you have if one fails.)";

Profile reader() {
  return {
      .name = "reader",
      .description = "reads and searches; never writes, runs or delegates",
      .instructions =
          "You investigate a codebase or document collection with read-only tools and report what you find. "
          "You cannot change files or run commands. Cite what you rely on as path:line.",
      .tools = {"Read", "Grep", "Glob", "List", "Note"},
      .hidden = true,
      .reentrant = false};
}

Profile main_profile() {
  return {
      .name = "main",
      .description = "the person's own session",
      .instructions =
          "You are deputy, an agent in the person's terminal. Answer what is asked; look before you claim. "
          "Cite files as path:line.",
      .tools = {"Read", "Grep", "Glob", "List", "Delegate"},
      .hidden = true};
}

// The session that stands for what a person typed as a command.
Profile command_profile() {
  return {.name = "command",
          .description = "a command typed by the person",
          .tools = {"Delegate"},
          .driver = "command",
          .hidden = true};
}

bool delegates(const Profile& profile) {
  return std::ranges::find(profile.tools, "Delegate") != profile.tools.end();
}

}  // namespace

Profiles Profiles::built_in() {
  Profiles profiles;
  profiles.add(reader());
  profiles.add(main_profile());
  profiles.add(command_profile());
  return profiles;
}

void Profiles::add(Profile profile) {
  std::string name = profile.name;
  profiles_.insert_or_assign(std::move(name), std::move(profile));
}

Result<const Profile*> Profiles::find(std::string_view name) const {
  if (const auto found = profiles_.find(name); found != profiles_.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto* profile : offered()) names.push_back(profile->name);
  return fail(
      ErrorCode::not_found, fmt::format("agent '{}' is not declared", name),
      names.empty() ? "no agent is declared here" : fmt::format("declared: {}", fmt::join(names, ", ")));
}

std::vector<const Profile*> Profiles::offered() const {
  std::vector<const Profile*> found;
  for (const auto& [name, profile] : profiles_) {
    if (!profile.hidden) found.push_back(&profile);
  }
  return found;
}

std::string system_prompt(const Profile& profile, int depth) {
  std::string prompt = profile.instructions;
  if (delegates(profile)) prompt += std::string("\n") + std::string(kParentAsset);
  if (depth > 0) prompt += std::string("\n") + std::string(kChildAsset);
  return prompt;
}

}  // namespace deputy
