// SQLite behind the smallest sensible wall: a connection, a prepared statement, a transaction. The only place
// that opens a database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace deputy {

// For who has one that cannot be opened.
inline constexpr std::string_view kStartAnew =
    "move it away (with its -wal and -shm files, and deputy.mark) to start anew, or restore a copy";
// One that was looked at, and not changed.
Error damaged_database(std::string_view path, std::string_view why);

// For a program that has the process to itself, before it opens any: SQLite does not count what it holds, as
// that takes a lock at every allocation. Once one was opened nothing changes.
void count_no_memory();

// Queries that were asked before: to compile one takes longer than to ask it.
class ReadyQueries;

class Statement {
 public:
  // Back to those that are ready, or gone where nobody keeps it.
  struct Return {
    std::weak_ptr<ReadyQueries> to;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Handle = std::unique_ptr<sqlite3_stmt, Return>;

  Statement() = default;
  Statement(sqlite3* database, Handle statement) : database_(database), statement_(std::move(statement)) {}

  // Parameters are numbered from 1 in the order they are bound.
  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view value);
  Statement& bind(const std::string& value) { return bind(std::string_view(value)); }
  Statement& bind(std::optional<std::int64_t> value);
  Statement& bind(const std::optional<std::string>& value);

  Result<bool> step();  // whether there is a row
  // Runs a statement that gives no rows, and makes it ready for the next use.
  Result<void> run();
  Result<int> run_counted();  // and says how many rows it has changed
  void reset();

  std::int64_t integer(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const;
  std::string text(int column) const;
  std::string_view text_until_next_step(int column) const;
  std::optional<std::string> maybe_text(int column) const;

 private:
  sqlite3* database_ = nullptr;
  Handle statement_;
  int bound_ = 0;
};

class Database {
 public:
  // To read only, also where the file is not as long as its first page says; or as it lies there, without a
  // look at its log and without a lock: then not even a file is made beside it. What is to be read only is
  // read as it lies where it has no log and nothing can be made beside it.
  enum class Mode { read_write, read_only, as_it_lies };
  // Synchronous FULL, five seconds of patience with others; the file stays as it is. One that is not a
  // database is Error::corrupt.
  static Result<Database> open(const std::string& path, Mode mode);

  Result<Statement> prepare(std::string_view sql) const;
  Result<void> execute(std::string_view sql) const;
  // The first column of the first row: 0 or empty where there is none.
  Result<std::int64_t> integer(std::string_view sql) const;
  Result<std::string> text(std::string_view sql) const;
  Result<void> check_pages() const;  // whether they fit together
  const std::string& path() const { return path_; }
  // The file itself, through SQLite: who opens and closes it beside SQLite lets go of the process's locks.
  Result<std::uint64_t> file_size() const;
  Result<std::string> file_bytes(std::uint64_t from, std::size_t most) const;
  // Another after each commit, whoever made it; those of two connections have nothing to do with each other.
  // To be asked outside of a transaction.
  std::optional<std::uint32_t> data_version() const;
  // What becomes of the log where this is the last one to close the database. It is left unless another thing
  // is said: what may be damaged is not touched.
  enum class AtClose { leave_log, write_back };
  void at_close(AtClose what) const;
  // For whoever finds another way past what is damaged: where it was met. Taken once, for all that was noted.
  void note_damage(std::string_view where) const { damage_.append(where).append("\n"); }
  bool has_met_damage() const { return !damage_.empty(); }
  std::string take_damage() const { return std::exchange(damage_, {}); }
  // Writes back of the log what nobody reads any more. Whether that was all of it: then it begins anew with
  // the next commit. An Error only where the disk failed: after that nothing may be written to it.
  Result<bool> write_back() const;
  // Keeps zeros behind the log's end, synced: half of so many pages at least, all of them where it has to
  // write. A commit that finds room there changes what is in the file and not how long it is, which a disk
  // syncs sooner. To SQLite they are what follows the end of a log. Nothing before this connection has
  // committed to it, and nothing where it cannot be written or another writes just now: that is not waited
  // for. An Error only where they could not be synced.
  Result<void> keep_room_in_log(int pages) const;
  // How long the log was after this connection's last commit, whoever wrote it.
  int log_pages() const { return *log_pages_; }

 private:
  Database(std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle, std::string path);
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // SQLite holds its address
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
  std::shared_ptr<ReadyQueries> ready_;  // goes before what they are asked of
  std::string path_;
  mutable std::string damage_;
};

// Rolled back when it dies without commit().
class Transaction {
 public:
  static Result<Transaction> begin(const Database& database);
  // For reads that have to see one state, whatever others commit between them.
  static Result<Transaction> begin_reading(const Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;
};

}  // namespace deputy
