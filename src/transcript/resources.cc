#include "transcript/resources.h"

#include <algorithm>
#include <chrono>

namespace deputy {

std::map<SessionId, Resources> resources_of(const std::vector<Event>& events) {
  std::map<SessionId, Resources> all;
  for (const Event& event : events) {
    Resources& used = all[event.run.session];
    if (std::holds_alternative<CallFinished>(event.fact)) used.calls += 1;
    if (const auto* process = std::get_if<ProcessEnded>(&event.fact)) {
      used.processes += 1;
      used.cpu += process->cpu;
      used.memory = std::max(used.memory, process->memory);
    }
  }
  return all;
}

json::object to_json(const Resources& resources) {
  return {{"calls", resources.calls},
          {"processes", resources.processes},
          {"cpu_ms", std::chrono::duration_cast<std::chrono::milliseconds>(resources.cpu).count()},
          {"memory", resources.memory}};
}

}  // namespace deputy
