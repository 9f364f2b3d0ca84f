#include "delegation/git.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"

namespace deputy {
namespace {

// The first ones run programs, the others hide changes or make git go into the repositories below.
const GitSetting kSettings[] = {{"core.hooksPath", "/dev/null"},
                                {"core.fsmonitor", "false"},
                                {"core.pager", "cat"},
                                {"core.editor", "true"},
                                {"core.sshCommand", "false"},
                                {"core.attributesFile", "/dev/null"},
                                {"credential.helper", ""},
                                {"diff.external", ""},
                                {"commit.gpgSign", "false"},
                                {"gc.auto", "0"},
                                {"maintenance.auto", "false"},
                                {"merge.renormalize", "false"},
                                {"core.quotePath", "false"},
                                {"core.untrackedCache", "false"},
                                {"core.ignoreStat", "false"},
                                {"core.trustctime", "true"},
                                {"core.checkStat", "default"},
                                {"sparse.expectFilesOutsideOfPatterns", "false"},
                                {"status.submoduleSummary", "false"},
                                {"submodule.recurse", "false"},
                                {"diff.submodule", "short"},
                                {"diff.ignoreSubmodules", "dirty"}};

constexpr std::size_t kMostOutput = std::size_t{8} << 20;

}  // namespace

std::vector<GitSetting> filters_switched_off(std::string_view names) {
  constexpr std::string_view kFilter = "filter.";
  std::set<std::string_view> drivers;
  for (const auto line : lines_of(names)) {
    const std::size_t last = line.rfind('.');
    // A driver may have no name at all, and attributes that name it so.
    if (line.starts_with(kFilter) && last >= kFilter.size())
      drivers.insert(line.substr(kFilter.size(), last - kFilter.size()));
  }
  std::vector<GitSetting> settings;
  for (const auto driver : drivers) {
    for (const auto part : {"smudge", "clean", "process"})
      settings.emplace_back(fmt::format("filter.{}.{}", driver, part), "");
    settings.emplace_back(fmt::format("filter.{}.required", driver), "false");
  }
  return settings;
}

Task<Result<std::string>> Git::start(std::vector<std::string> arguments, Access access, StopToken stop) {
  ProcessSpec spec{.argv = {"git", "--git-dir=" + git_dir_, "--work-tree=" + work_tree_.path()},
                   .folder = &work_tree_,
                   .folder_access = access,
                   .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                   {"HOME", "/nonexistent"},
                                   {"LANG", "C.UTF-8"},
                                   {"GIT_CONFIG_NOSYSTEM", "1"},
                                   {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                   {"GIT_TERMINAL_PROMPT", "0"},
                                   {"GIT_OPTIONAL_LOCKS", "0"},
                                   {"GIT_ALLOW_PROTOCOL", "none"},
                                   {"GIT_NO_LAZY_FETCH", "1"},
                                   {"GIT_AUTHOR_NAME", "deputy"},
                                   {"GIT_AUTHOR_EMAIL", "deputy@localhost"},
                                   {"GIT_COMMITTER_NAME", "deputy"},
                                   {"GIT_COMMITTER_EMAIL", "deputy@localhost"}},
                   .max_output = kMostOutput,
                   .aim = SandboxLevel::restricted};
  spec.roots.push_back({store_, access});
  // By the environment, not by -c, which takes the first "=" for the end of a name: a name may have one too.
  std::size_t count = 0;
  const auto set = [&](const GitSetting& setting) {
    spec.environment.emplace(fmt::format("GIT_CONFIG_KEY_{}", count), setting.first);
    spec.environment.emplace(fmt::format("GIT_CONFIG_VALUE_{}", count), setting.second);
    ++count;
  };
  for (const auto& setting : kSettings) set(setting);
  if (without_filters_) {
    for (const auto& setting : *without_filters_) set(setting);
  }
  spec.environment.emplace("GIT_CONFIG_COUNT", std::to_string(count));
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

Task<Result<void>> Git::switch_filters_off(StopToken stop) {
  if (without_filters_) co_return Result<void>{};
  CO_TRY(const auto names,
         co_await start({"config", "--includes", "--name-only", "--list"}, Access::read, stop));
  without_filters_ = filters_switched_off(names);
  co_return Result<void>{};
}

Task<Result<std::string>> Git::run(std::vector<std::string> arguments, StopToken stop) {
  CO_TRY(co_await switch_filters_off(stop));
  co_return co_await start(std::move(arguments), Access::write, std::move(stop));
}

Task<Result<std::string>> Git::look(std::vector<std::string> arguments, StopToken stop) {
  CO_TRY(co_await switch_filters_off(stop));
  co_return co_await start(std::move(arguments), Access::read, std::move(stop));
}

}  // namespace deputy
