#include "store/sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <new>

#include "base/text.h"

namespace deputy {

namespace {

int note_log_pages(void* log_pages, sqlite3*, const char*, int pages) {
  *static_cast<int*>(log_pages) = pages;
  return SQLITE_OK;
}

bool is_want_of_room(int number) { return number == ENOSPC || number == EDQUOT || number == EFBIG; }

constexpr std::string_view kCheckTheDisk =
    "check the disk; what was recorded before is whole, go on with `deputy resume`";

Error full_error(std::string_view path) {
  return {ErrorCode::exhausted, fmt::format("cannot write {}: database or disk is full", path),
          "free some disk space"};
}

Error error_of(sqlite3* database, const std::string& path) {
  int code = sqlite3_errcode(database);
  const std::string said = sqlite3_errmsg(database);
  // Its log and its shared memory do not say what they lack.
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && is_want_of_room(sqlite3_system_errno(database)))
    code = SQLITE_FULL;
  switch (code) {
    case SQLITE_FULL:
      return full_error(path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::denied, fmt::format("cannot write {}: {}", path, said),
              "make the folder writable, or choose another with --home"};
    case SQLITE_CANTOPEN:
      return {ErrorCode::denied, fmt::format("cannot open {}: {}", path, said),
              "check that the folder exists and is writable, or choose another with --home"};
    case SQLITE_ERROR:  // the statements are ours: where one does not fit, the tables are not
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {ErrorCode::corrupt, fmt::format("{} is damaged: {}", path, said), std::string(kStartAnew)};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::internal, fmt::format("{}: {}", path, said),
              "this is a bug in deputy: please report it with `deputy sessions export`"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::busy, fmt::format("{} is in use: {}", path, said), "try again in a moment"};
    default:
      return {ErrorCode::io, fmt::format("{}: {}", path, said), std::string(kCheckTheDisk)};
  }
}

std::string path_of(sqlite3* database) {
  const char* name = sqlite3_db_filename(database, "main");
  return name && *name ? name : "the database";
}

constexpr int kPatienceMs = 5000;

// What has a meaning in one is written as a number.
std::string uri_of(std::string_view path) {
  std::string uri = "file:";
  for (const char byte : path) {
    if (byte == '?' || byte == '#' || byte == '%') {
      uri += fmt::format("%{:02x}", byte);
    } else {
      uri += byte;
    }
  }
  return uri;
}

// SQLite makes files beside a database that keeps a log, also for who reads it: in a folder that cannot be
// written it then opens none. Where there is no log, the file has everything.
bool can_only_be_read_as_it_lies(sqlite3* database, const std::string& path) {
  const int said = sqlite3_exec(database, "PRAGMA user_version", nullptr, nullptr, nullptr);
  if (said != SQLITE_CANTOPEN && said != SQLITE_READONLY) return false;  // the disk, or the folder
  sqlite3_vfs* files = sqlite3_vfs_find(nullptr);
  const auto is_so = [files](const std::string& name, int asked) {
    int answer = 1;
    (void)files->xAccess(files, name.c_str(), asked, &answer);
    return answer != 0;
  };
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  return !is_so(folder, SQLITE_ACCESS_READWRITE) && !is_so(path + "-wal", SQLITE_ACCESS_EXISTS);
}

Result<sqlite3_file*> file_of(sqlite3* database, const std::string& path) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)) ==
          SQLITE_OK &&
      file && file->pMethods)
    return file;
  return fail(ErrorCode::io, fmt::format("cannot read {}", path), "check the disk");
}

}  // namespace

Error damaged_database(std::string_view path, std::string_view why) {
  return {ErrorCode::corrupt, fmt::format("{} is damaged: {}", path, why),
          fmt::format("{}; deputy has not changed it", kStartAnew)};
}

class ReadyQueries {
 public:
  ReadyQueries() = default;
  ReadyQueries(const ReadyQueries&) = delete;
  ~ReadyQueries() {
    for (const auto& [sql, query] : queries_) sqlite3_finalize(query);
  }

