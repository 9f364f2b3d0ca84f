// What is done with reports on their way up: an artifact that is not there is struck, one that is too long
// for its reader is kept whole in a file beside, and what went wrong is written to the errors log. Files lie
// in the state folder: errors.jsonl, and reports/{reader}/ for the reports that one session was handed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "async/pool.h"
#include "base/disk.h"
#include "delegation/batch_report.h"
#include "store/journal.h"
#include "transcript/session.h"

namespace deputy {

// Bytes of long reports and texts for one reader; past that a report is still kept, another text not.
inline constexpr std::uint64_t kMostKept = std::uint64_t{128} << 20;

class ReportDesk {
 public:
  struct Services {
    Loop& loop;
    Pool& pool;
    const Journal& journal;               // knows what must not be kept as it is
    std::shared_ptr<const Folder> state;  // nothing: nothing is kept
    ReportBounds bounds = {};
    std::uint64_t most_kept = kMostKept;
  };
  explicit ReportDesk(Services services) : services_(std::move(services)) {}

  // What the session `reader` is told of a child's report, or of a batch.
  Task<std::string> told(SessionId reader, Report report);
  // One of several: in at most so many bytes.
  Task<std::string> told(SessionId reader, Report report, std::size_t most);
  Task<std::string> told(SessionId reader, std::vector<Report> reports, BatchLayout layout);

  // The most that told() says, for a tool's bound: never reached, since a cut there would name no file.
  std::size_t most_of_one() const { return services_.bounds.report_bytes + kHeadings; }
  std::size_t most_of_batch() const { return services_.bounds.batch_bytes + kHeadings; }

  // Keeps another text that is too long for `reader` in a file beside, and says where; nothing where that was
  // not possible, or where there is no room left for it.
  Task<std::optional<std::string>> keep(SessionId reader, std::string name, std::string text);

  // The folder with the long reports and texts that `reader` was handed, so that it can read them; nothing
  // while there are none.
  std::vector<const Folder*> roots_of(const SessionId& reader);

  // The report without the artifacts that are neither in the workspace nor in a root beside it; each is named
  // among its errors.
  Task<Report> checked(Report report, std::shared_ptr<const Folder> workspace,
                       std::vector<const Folder*> roots);

  // One line for each error. `command` is what the person had started.
  Task<> log(Report report, std::string command);

 private:
  static constexpr std::size_t kHeadings = 64 * 1024;  // and the paths of what was spilled
  // Where the whole report is kept now; nothing where that was not possible.
  Task<std::optional<std::string>> spill(SessionId reader, Report report);
  Task<std::optional<std::string>> write(SessionId reader, std::string name, std::string text);

  Services services_;
  std::map<SessionId, std::shared_ptr<const Folder>> spilled_;
};

// The lines of the errors log for a report that ended now.
std::string error_lines(const Report& report, std::string_view command, WallTime now);

}  // namespace deputy
