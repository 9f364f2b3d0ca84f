// git for the runtime's own use, on one repository: confined like every process, and so that nothing which
// the repository or the person has configured runs – no hook, filter, pager, editor, helper, signing program
// or external diff.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "base/disk.h"
#include "base/result.h"
#include "sandbox/processes.h"

namespace deputy {

using GitSetting = std::pair<std::string, std::string>;

// A filter is a program that a repository's configuration names for files that its attributes name. It is
// found by the name of its driver among the `names` of the configuration, one a line as git lists them, and
// set to nothing.
std::vector<GitSetting> filters_switched_off(std::string_view names);

class Git {
 public:
  // `store` is the repository's own folder, `git_dir` what belongs to this work tree: the same, or a folder
  // in it. Both are the runtime's knowledge: what stands in the work tree's own .git is not believed.
  Git(Processes& processes, const Folder& work_tree, std::string store, std::string git_dir)
      : processes_(processes),
        work_tree_(work_tree),
        store_(std::move(store)),
        git_dir_(std::move(git_dir)) {}

  // What it printed, without the last line break. Error::io where it failed, with what it said.
  Task<Result<std::string>> run(std::vector<std::string> arguments, StopToken stop);
  // The same for what only looks: it can write nowhere.
  Task<Result<std::string>> look(std::vector<std::string> arguments, StopToken stop);

 private:
  Task<Result<void>> switch_filters_off(StopToken stop);
  Task<Result<std::string>> start(std::vector<std::string> arguments, Access access, StopToken stop);

  Processes& processes_;
  const Folder& work_tree_;
  std::string store_;
  std::string git_dir_;
  std::optional<std::vector<GitSetting>> without_filters_;  // once known
};

}  // namespace deputy
