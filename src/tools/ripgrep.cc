#include "tools/ripgrep.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMaxOutput = 8 * 1024 * 1024;
constexpr std::chrono::seconds kTimeLimit{30};
constexpr std::size_t kMaxSaid = 1000;
constexpr int kFound = 0;
constexpr int kNothingFound = 1;

constexpr std::string_view kRegexAdvice =
    "The pattern is a Rust regular expression matched line by line: put a backslash before ( ) [ ] { } . * + "
    "? ^ $ | to mean "
    "the character itself; look-around and back-references do not exist.";

std::vector<std::string> command(std::vector<std::string> options, Hidden hidden, const std::string& path) {
  std::vector<std::string> argv{"rg",    "--no-config",          "--color",
                                "never", "--no-ignore-messages", "--no-require-git"};
  std::ranges::move(options, std::back_inserter(argv));
  if (hidden == Hidden::search) argv.insert(argv.end(), {"--hidden", "--glob", "!.git"});
  argv.insert(argv.end(), {"--", path == "." ? "./" : "./" + path});
  return argv;
}

std::string what_it_said(const ProcessResult& result) {
  return bounded(to_utf8(trimmed(result.errors)), kMaxSaid).text;
}

ToolResult not_run(const Error& error) {
  if (error.code == ErrorCode::cancelled) return tool_error("The search was stopped.");
  if (error.code == ErrorCode::not_found) {
    return tool_error(
        "Searching needs ripgrep (rg), which is not installed here. Use List and Read instead.");
  }
  return tool_error(fmt::format("The search could not run: {}", to_text(error)));
}

ToolResult failed(const ProcessResult& result) {
  const std::string said = what_it_said(result);
  const bool is_about_regex = said.contains("regex") || said.contains("not allowed in");
  if (is_about_regex) return tool_error(fmt::format("{}\n{}", said, kRegexAdvice));
  return tool_error(fmt::format("The search failed (ripgrep, status {}): {}", result.exit_status,
                                said.empty() ? "it said nothing" : said));
}

}  // namespace

Task<std::expected<Searched, ToolResult>> run_ripgrep(std::vector<std::string> options, Hidden hidden,
                                                      ToolContext context) {
  for (const std::string& option : options) {
    if (option.contains('\0'))
      co_return std::unexpected(tool_error("A NUL byte cannot be searched for. Leave it out."));
  }
  ProcessSpec spec{.argv = command(std::move(options), hidden, context.target->place->name()),
                   .folder = context.target->root,
                   .enclosed = true,
                   .max_output = kMaxOutput,
                   .time_limit = kTimeLimit,
                   .aim = SandboxLevel::restricted};
  auto result = co_await context.processes.run(std::move(spec), context.stop);
  if (!result) co_return std::unexpected(not_run(result.error()));
  Searched searched{.output = std::move(result->output)};
  if (result->timed_out) {
    searched.warning =
        fmt::format("the search was ended after {} s and is not complete: narrow it by path, glob or pattern",
                    kTimeLimit.count());
    if (searched.output.empty()) co_return std::unexpected(tool_error(searched.warning));
  } else if (result->exit_status != kFound && result->exit_status != kNothingFound) {
    if (searched.output.empty()) co_return std::unexpected(failed(*result));
    searched.warning =
        fmt::format("not everything could be searched: {}", on_one_line(what_it_said(*result)));
  } else if (result->cut) {
    searched.warning = "there was more than could be taken in: narrow the search by path, glob or pattern";
  }
  co_return searched;
}

}  // namespace deputy
