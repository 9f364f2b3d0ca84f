#include "store/sqlite/quarantine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <vector>

#include "base/digest.h"
#include "base/disk_locks.h"
#include "base/disk_mark.h"
#include "base/text.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/select.h"
#include "store/sqlite/tree_locks.h"

namespace deputy {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
constexpr std::size_t kMostCopies = 32;
constexpr std::string_view kUnfinished = "unfinished-";
constexpr std::array kBesideDatabase{"deputy.db-journal", "deputy.db-wal"};

std::uint64_t size_of(const Folder& home, std::string_view name) {
  const auto status = home.status(name);
  return status ? status->size : 0;
}

// A file that is to be copied, in pieces: it may be larger than what memory there is.
struct Original {
  std::string name;
  std::uint64_t size = 0;
  std::function<Result<std::string>(std::uint64_t from, std::size_t most)> read;
};

// Called with each piece in turn, and whether it is the last; one that is empty has one, of nothing.
Result<void> for_each_piece(const Original& original, auto take) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  std::uint64_t from = 0;
  do {
    const std::uint64_t length = std::min(kPiece, original.size - from);
    TRY(const auto piece, original.read(from, static_cast<std::size_t>(length)));
    from += length;
    TRY(take(piece, from == original.size));
  } while (from < original.size);
  return {};
}

Original original_in(const Folder& home, const std::string& name) {
  const std::uint64_t size = size_of(home, name);
  return {name, size,
          [&home, name](std::uint64_t from, std::size_t most) { return home.read(name, from, most); }};
}

// All of one moment as long as `database` is being read from, and the log is not begun anew: then no more of
// it is written back than that reader knows of.
Result<std::vector<Original>> originals_of(const Folder& home, const Database& database) {
  std::vector<Original> originals;
  for (const char* name : kBesideDatabase) {
    Original beside = original_in(home, name);
    if (beside.size > 0) originals.push_back(std::move(beside));
  }
  TRY(const auto size, database.file_size());
  originals.push_back({"deputy.db", size, [&database](std::uint64_t from, std::size_t most) {
                         return database.file_bytes(from, most);
                       }});
  if (std::ranges::max(originals, {}, &Original::size).size > kMostBytes)
    return fail(ErrorCode::exhausted,
                fmt::format("{} has more than {} bytes", database.path(), with_thousands(kMostBytes)),
                "copy deputy.db and deputy.db-wal by hand before you go on");
  return originals;
}

Result<std::string> digest_of(const Original& original) {
  Sha256 digest;
  TRY(for_each_piece(original, [&digest](std::string_view piece, bool) -> Result<void> {
    digest.feed(piece);
    return {};
  }));
  return digest.hex();
}

// Yields the digest of what was read.
Result<std::string> copy_into(const Folder& home, const std::string& folder, const Original& original) {
  Sha256 digest;
  TRY(for_each_piece(original, [&](std::string_view piece, bool is_last) -> Result<void> {
    digest.feed(piece);
    return home.append_to(join_path(folder, original.name), piece, is_last ? Durable::yes : Durable::no);
  }));
  return digest.hex();
}

// Copied, and the copies read and found to be what was read before.
Result<void> copy_all_into(const Folder& home, const std::string& folder,
                           const std::vector<Original>& originals) {
  for (const Original& original : originals) {
    TRY(const auto was_read, copy_into(home, folder, original));
    const Original copy = original_in(home, join_path(folder, original.name));
    const auto was_written = digest_of(copy);
    if (copy.size != original.size || !was_written || *was_written != was_read)
      return fail(ErrorCode::io,
                  fmt::format("the copy of {} is not like it", join_path(home.path(), original.name)),
                  "copy deputy.db and deputy.db-wal by hand before you go on");
  }
  return {};
}

// A reader of a log that is wholly written back does not keep another process from beginning it anew, which
// gives it another header.
bool is_log_begun_anew_since(const Folder& home, const std::string& folder) {
  constexpr std::size_t kLogHeader = 32;
  constexpr std::string_view kLog = "deputy.db-wal";
  const auto copied = home.read(join_path(folder, kLog), 0, kLogHeader);
  if (!copied) return false;  // there was none
  const auto now = home.read(kLog, 0, kLogHeader);
  return !now || *now != *copied;
}

