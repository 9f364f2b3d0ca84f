// The interactive interface over a runtime. Keys, events and the clock go into its state, what that wants is
// done, what it shows is drawn; what it means is decided in tui/. The screen is an ordinary one again at the
// end, however that comes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine.h"
#include "app/failure.h"
#include "app/program.h"
#include "app/signals.h"
#include "tui/line.h"

namespace deputy {

struct ChatRequest {
  RootBrief root;  // its prompt is what the person types first
  Engine::Parts engine;
  std::vector<Line> greeting;
  std::optional<std::string> resume;  // what it begins with
};

Ended run_chat(Program& program, Signals& signals, ChatRequest request);

}  // namespace deputy
