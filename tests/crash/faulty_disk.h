// A disk beneath SQLite that obeys a test: it fails at a chosen operation, holds no more than so many bytes,
// or forgets what was not synced, as a power cut does. It never really syncs, so it is quick.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace deputy {

class FaultyDisk {
 public:
  FaultyDisk();  // SQLite's own disk, as long as it lives; one at a time
  ~FaultyDisk();

  // From now on the n-th write, sync or truncation (from 1) gives this code of SQLite's; all after it too
  // where it `stays`.
  void fail_at(int n, int code, bool stays);
  // Room for so many bytes, the files that `others` names included.
  void set_room(std::uint64_t bytes, std::vector<std::filesystem::path> others);
  void heal();
  // Called once, by who syncs a log next, before it does.
  void in_next_log_sync(std::function<void()> then) { in_next_log_sync_ = std::move(then); }
  int operations() const { return operations_; }  // since fail_at() or heal()
  bool has_failed() const { return has_failed_; }
  bool is_full() const;  // whether it failed for want of room, at a chosen operation
  bool is_dead() const { return has_failed_ && stays_; }
  // The syncs of a database's log that went well since then, by their number among the operations.
  struct LogSyncs {
    std::vector<int> of_commits;
    std::vector<int> of_room;  // of nothing but zeros behind them
    std::vector<int> others;   // of its header, or of nothing new, before it is written back
  };
  const LogSyncs& log_syncs() const { return log_syncs_; }
  // Whether the first to fail was a sync of a log, and how often a log was written or synced since.
  bool has_failed_to_sync_log() const { return has_failed_to_sync_log_; }
  int uses_of_log_since() const { return uses_of_log_since_; }

  // Once no file is open: what a failed sync was to bring to the disk is not there, all else is.
  void lose_memory();
  // Once it is dead and no file is open: what was not synced by then is there or not, whole or torn or
  // garbage, as chance wills.
  void cut_power(std::mt19937_64& chance);

  // For the functions that SQLite calls.
  struct Change {
    std::int64_t offset = 0;
    std::string bytes;
    bool truncates = false;
  };
  struct File {
    std::string synced;
    std::vector<Change> since;
    std::vector<Change> dropped;  // by syncs that failed
  };
  enum class Kind { write, sync, truncation };
  int next_operation(const std::string& path, Kind kind);
  void begin_sync(const std::string& path);
  void note_sync(const std::string& path, const std::vector<Change>& brought);
  int room_for(const std::string& path, std::int64_t end);
  File* file_at(const std::string& path);
  void track(const std::string& path);
  void forget(const std::string& path) { files_.erase(path); }

 private:
  std::map<std::string, File> files_;
  int operations_ = 0;
  int fail_at_ = 0;
  int code_ = 0;
  bool stays_ = false;
  bool has_failed_ = false;
  LogSyncs log_syncs_;
  bool has_failed_to_sync_log_ = false;
  int uses_of_log_since_ = 0;
  std::uint64_t room_ = 0;  // 0: endless
  std::vector<std::filesystem::path> others_;
  std::function<void()> in_next_log_sync_;
};

}  // namespace deputy
