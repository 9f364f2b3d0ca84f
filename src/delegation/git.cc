#include "delegation/git.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kOptions[] = {"core.hooksPath=/dev/null", "core.fsmonitor=false",
                                         "core.pager=cat",           "core.editor=true",
                                         "diff.external=",           "commit.gpgSign=false",
                                         "protocol.allow=never",     "core.sshCommand=false",
                                         "credential.helper=",       "gc.auto=0",
                                         "maintenance.auto=false",   "core.quotePath=false",
                                         "submodule.recurse=false",  "core.attributesFile=/dev/null",
                                         "merge.renormalize=false",  "core.untrackedCache=false"};

constexpr std::size_t kMostOutput = std::size_t{8} << 20;

}  // namespace

Task<Result<std::string>> Git::start(std::vector<std::string> arguments, StopToken stop) {
  ProcessSpec spec{.argv = {"git", "--git-dir=" + git_dir_, "--work-tree=" + work_tree_.path()},
                   .folder = &work_tree_,
                   .folder_access = Access::write,
                   .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                   {"HOME", "/nonexistent"},
                                   {"LANG", "C.UTF-8"},
                                   {"GIT_CONFIG_NOSYSTEM", "1"},
                                   {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                   {"GIT_TERMINAL_PROMPT", "0"},
                                   {"GIT_OPTIONAL_LOCKS", "0"},
                                   {"GIT_AUTHOR_NAME", "deputy"},
                                   {"GIT_AUTHOR_EMAIL", "deputy@localhost"},
                                   {"GIT_COMMITTER_NAME", "deputy"},
                                   {"GIT_COMMITTER_EMAIL", "deputy@localhost"}},
                   .max_output = kMostOutput,
                   .aim = SandboxLevel::restricted};
  spec.roots.push_back({store_, Access::write});
  for (const auto option : kOptions) {
    spec.argv.emplace_back("-c");
    spec.argv.emplace_back(option);
  }
  for (auto& argument : arguments) spec.argv.push_back(std::move(argument));
  CO_TRY(auto result, co_await processes_.run(std::move(spec), std::move(stop)));
  if (result.cut) co_return fail(ErrorCode::exhausted, "git printed more than can be taken");
  if (result.timed_out) co_return fail(ErrorCode::timeout, "git took too long");
  if (result.exit_status != 0) {
    co_return fail(ErrorCode::io,
                   fmt::format("git failed: {}", shorten(on_one_line(to_utf8(result.errors)), 300)));
  }
  while (result.output.ends_with('\n')) result.output.pop_back();
  co_return std::move(result.output);
}

// A filter is a program that the repository's configuration names for files that its attributes name. It is
// found by the name of its driver, and set to nothing.
Task<Result<std::vector<std::string>>> Git::without_filters(StopToken stop) {
  CO_TRY(const auto names, co_await start({"config", "--includes", "--name-only", "--list"}, stop));
  std::set<std::string> drivers;
  for (const auto line : lines_of(names)) {
    constexpr std::string_view kFilter = "filter.";
    const std::size_t last = line.rfind('.');
    if (line.starts_with(kFilter) && last > kFilter.size())
      drivers.emplace(line.substr(kFilter.size(), last - kFilter.size()));
  }
  std::vector<std::string> options;
  for (const auto& driver : drivers) {
    for (const auto part : {"smudge=", "clean=", "process=", "required=false"}) {
      options.emplace_back("-c");
      options.push_back(fmt::format("filter.{}.{}", driver, part));
    }
  }
  co_return options;
}

Task<Result<std::string>> Git::run(std::vector<std::string> arguments, StopToken stop) {
  if (!options_) {
    CO_TRY(options_, co_await without_filters(stop));
  }
  std::vector<std::string> all = *options_;
  for (auto& argument : arguments) all.push_back(std::move(argument));
  co_return co_await start(std::move(all), std::move(stop));
}

}  // namespace deputy
