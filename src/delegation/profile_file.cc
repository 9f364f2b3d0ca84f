#include "delegation/profile_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "delegation/profile_formats.h"

namespace deputy {
namespace {

Result<void> read_markdown(ProfileFormat format, const MarkdownProfile& file, std::string_view stem,
                           ReadProfile& read) {
  if (!file.not_yaml.empty())
    read.warnings.push_back(
        {0, fmt::format("{}; this is not YAML, so it was read line by line", file.not_yaml)});
  read.profile.instructions = file.body;
  switch (format) {
    case ProfileFormat::claude:
      return read_claude_profile(file, read);
    case ProfileFormat::opencode:
      return read_opencode_profile(file, stem, read);
    case ProfileFormat::gemini:
      return read_gemini_profile(file, read);
    default:
      return read_deputy_profile(file, stem, read);
  }
}

Result<void> read_file(ProfileFormat format, std::string_view text, std::string_view stem,
                       ReadProfile& read) {
  if (format == ProfileFormat::codex) {
    TRY(const auto file, read_toml_profile(text));
    return read_codex_profile(file, stem, read);
  }
  TRY(const auto file, read_markdown_profile(text));
  return read_markdown(format, file, stem, read);
}

Error as_one(std::vector<Error> mistakes) {
  if (mistakes.size() == 1) return std::move(mistakes.front());
  std::vector<std::string> lines;
  ErrorCode code = ErrorCode::invalid;
  for (const auto& each : mistakes) {
    if (each.code == ErrorCode::unavailable) code = each.code;
    lines.push_back(to_text(each));
  }
  return {code, fmt::format("{}", fmt::join(lines, "\n")), ""};
}

}  // namespace

std::string_view name_of(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::deputy:
      return "deputy";
    case ProfileFormat::claude:
      return "Claude Code";
    case ProfileFormat::opencode:
      return "opencode";
    case ProfileFormat::gemini:
      return "Gemini CLI";
    case ProfileFormat::codex:
      return "Codex";
  }
  return "deputy";
}

Result<ReadProfile> read_profile(ProfileFormat format, std::string_view text, std::string_view stem) {
  ReadProfile read;
  TRY(read_profile(format, text, stem, read));
  return read;
}

Result<void> read_profile(ProfileFormat format, std::string_view text, std::string_view stem,
                          ReadProfile& read) {
  keep_mistake(read, read_file(format, text, stem, read));
  if (!read.mistakes.empty()) {
    std::ranges::move(read.no_tools, std::back_inserter(read.mistakes));
    return std::unexpected(as_one(std::move(read.mistakes)));
  }
  if (read.profile.instructions.empty()) read.warnings.push_back({0, "it has no instructions"});
  return {};
}

}  // namespace deputy
