#include "delegation/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "guard/tool_names.h"
#include "transcript/limits.h"

namespace deputy {

namespace {

constexpr std::size_t kMostWhy = 400;  // of what is wrong with a file, for the model

Profile reader() {
  return {
      .name = "reader",
      .description = "reads and searches; never writes, runs or delegates",
      .instructions =
          "You investigate a codebase or document collection with read-only tools and report what you find. "
          "You cannot change files or run commands. Cite what you rely on as path:line.",
      .tools = {"Read", "Grep", "Glob", "WebFetch", "WebSearch", "Note"},
      .max_turns = kUnlimited<int>,
      .timeout = kNoTimeout,
      .workspace = WorkspaceMode::read_only,
      .hidden = true,
      .web_is_approved = true};
}

Profile main_profile() {
  return {
      .name = "main",
      .description = "the person's own session",
      .instructions =
          "You are deputy, an agent in the person's terminal. Answer what is asked; look before you claim. "
          "Cite files as path:line.",
      .tools = {"Read", "Grep", "Glob", "List", "Edit", "Write", "NotebookEdit", "Bash", "WebFetch",
                "WebSearch", "Todo", "Delegate"},
      .subagents = {"*"},
      .network = true,
      .hidden = true};
}

Profile general() {
  return {.name = "general",
          .description = "any task of several steps: reads, writes and runs commands",
          .instructions =
              "You carry out one task from beginning to end with the tools you have. Look before you "
              "change, check what you changed, and report what you did and what you left.",
          .tools = {"Read", "Write", "Edit", "Glob", "Grep", "Bash", "Note"},
          .max_turns = 20,
          .kind = WorkKind::implementation,
          .network = true};
}

Profile explore() {
  return {
      .name = "explore",
      .description = "finds its way through code and explains it; changes nothing",
      .instructions =
          "You explore a codebase. Find the files that matter, read them, see how they hang together, and "
          "report it briefly with path:line for each claim. You change nothing.",
      .tools = {"Read", "Glob", "Grep", "List", "Note"},
      .max_turns = 15,
      .kind = WorkKind::research,
      .workspace = WorkspaceMode::read_only};
}

Profile planner() {
  return {
      .name = "planner",
      .description = "turns a task into a plan; carries nothing out",
      .instructions =
          "You plan. Look at what is there, break the task into concrete steps in order, name the files each "
          "step touches and what could go wrong. You carry nothing out.",
      .tools = {"Read", "Glob", "Grep", "List", "Todo", "Note"},
      .max_turns = 10,
      .kind = WorkKind::planning,
      .workspace = WorkspaceMode::read_only};
}

Profile researcher() {
  return {.name = "researcher",
          .description = "looks things up on the web and in documents",
          .instructions =
              "You research. Search, read the sources that matter, compare them, and report the essence with "
              "an address "
              "for each claim. Say where sources disagree.",
          .tools = {"WebFetch", "WebSearch", "Read", "Note"},
          .max_turns = 10,
          .kind = WorkKind::research,
          .workspace = WorkspaceMode::read_only};
}

Profile command_profile() {
  return {.name = std::string(kCommandAgent),
          .description = "a command typed by the person",
          .tools = {"Delegate"},
          .subagents = {"*"},
          .network = true,
          .driver = "command",
          .hidden = true};
}

}  // namespace

Profiles Profiles::built_in() {
  Profiles profiles;
  profiles.add(reader());
  profiles.add(main_profile());
  profiles.add(command_profile());
  for (auto& profile : {general(), explore(), planner(), researcher()}) profiles.add(profile);
  return profiles;
}

void Profiles::add(Profile profile) {
  std::string name = profile.name;
  profiles_.insert_or_assign(std::move(name), std::move(profile));
}

void Profiles::leave_out(const std::string& name, std::string_view why) {
  profiles_.erase(name);
  left_out_[name] = fmt::format("its file is broken: {}", shorten(on_one_line(why), kMostWhy));
}

std::string Profiles::why_left_out(std::string_view name) const {
  const auto found = left_out_.find(name);
  return found == left_out_.end() ? "" : found->second;
}

Result<const Profile*> Profiles::find(std::string_view name) const {
  if (const auto found = profiles_.find(name); found != profiles_.end()) return &found->second;
  if (const std::string why = why_left_out(name); !why.empty())
    return fail(ErrorCode::not_found, fmt::format("agent '{}' is not declared: {}", name, why),
                "mend it; `deputy agents check` tells where");
  std::vector<std::string> names;
  for (const auto* profile : offered()) names.push_back(profile->name);
  return fail(
      ErrorCode::not_found, fmt::format("agent '{}' is not declared", name),
      names.empty() ? "no agent is declared here" : fmt::format("declared: {}", fmt::join(names, ", ")));
}

std::vector<const Profile*> Profiles::declared_by(const Profile& profile) const {
  std::vector<const Profile*> found;
  for (const auto* each : offered()) {
    const bool is_declared = std::ranges::any_of(
        profile.subagents, [each](const std::string& name) { return name == "*" || name == each->name; });
    if (is_declared) found.push_back(each);
  }
  return found;
}

std::vector<const Profile*> Profiles::offered() const {
  std::vector<const Profile*> found;
  for (const auto& [name, profile] : profiles_) {
    if (!profile.hidden) found.push_back(&profile);
  }
  return found;
}

std::vector<std::string> unknown_tools(const Profile& profile) {
  std::vector<std::string> unknown;
  std::ranges::remove_copy_if(profile.tools, std::back_inserter(unknown), is_tool_name);
  return unknown;
}

}  // namespace deputy