  sqlite3_stmt* take(std::string_view sql) {
    const auto found = queries_.find(sql);
    if (found == queries_.end()) return nullptr;
    sqlite3_stmt* query = found->second;
    queries_.erase(found);
    return query;
  }
  // False where it is not kept.
  bool put_back(sqlite3_stmt* query) try {
    std::string sql = sqlite3_sql(query);
    if (queries_.size() >= kMost || queries_.count(sql) >= kMostOfAKind) return false;
    queries_.emplace(std::move(sql), query);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostOfAKind = 2;
  std::multimap<std::string, sqlite3_stmt*, std::less<>> queries_;
};

void Statement::Return::operator()(sqlite3_stmt* statement) const {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  const auto ready = to.lock();
  if (!ready || !ready->put_back(statement)) sqlite3_finalize(statement);
}

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  sqlite3_bind_text64(statement_.get(), ++bound_, value.data() ? value.data() : "", value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(std::optional<std::int64_t> value) {
  if (value) return bind(*value);
  sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Statement& Statement::bind(const std::optional<std::string>& value) {
  if (value) return bind(std::string_view(*value));
  sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return std::unexpected(error_of(database_, path_of(database_)));
  }
}

Result<void> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped) return std::unexpected(std::move(stepped).error());
  return {};
}

