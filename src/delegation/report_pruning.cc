#include "delegation/report_pruning.h"

#include <algorithm>

#include "base/text.h"

namespace deputy {

namespace {

bool is_old(const FileStatus& status, WallTime now) { return now - status.modified > kReportsKept; }

bool is_old_report(const Entry& file, WallTime now) {
  return file.status.kind == EntryKind::file && is_old(file.status, now);
}

// The folders of readers; none where there are no reports yet.
Result<std::vector<std::string>> readers_in(const Folder& state) {
  std::vector<std::string> readers;
  if (!state.status(kReports)) return readers;
  TRY(const auto entries, state.list(kReports));
  for (const Entry& entry : entries)
    if (entry.status.kind == EntryKind::folder) readers.push_back(join_path(kReports, entry.name));
  return readers;
}

Result<void> prune_folder(const Folder& state, const std::string& reader, WallTime now) {
  TRY(const auto files, state.list(reader));
  bool is_empty = true;
  for (const Entry& file : files) {
    const bool goes = is_old_report(file, now);
    if (goes) TRY(state.remove(join_path(reader, file.name)));
    is_empty = is_empty && goes;
  }
  if (is_empty) (void)state.remove(reader);  // unless a report has come to lie there just now
  return {};
}

}  // namespace

Result<void> prune_errors_log(const Folder& state, WallTime now) {
  for (const auto name : {kErrorsLog, kOldErrorsLog}) {
    const auto status = state.status(name);
    if (status && is_old(*status, now)) TRY(state.remove(name));
  }
  const auto log = state.status(kErrorsLog);
  if (log && log->size > kLongLog) return state.rename(kErrorsLog, kOldErrorsLog);
  return {};
}

Result<bool> has_old_reports(const Folder& state, WallTime now) {
  TRY(const auto readers, readers_in(state));
  for (const std::string& reader : readers) {
    TRY(const auto files, state.list(reader));
    if (files.empty() || std::ranges::any_of(files, [now](auto& file) { return is_old_report(file, now); }))
      return true;
  }
  return false;
}

Result<void> prune_reports(const Folder& state, WallTime now, const std::set<SessionId>& unfinished) {
  std::set<std::string> kept;
  for (const SessionId& id : unfinished) kept.insert(join_path(kReports, safe_file_name(id.value)));
  TRY(const auto readers, readers_in(state));
  for (const std::string& reader : readers)
    if (!kept.contains(reader)) TRY(prune_folder(state, reader, now));
  return {};
}

}  // namespace deputy
