// git for the runtime's own use, on one repository: confined like every process, and so that nothing which
// the repository or the person has configured runs – no hook, filter, pager, editor, helper, signing program
// or external diff.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "base/disk.h"
#include "base/result.h"
#include "sandbox/processes.h"

namespace deputy {

class Git {
 public:
  // `folder` is the top of a work tree; `store`, where it is not a folder in it, the repository it belongs
  // to.
  Git(Processes& processes, const Folder& folder, std::string store = {})
      : processes_(processes), folder_(folder), store_(std::move(store)) {}

  // What it printed, without the last line break. Error::io where it failed, with what it said.
  Task<Result<std::string>> run(std::vector<std::string> arguments, StopToken stop);

 private:
  Task<Result<std::vector<std::string>>> without_filters(StopToken stop);
  Task<Result<std::string>> start(std::vector<std::string> arguments, StopToken stop);

  Processes& processes_;
  const Folder& folder_;
  std::string store_;
  std::optional<std::vector<std::string>> options_;  // that switch off the filters of this repository
};

}  // namespace deputy