Result<int> Statement::run_counted() {
  TRY(run());
  return sqlite3_changes(database_);
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Statement::text(int column) const { return std::string(text_until_next_step(column)); }

std::string_view Statement::text_until_next_step(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<std::string> Statement::maybe_text(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return text(column);
}

Database::Database(std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle, std::string path)
    : handle_(std::move(handle)), ready_(std::make_shared<ReadyQueries>()), path_(std::move(path)) {}

void count_no_memory() { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  sqlite3* raw = nullptr;
  const bool as_it_lies = mode == Mode::as_it_lies;
  const int flags =
      mode == Mode::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const std::string name = as_it_lies ? uri_of(path) + "?immutable=1" : path;
  const int opened = sqlite3_open_v2(
      name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | (as_it_lies ? SQLITE_OPEN_URI : 0), nullptr);
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle(raw, sqlite3_close_v2);
  if (opened != SQLITE_OK) return std::unexpected(error_of(raw, path));
  sqlite3_extended_result_codes(raw, 0);
  if (mode == Mode::read_only && can_only_be_read_as_it_lies(raw, path))
    return Database::open(path, Mode::as_it_lies);
  sqlite3_busy_timeout(raw, kPatienceMs);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  Database database(std::move(handle), path);
  if (mode == Mode::read_write) {
    TRY(database.execute("PRAGMA synchronous=FULL"));
    TRY(database.execute("PRAGMA wal_autocheckpoint=0"));
    sqlite3_wal_hook(raw, note_log_pages, database.log_pages_.get());
  } else {
    TRY(database.execute("PRAGMA writable_schema=ON"));  // what lacks its end is not refused then
  }
  TRY(database.execute("PRAGMA foreign_keys=ON"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  // Others than queries may do their work when they are compiled, as some pragmas do.
  Statement::Return back;
  if (sql.starts_with("SELECT")) back.to = ready_;
  if (sqlite3_stmt* query = ready_->take(sql)) return Statement(handle_.get(), {query, std::move(back)});
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (prepared != SQLITE_OK) return std::unexpected(error_of(handle_.get(), path_));
  return Statement(handle_.get(), {raw, std::move(back)});
}

Result<void> Database::execute(std::string_view sql) const {
  if (sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return std::unexpected(error_of(handle_.get(), path_));
  }
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  TRY(auto statement, prepare(sql));
  TRY(const bool has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) const {
  TRY(auto statement, prepare(sql));
  TRY(const bool has_row, statement.step());
  return has_row ? statement.text(0) : std::string();
}

Result<void> Database::check_pages() const {
  TRY(const auto said, text("PRAGMA quick_check(1)"));
  if (said == "ok") return {};
  return fail(ErrorCode::corrupt, fmt::format("{} is damaged: {}", path_, on_one_line(said)),
              "what is whole can still be read: `deputy sessions ls`; export it, or restore a copy");
}

Result<bool> Database::write_back() const {
  int in_log = 0;
  int written_back = 0;
  const int done =
      sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &written_back);
  if (done == SQLITE_IOERR) return std::unexpected(error_of(handle_.get(), path_));
  return done == SQLITE_OK && in_log == written_back;
}

// Room that could not be written is nothing lost: the log grows by itself, and where that fails too the next
// commit says so. But a disk that lost what it was to sync may say at the next sync that all is well.
Result<void> Database::keep_room_in_log(int pages) const {
  constexpr sqlite3_int64 kLogHeader = 32;
  constexpr sqlite3_int64 kFrame = 24 + 4096;
  constexpr sqlite3_int64 kPiece = 64 * 1024;  // SQLite loses what is past 128 KiB of one write
  sqlite3_file* log = nullptr;
  if (log_pages() == 0 ||
      sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log)) !=
          SQLITE_OK ||
      !log || !log->pMethods)
    return {};
  const sqlite3_int64 end = kLogHeader + log_pages() * kFrame;
  sqlite3_int64 size = 0;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK || size >= end + pages * kFrame / 2) return {};
  sqlite3_busy_timeout(handle_.get(), 0);
  const auto alone = Transaction::begin(*this);  // or another would write there too
  sqlite3_busy_timeout(handle_.get(), kPatienceMs);
  const sqlite3_int64 wanted = end + pages * kFrame;
  if (!alone || log->pMethods->xFileSize(log, &size) != SQLITE_OK || size >= wanted) return {};
  const std::string zeros(kPiece, '\0');
  for (sqlite3_int64 at = size; at < wanted; at += kPiece) {
    const int bytes = static_cast<int>(std::min(kPiece, wanted - at));
    if (log->pMethods->xWrite(log, zeros.data(), bytes, at) != SQLITE_OK) return {};
  }
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) == SQLITE_OK) return {};
  int number = 0;
  (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  if (is_want_of_room(number)) return std::unexpected(full_error(path_ + "-wal"));
  return fail(ErrorCode::io, fmt::format("cannot sync {}-wal: disk I/O error", path_),
              std::string(kCheckTheDisk));
}

Result<std::uint64_t> Database::file_size() const {
  TRY(auto* file, file_of(handle_.get(), path_));
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK)
    return fail(ErrorCode::io, fmt::format("cannot read {}", path_), "check the disk");
  return static_cast<std::uint64_t>(size);
}

Result<std::string> Database::file_bytes(std::uint64_t from, std::size_t most) const {
  TRY(auto* file, file_of(handle_.get(), path_));
  TRY(const auto size, file_size());
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size - std::min(size, from), most)),
                    '\0');
  if (!bytes.empty() && file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()),
                                              static_cast<sqlite3_int64>(from)) != SQLITE_OK)
    return fail(ErrorCode::io, fmt::format("cannot read {}", path_), "check the disk");
  return bytes;
}

std::optional<std::uint32_t> Database::data_version() const {
  // A read takes notice of what others have committed.
  if (!integer("PRAGMA data_version")) return std::nullopt;
  std::uint32_t version = 0;
  const int found = sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return found == SQLITE_OK ? std::optional(version) : std::nullopt;
}

void Database::at_close(AtClose what) const {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, what == AtClose::leave_log ? 1 : 0,
                    nullptr);
}

Result<Transaction> Transaction::begin(const Database& database) {
  TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<Transaction> Transaction::begin_reading(const Database& database) {
  TRY(database.execute("BEGIN DEFERRED"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace deputy
