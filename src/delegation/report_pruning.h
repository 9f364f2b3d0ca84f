// Where long reports and the errors log lie in the state folder, and what is taken away of them: seven days
// after its last change, but nothing that was handed to a session which has not ended. A log that has grown
// long is put aside for a new one. Safe beside processes that write there.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "transcript/ids.h"

namespace deputy {

inline constexpr std::string_view kErrorsLog = "errors.jsonl";
inline constexpr std::string_view kOldErrorsLog = "errors.old.jsonl";
inline constexpr std::string_view kReports = "reports";  // with a folder for each reader

inline constexpr auto kReportsKept = std::chrono::days(7);
inline constexpr std::uint64_t kLongLog = 4 * 1024 * 1024;

Result<void> prune_errors_log(const Folder& state, WallTime now);
// Whether there is anything to prune: who knows the unfinished sessions has to look at all there ever were.
Result<bool> has_old_reports(const Folder& state, WallTime now);
Result<void> prune_reports(const Folder& state, WallTime now, const std::set<SessionId>& unfinished);

}  // namespace deputy
