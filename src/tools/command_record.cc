#include "tools/command_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "guard/display.h"
#include "sandbox/processes.h"

namespace deputy {
namespace {

constexpr std::size_t kMostOfRecord = 16 * 1024;
constexpr std::size_t kMostKnown = kMostKeptBack;  // their line is short enough then
constexpr std::size_t kMostLookedAt = 50'000;
constexpr std::size_t kMostNamed = 20;

}  // namespace

std::string command_record(const CallId& call) {
  return fmt::format("{}/{}.{}.{}.{}", kCommandRecords, call.run.session.value, call.run.number, call.step,
                     call.index);
}

Result<void> make_command_record(const Folder& state, const CallId& call,
                                 const std::optional<KnownRepositories>& known) {
  TRY(state.make_folder(kCommandRecords));
  const bool is_listed = known && known->digests.size() <= kMostKnown;
  return state.replace(command_record(call), is_listed ? to_line(*known) : "");
}

Result<std::optional<CommandRecord>> read_command_record(const Folder& state, const CallId& call) {
  const std::string name = command_record(call);
  auto text = state.read(name, 0, kMostOfRecord);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  if (!text) return std::unexpected(std::move(text).error());
  TRY(const auto file, state.status(name));
  const std::string_view first = std::string_view(*text).substr(0, text->find('\n'));
  CommandRecord record{parse_status(*text), known_in(first), file.modified};
  if (record.known && record.known->until && record.status.exit_status)
    record.known->until = std::min(*record.known->until, record.written + kGraceOfCommand);
  return record;
}

std::string told_of_files_since(const Folder& folder, WallTime since) {
  std::vector<std::string> names;
  std::size_t written = 0;
  std::size_t seen = 0;
  walk(folder, [&](const std::string& name, const Entry& entry) {
    if (++seen > kMostLookedAt) return Onward::stop;
    if (entry.name == ".git") return Onward::past;
    if (entry.status.kind != EntryKind::file || entry.status.modified < since) return Onward::into;
    if (++written <= kMostNamed) names.push_back(made_visible(name));
    return Onward::into;
  });
  if (written == 0 && seen <= kMostLookedAt) return "";
  return fmt::format("Files in the workspace that were written since it began, by it or by others: {}{}{}.",
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     written > names.size() ? fmt::format(" and {} more", written - names.size()) : "",
                     seen > kMostLookedAt ? " (not all files were looked at)" : "");
}

}  // namespace deputy