bool is_copied(const Folder& home, const std::string& folder, const std::vector<Original>& originals) {
  for (const char* name : kBesideDatabase) {
    if (!std::ranges::any_of(originals, [&](const Original& each) { return each.name == name; }) &&
        home.status(join_path(folder, name)))
      return false;
  }
  return std::ranges::all_of(originals, [&](const Original& original) {
    const Original copy = original_in(home, join_path(folder, original.name));
    if (copy.size != original.size) return false;  // it need not be read
    std::uint64_t from = 0;
    const auto is_like = for_each_piece(original, [&](std::string_view piece, bool) -> Result<void> {
      TRY(const auto kept, copy.read(from, piece.size()));
      from += piece.size();
      return kept == piece ? Result<void>{} : fail(ErrorCode::corrupt, "it differs");
    });
    return is_like.has_value();
  });
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(at, length)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

// Whether the file is as long as its first page says; with a log it need not be.
Result<bool> has_its_length(const Folder& home, const Database& database) {
  constexpr std::size_t kPageSizeAt = 16;
  constexpr std::size_t kPagesAt = 28;
  constexpr std::size_t kChangesAt = 24;
  constexpr std::size_t kPagesAreOfAt = 92;  // of which change their number is
  constexpr std::uint64_t kLargestPage = 65'536;
  TRY(const auto moment, Transaction::begin_reading(database));
  TRY(database.integer("PRAGMA user_version"));
  const auto log = home.status("deputy.db-wal");
  if (log && log->size > 0) return true;
  TRY(const auto size, database.file_size());
  TRY(const auto first, database.file_bytes(0, kHeaderBytes));
  if (first.size() < kHeaderBytes) return false;
  if (number_at(first, kChangesAt, 4) != number_at(first, kPagesAreOfAt, 4)) return true;
  const std::uint64_t written = number_at(first, kPageSizeAt, 2);
  const std::uint64_t page_size = written == 1 ? kLargestPage : written;
  return number_at(first, kPagesAt, 4) * page_size == size;
}

// As SQLite reads it.
Result<std::uint64_t> how_far(const Folder& home, const Database& database) {
  TRY(const bool is_whole, has_its_length(home, database));
  if (!is_whole)
    return fail(ErrorCode::corrupt,
                fmt::format("{} is damaged: it is not as long as it says", database.path()));
  TRY(const auto tables,
      database.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('journal', 'inbox')"));
  if (tables == 0) return 0;
  TRY(const auto far, database.integer(tables == 1 ? "SELECT coalesce(max(seq), 0) FROM journal" : kHowFar));
  return static_cast<std::uint64_t>(far);
}

// Whether what its pages lead to can be read at all.
bool has_tables(const Database& database) {
  const auto version = database.integer("PRAGMA user_version");
  const auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  return version && is_readable_schema(*version) && tables && *tables > 0;
}

// Nothing is changed in what is damaged, not even to bring it to the newest version.
Result<void> check_migratable(const Database& database) {
  TRY(const auto version, database.integer("PRAGMA user_version"));
  return is_readable_schema(version) && version < newest_schema() ? database.check_pages() : Result<void>{};
}

// One that was just being made has a page without a table, or what a power cut left of that.
bool is_being_made(const Folder& home, const std::string& path) {
  constexpr std::uint64_t kFirstPage = 4096;
  if (size_of(home, "deputy.db") > kFirstPage) return false;
  const auto database = Database::open(path, Database::Mode::as_it_lies);
  const auto tables = database ? database->integer("SELECT count(*) FROM sqlite_master") : 0;
  return !tables || *tables == 0;
}

// SQLite takes back what was stopped in its middle when it opens the database: not before that is known to be
// ours, and copied. A journal that never came to be of use it leaves alone; one from before the first page
// takes all of the file back, which is nothing where that was just being made.
Result<void> prepare_rollback(const Folder& home, const std::string& path, bool is_known_as_ours) {
  constexpr std::size_t kJournalHeader = 28;
  constexpr std::size_t kPagesBeforeAt = 16;
  const auto header = home.read("deputy.db-journal", 0, kJournalHeader);
  if (header && header->starts_with('\0')) return {};
  if (!is_known_as_ours) {
    const bool takes_all_back =
        header && header->size() == kJournalHeader && number_at(*header, kPagesBeforeAt, 4) == 0;
    if (takes_all_back && is_being_made(home, path)) return {};
    TRY(check_as_it_lies(path));
  }
  TRY(const auto database, Database::open(path, Database::Mode::read_only));
  const auto copy = set_aside(home, database, "stopped", "");
  if (copy) return {};
  return fail(copy.error().code,
              fmt::format("a change to {} was stopped in its middle, and is not taken back: it could not be "
                          "copied: {}",
                          path, copy.error().message),
              copy.error().advice);
}

// Nothing is made: the database may be another program's.
Result<std::uint64_t> how_far_it_had_come(const Folder& home) {
  const auto mark = DiskMark::open(home, kMarkName, IfAbsent::fail);
  if (mark) return mark->read().value_or(0);
  if (mark.error().code == ErrorCode::not_found) return 0;
  return std::unexpected(mark.error());
}

std::string newest_lost(std::uint64_t count, std::string_view path) {
  return fmt::format("{} of the newest records are lost: the log of {} is damaged", count, path);
}

Result<std::optional<Loss>> loss_in(const Folder& home, const Database& database, std::uint64_t expected) {
  const std::string& path = database.path();
  // What a newer deputy keeps how is not known here.
  if (const auto version = database.integer("PRAGMA user_version"); version && *version > newest_schema())
    TRY(check_version(*version, path));
  auto found = how_far(home, database);
  if (const auto checked = found ? check_migratable(database) : Result<void>{}; !checked)
    found = std::unexpected(checked.error());
  if (found && *found >= expected) return std::nullopt;
  // A page that leads astray hides records that are there, and what is added would go astray too.
  if (const auto checked = found ? database.check_pages() : Result<void>{}; !checked)
    found = std::unexpected(checked.error());
  if (!found && (found.error().code != ErrorCode::corrupt || !has_tables(database)))
    return fail(
        found.error().code, found.error().message,
        fmt::format("{}; deputy has not changed it",
                    found.error().advice.empty() ? "restore a copy, or choose another folder with --home"
                                                 : found.error().advice));
  const auto copy =
      set_aside(home, database, found ? fmt::format("{}-of-{}", *found, expected) : "database", "");
  const std::string kept = copy ? "it is kept in " + copy->folder
                                : fmt::format("it could not be copied: {}", to_text(copy.error()));
  if (!found || !copy)
    return Loss{
        .told = {ErrorCode::corrupt, found ? newest_lost(expected - *found, path) : found.error().message,
                 fmt::format("what can be read of it is shown, and nothing more is written to it; {}; {}",
                             kept, how_to_start_anew(home))},
        .only_to_read = true};
  return Loss{.told = {ErrorCode::corrupt, newest_lost(expected - *found, path),
                       fmt::format("all before them is whole; what was there is kept in {}", copy->folder)},
              .left = *found};
}

}  // namespace

Result<void> check_pages_of(const Folder& home) {
  TRY(const auto database, Database::open(join_path(home.path(), "deputy.db"), Database::Mode::read_only));
  return database.check_pages();
}

std::string how_to_start_anew(const Folder& home) {
  std::vector<std::string_view> there;
  for (const std::string_view name : {"deputy.db", "deputy.db-wal", "deputy.db-shm", "deputy.mark"})
    if (home.status(name)) there.push_back(name);
  return fmt::format("move {} away to start anew", fmt::join(there, ", "));
}

Result<Look> look_for_loss(const Folder& home) {
  TRY(const auto expected, how_far_it_had_come(home));
  const std::string path = join_path(home.path(), "deputy.db");
  const bool has_log = size_of(home, "deputy.db-wal") > 0;  // before the other, which is made before it
  if (size_of(home, "deputy.db") == 0) {
    if (expected == 0 && !has_log) return Look{};
    // SQLite would throw its log away.
    return fail(ErrorCode::corrupt,
                fmt::format("{} is damaged: it is {}, but something was kept in it", path,
                            home.status("deputy.db") ? "empty" : "not there"),
                fmt::format("restore a copy, or {}; deputy has changed nothing", how_to_start_anew(home)));
  }
  if (has_rollback_journal(home)) {
    TRY(prepare_rollback(home, path, expected > 0));
    TRY(const auto stopped, Database::open(path, Database::Mode::read_write));
    TRY(stopped.integer("PRAGMA user_version"));
    if (size_of(home, "deputy.db") == 0 && expected == 0) return Look{};
  }
  TRY(auto database, Database::open(path, Database::Mode::read_only));
  TRY(auto loss, loss_in(home, database, expected));
  return Look{std::move(loss), std::move(database)};
}

namespace {

// What does not fit in it, so that one damage is told from another that comes later.
std::string signature(const Database& database, std::string_view why) {
  constexpr int kMostPages = 16;
  std::string said;
  // It names pages, and says nothing at all of them where it breaks off at the next.
  for (int most = 1; most <= kMostPages; ++most) {
    const auto pages = select(database, fmt::format("PRAGMA quick_check({})", most), "",
                              [](const Statement& row) -> Result<std::string> { return row.text(0); });
    if (!pages) break;
    said = fmt::format("{}", fmt::join(*pages, "\n"));
    if (std::ssize(*pages) < most) break;
  }
  return fmt::format("{:08x}", crc32(fmt::format("{}\n{}", said, why)));
}

std::unexpected<Error> too_many(const Folder& home) {
  return fail(ErrorCode::exhausted,
              fmt::format("{} copies are kept in {} already", kMostCopies, join_path(home.path(), "damaged")),
              "move them away");
}

void remove_copy(const Folder& home, const std::string& folder) {
  for (const Entry& file : home.list(folder).value_or(std::vector<Entry>{}))
    (void)home.remove(join_path(folder, file.name));
  (void)home.remove(folder);
}

Result<void> copy_of_one_moment(const Folder& home, const Database& database, const std::string& folder) {
  constexpr int kMostTries = 3;
  for (int tries = 0; tries < kMostTries; ++tries) {
    TRY(const auto originals, originals_of(home, database));
    TRY(home.make_folder(folder));
    TRY(copy_all_into(home, folder, originals));
    if (!is_log_begun_anew_since(home, folder)) return {};
    remove_copy(home, folder);
  }
  return fail(ErrorCode::busy, fmt::format("{} is written to while it is copied", database.path()),
              "try again");
}

// A number that no other process copies under, held as long as `locks` is. What those left that ended while
// they copied is removed.
Result<std::uint64_t> number_to_copy_under(const Folder& home, DiskLocks& locks) {
  std::uint64_t number = 0;
  for (bool is_ours = false; !is_ours;) {
    ++number;
    TRY(is_ours, locks.take(kPastTreePlaces + number));
  }
  for (const Entry& entry : home.list("damaged").value_or(std::vector<Entry>{})) {
    if (!entry.name.starts_with(kUnfinished) || entry.status.kind != EntryKind::folder) continue;
    std::uint32_t left = 0;
    std::from_chars(entry.name.data() + kUnfinished.size(), entry.name.data() + entry.name.size(), left);
    if (locks.take(kPastTreePlaces + left).value_or(false))
      remove_copy(home, join_path("damaged", entry.name));
  }
  return number;
}

}  // namespace

Result<Copy> set_aside(const Folder& home, const Database& database, std::string_view name,
                       std::string_view why) {
  const std::string folder = join_path("damaged", fmt::format("{}-{}", name, signature(database, why)));
  if (!why.empty() && home.status(join_path(folder, "deputy.db")))
    return Copy{.folder = join_path(home.path(), folder), .is_of_now = false};
  const auto moment = Transaction::begin_reading(database);
  if (moment) (void)database.integer("PRAGMA user_version");
  TRY(const auto originals, originals_of(home, database));
  const auto kept = home.list("damaged").value_or(std::vector<Entry>{});
  std::size_t finished = 0;
  for (const Entry& entry : kept) {
    if (entry.name.starts_with(kUnfinished)) continue;
    ++finished;
    const std::string other = join_path("damaged", entry.name);
    if (is_copied(home, other, originals)) return Copy{join_path(home.path(), other)};
  }
  if (finished >= kMostCopies) return too_many(home);
  // Under a name of its own until it is whole: another process may be copying too.
  TRY(auto locks, DiskLocks::open(home, kLockName));
  TRY(const auto own, number_to_copy_under(home, locks));
  const std::string unfinished = join_path("damaged", fmt::format("{}{}", kUnfinished, own));
  if (const auto copied = copy_of_one_moment(home, database, unfinished); !copied) {
    remove_copy(home, unfinished);
    return std::unexpected(copied.error());
  }
  for (std::size_t number = 1; number <= kMostCopies; ++number) {
    const std::string place = number == 1 ? folder : fmt::format("{}-{}", folder, number);
    if (home.status(place)) continue;
    const auto renamed = home.rename(unfinished, place);
    if (renamed) return Copy{join_path(home.path(), place)};
    const bool has_its_name = !home.status(unfinished);
    // Another copy may have come to that name since.
    if (!has_its_name && home.status(place)) continue;
    // A name that a power cut may take would be found by the next who looks for a copy.
    remove_copy(home, has_its_name ? place : unfinished);
    return std::unexpected(renamed.error());
  }
  remove_copy(home, unfinished);
  return too_many(home);
}

}  // namespace deputy
