// What a SqliteStore stands on, and the half of it that writes: used by the store's writer alone once the
// queue runs, except for what claim() and release() do, with `claims` held. Only the files of SqliteStore
// include this.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/disk_mark.h"
#include "store/commit_queue.h"
#include "store/sqlite/as_claimed.h"
#include "store/sqlite/damage_met.h"
#include "store/sqlite/database.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/session_rows.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tree_locks.h"
#include "store/transcript_files.h"

namespace deputy {

struct SqliteStore::State {
  struct Parts {
    std::unique_ptr<Folder> home;
    Database writing;
    Database reading;
    TreeLocks locks;
    DiskMark mark;
    std::unique_ptr<TranscriptFiles> files;
    std::optional<Loss> loss = {};
  };
  State(Loop& loop, Parts parts, std::unique_ptr<StoreWriter> writer)
      : clock(loop.clock()),
        home(std::move(parts.home)),
        writing(std::move(parts.writing)),
        reading(std::move(parts.reading)),
        locks(std::move(parts.locks)),
        mark(std::move(parts.mark)),
        files(std::move(parts.files)),
        loss(std::move(parts.loss)),
        queue(
            loop, std::move(writer),
            [this](const EventRefs& events) { return closing.after_write(commit(events)); },
            [this] { return closing.after_write(tend()); }, [this] { return tell(); }) {
    queue.subscribe([this](const Event& event) { as_claimed.forget(event.run.session); });
  }

  // What others commit between two reads is not seen.
  template <class Read>
  std::invoke_result_t<Read> in_one_state(Read read) const {
    TRY(const auto one_state, Transaction::begin_reading(reading));
    return read();
  }
  bool can_write() const { return (!loss || !loss->only_to_read) && mark.can_be_written(); }
  Result<void> check_disk() const;      // by any thread
  Result<void> check_writable() const;  // by the loop
  // For who does not hold `claims`, and waits for it only where there is damage to be kept as it was found.
  template <class T>
  Result<T> noticed(Result<T> result, const Database& met_by, std::string_view name = kWholeDatabase) {
    if (!met_by.has_met_damage() && (result || result.error().code != ErrorCode::corrupt)) return result;
    const std::lock_guard lock(claims);
    return damage.kept_as_found(std::move(result), met_by, name);
  }
  Result<void> commit(const EventRefs& events);
  Result<void> commit(Transaction& transaction);
  Result<void> write(const EventRefs& events);
  Result<void> tend();
  bool tell();
  Result<void> tend_log();
  Result<void> record_stop(const Error& error);
  Result<std::vector<Event>> take_up(const SessionId& tree);
  void let_go(const SessionId& tree);  // also what could not be taken up
  Result<std::int64_t> next_epoch(const SessionId& tree);
  Result<void> check_epoch(const SessionId& tree);
  Result<SessionRow> row_before(const Event& event);
  Result<void> put_or_change(SessionRow& row);
  bool has_untold() const { return !untold.empty() || !left.empty(); }
  void forget_untold() {
    untold.clear();
    left.clear();
  }
  void write_transcripts();
  void write_a_transcript();
  bool reopen_transcript(const Event& event);
  const Clock& clock;
  std::unique_ptr<Folder> home;
  Database writing;
  Database reading;
  DamageMet damage{*home};  // guarded by `claims`
  // Goes after all who use them, and so needs no lock for what it says to them.
  struct Closing {
    const Database& writing;
    const Database& reading;
    const DamageMet& damage;
    bool has_claimed = false;
    std::atomic<bool> has_disk_failed = false;  // the loop writes too: epochs and letters
    // What a failed sync has lost can be read for a while, and would be written back as if it were there.
    template <class T>
    Result<T> after_write(Result<T> written) {
      if (!written && written.error().code == ErrorCode::io) has_disk_failed = true;
      return written;
    }
    ~Closing() {
      const bool writes_back = has_claimed && damage.is_none() && !has_disk_failed;
      const auto what = writes_back ? Database::AtClose::write_back : Database::AtClose::leave_log;
      writing.at_close(what);
      reading.at_close(what);
    }
  } closing{writing, reading, damage};
  TreeLocks locks;
  DiskMark mark;                // see kHowFar
  std::set<SessionId> holding;  // on the loop
  AsClaimed as_claimed;         // and this too
  std::unique_ptr<TranscriptFiles> files;
  std::optional<Loss> loss;
  std::mutex claims;  // guards what follows, and files, against the loop while the writer works
  std::map<SessionId, std::int64_t> claimed;
  std::map<SessionId, EventRefs> untold;  // what was committed and is not in the transcripts yet
  // Whose transcripts may lack what was committed before the claim; that comes before what is untold.
  std::map<SessionId, std::shared_ptr<const Claimed>> left;
  std::map<SessionId, SessionRow>
      live;                     // rows of sessions that have not ended, so that a step need not read its row
  int written_back_at = 0;      // pages of the log, where not all could be
  bool has_spare_room = false;  // as far as it could be had
  std::optional<Statement> insert_event;
  std::optional<Statement> select_epoch;
  std::optional<Statement> select_far;
  std::optional<Statement> put_row;
  std::optional<Statement> change_row;
  CommitQueue queue;
};

}  // namespace deputy
