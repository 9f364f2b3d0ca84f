#include "tools/connected_tools.h"

#include "tools/task_tools.h"
#include "tools/todo.h"
#include "tools/web_fetch.h"
#include "tools/web_search.h"

namespace deputy {

std::vector<std::shared_ptr<Tool>> command_tools(const ToolServices& services) {
  std::vector<BackgroundWork*> background{&services.background};
  if (services.children) background.push_back(services.children);
  return {std::make_shared<BashTool>(services.background, services.settings.bash),
          std::make_shared<TaskStatusTool>(background, services.told),
          std::make_shared<TaskCancelTool>(background, services.told),
          std::make_shared<TaskMessageTool>(background), std::make_shared<TodoTool>()};
}

std::vector<std::shared_ptr<Tool>> web_tools(const ToolServices& services, Decision by_default) {
  std::vector<std::shared_ptr<Tool>> tools;
  if (!services.network) return tools;
  tools.push_back(std::make_shared<WebFetchTool>(*services.network, by_default));
  if (services.settings.search)
    tools.push_back(
        std::make_shared<WebSearchTool>(*services.network, *services.settings.search, by_default));
  return tools;
}

}  // namespace deputy
