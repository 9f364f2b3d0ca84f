// The tools that reach beyond the workspace: commands and the web. What is not there is not offered: no web
// without a network, no search without a service.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "net/network.h"
#include "tools/background_commands.h"
#include "tools/bash.h"
#include "tools/search_engine.h"
#include "tools/tool.h"

namespace deputy {

// What the person has settled.
struct ToolSettings {
  std::optional<SearchSettings> search;
  BashPolicy bash;
  std::vector<std::shared_ptr<const Folder>> roots = {};  // what every session may reach beside its workspace
  // Of whoever embeds the runtime, for profiles that name them (mcp__server__tool): ours win a name clash.
  std::vector<std::shared_ptr<Tool>> further = {};
  // What stands in for one of our own that works on the workspace, commands or the web: for a replay. May be
  // empty.
  std::function<std::shared_ptr<Tool>(std::shared_ptr<Tool>)> played = {};

  std::vector<const Folder*> root_folders() const {
    std::vector<const Folder*> folders;
    for (const auto& root : roots) folders.push_back(root.get());
    return folders;
  }
};

struct ToolServices {
  BackgroundCommands& background;
  Network* network = nullptr;
  ToolSettings settings = {};
  BackgroundWork* children = nullptr;  // what else a session may have running beside it
  BackgroundBounds told = {};
};

// Bash, Todo, and what a session does with its background work (task_status, task_cancel, task_message).
std::vector<std::shared_ptr<Tool>> command_tools(const ToolServices& services);
// WebFetch and WebSearch. `by_default` is what holds where no rule speaks: ask, or allow where the person has
// approved the whole batch.
std::vector<std::shared_ptr<Tool>> web_tools(const ToolServices& services, Decision by_default);

}  // namespace deputy
