// A turn at a file that several processes may change, in a folder that is marked meanwhile: none loses what
// another wrote.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "sandbox/folder_hold.h"

namespace deputy {

// Waits for who is at it, so long at most: then ErrorCode::busy. Nothing where a folder cannot be marked.
inline constexpr std::chrono::seconds kLongestTurn{5};
Task<Result<std::optional<FolderHold>>> take_turn(Loop& loop, std::shared_ptr<const Folder> folder,
                                                  StopToken stop);

}  // namespace deputy
