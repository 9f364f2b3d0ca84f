// Gemini CLI: .gemini/agents/*.md.
#include <array>

#include "delegation/profile_formats.h"

namespace deputy {
namespace {

constexpr auto kWithoutMeaning =
    std::to_array<std::string_view>({"display_name", "mcp_servers", "mcpServers", "temperature"});

}  // namespace

Result<void> read_gemini_profile(const MarkdownProfile& file, ReadProfile& read) {
  if (!file.has_head)
    return fail(ErrorCode::invalid, "the file does not begin with front matter", "begin it with ---");
  if (file.is_list)
    return fail(ErrorCode::unavailable, "it is a list of remote agents, and those are not reached from here",
                "describe a local agent instead, one in a file");
  ProfileFields fields(file.head, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  name_by_its_head(read, name);
  TRY(const auto kind, fields.text("kind"));
  if (kind.value_or("local") != "local")
    return fail(ErrorCode::unavailable, "it is a remote agent, and those are not reached from here",
                "describe a local agent instead");
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto tools, fields.texts("tools"));
  tools ? add_tools(read, *tools) : add_all_tools(read);
  TRY(const auto model, fields.text("model"));
  profile.model = foreign_model(model.value_or(""), "gemini", read);
  TRY(profile.max_turns, fields.number("max_turns"));
  TRY(const auto minutes, fields.number("timeout_mins", "timeout"));
  if (minutes) {
    constexpr int kMostMinutes = 60 * 24 * 365;
    profile.timeout = *minutes > kMostMinutes ? kNoTimeout : Duration(std::chrono::minutes(*minutes));
  }
  profile.network = true;
  settle(read, std::nullopt);
  fields.ignore(kWithoutMeaning);
  fields.finish();
  return {};
}

}  // namespace deputy
