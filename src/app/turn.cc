#include "app/turn.h"

#include <fmt/format.h>

#include "async/sleep.h"

namespace deputy {

Task<Result<std::optional<FolderHold>>> take_turn(Loop& loop, std::shared_ptr<const Folder> folder,
                                                  StopToken stop) {
  constexpr std::chrono::milliseconds kBetweenTries{20};
  const TimePoint last = loop.clock().now() + kLongestTurn;
  for (;;) {
    auto turn = FolderHold::alone_at_once(*folder);
    if (turn) co_return turn;
    if (loop.clock().now() >= last) {
      co_return fail(ErrorCode::busy,
                     fmt::format("{} has been held by another process for {} seconds", folder->path(),
                                 kLongestTurn.count()),
                     "see which deputy is still at it (`fuser` names it), end it, and try again");
    }
    if (co_await sleep_for(loop, kBetweenTries, stop) == Slept::stopped)
      co_return std::unexpected(Error::cancelled());
  }
}

}  // namespace deputy
