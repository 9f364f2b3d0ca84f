#include "delegation/report_pruning.h"

#include "base/text.h"

namespace deputy {

namespace {

bool is_old(const FileStatus& status, WallTime now) { return now - status.modified > kReportsKept; }

Result<void> prune_log(const Folder& state, WallTime now) {
  for (const auto name : {kErrorsLog, kOldErrorsLog}) {
    const auto status = state.status(name);
    if (status && is_old(*status, now)) TRY(state.remove(name));
  }
  const auto log = state.status(kErrorsLog);
  if (log && log->size > kLongLog) return state.rename(kErrorsLog, kOldErrorsLog);
  return {};
}

Result<void> prune_folder(const Folder& reports, const std::string& reader, WallTime now) {
  TRY(const auto files, reports.list(reader));
  bool is_empty = true;
  for (const Entry& file : files) {
    const bool goes = file.status.kind == EntryKind::file && is_old(file.status, now);
    if (goes) TRY(reports.remove(join_path(reader, file.name)));
    is_empty = is_empty && goes;
  }
  if (is_empty) (void)reports.remove(reader);  // unless a report has come to lie there just now
  return {};
}

}  // namespace

Result<void> prune_reports(const Folder& state, WallTime now, const std::set<SessionId>& unfinished) {
  TRY(prune_log(state, now));
  if (!state.status(kReports)) return {};
  std::set<std::string> kept;
  for (const SessionId& id : unfinished) kept.insert(safe_file_name(id.value));
  TRY(const auto reports, state.open_folder(kReports));
  TRY(const auto readers, reports->list("."));
  for (const Entry& reader : readers) {
    if (reader.status.kind == EntryKind::folder && !kept.contains(reader.name))
      TRY(prune_folder(*reports, reader.name, now));
  }
  return {};
}

}  // namespace deputy
