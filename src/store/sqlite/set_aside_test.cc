// A copy of what is damaged is whole, has its name only then, and there are not too many of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/disk_locks.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/tree_locks.h"
#include "support/quarantine_fixture.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

// Passes on what it is asked.
class OtherFolder : public Folder {
 public:
  explicit OtherFolder(std::unique_ptr<Folder> folder) : folder_(std::move(folder)) {}
  const std::string& path() const override { return folder_->path(); }
  int descriptor() const override { return folder_->descriptor(); }
  Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const override {
    return folder_->open_folder(name);
  }
  Result<std::unique_ptr<Place>> look_up(std::string_view name) const override {
    return folder_->look_up(name);
  }
  Result<FileStatus> status(std::string_view name) const override { return folder_->status(name); }
  Result<std::vector<Entry>> list(std::string_view name) const override { return folder_->list(name); }
  Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const override {
    return folder_->read(name, offset, max);
  }
  Result<void> make_folder(std::string_view name) const override { return folder_->make_folder(name); }
  Result<void> append_to(std::string_view name, std::string_view bytes, Durable durable) const override {
    return folder_->append_to(name, bytes, durable);
  }
  Result<void> replace(std::string_view name, std::string_view bytes, Durable durable) const override {
    return folder_->replace(name, bytes, durable);
  }
  Result<void> rename(std::string_view from, std::string_view to) const override {
    return folder_->rename(from, to);
  }
  Result<void> remove(std::string_view name) const override { return folder_->remove(name); }

 private:
  std::unique_ptr<Folder> folder_;
};

// As a disk does whose names cannot be synced: what was renamed has its new name, and that was not promised.
class FailsAfterItRenamed final : public OtherFolder {
 public:
  using OtherFolder::OtherFolder;
  Result<void> rename(std::string_view from, std::string_view to) const override {
    TRY(OtherFolder::rename(from, to));
    return fail(ErrorCode::io, "cannot sync the folder");
  }
};

// In which something happens whenever the log was copied.
class WhileLogIsCopied final : public OtherFolder {
 public:
  WhileLogIsCopied(std::unique_ptr<Folder> folder, std::function<void()> happens)
      : OtherFolder(std::move(folder)), happens_(std::move(happens)) {}
  Result<void> append_to(std::string_view name, std::string_view bytes, Durable durable) const override {
    TRY(OtherFolder::append_to(name, bytes, durable));
    if (name.ends_with("/deputy.db-wal")) happens_();
    return {};
  }

 private:
  std::function<void()> happens_;
};

TEST_F(QuarantineTest, ThirtyTwoCopiesAreKeptAndNoMore) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (int other = 0; other < 31; ++other)
    fs::create_directories(home_.file("damaged/other-" + std::to_string(other)));
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto last = set_aside(*folder, database, "database", "");
  ASSERT_TRUE(last) << to_text(last.error());
  EXPECT_EQ(set_aside(*folder, database, "database", "")->folder, last->folder)
      << "it is like it, and serves";
  fs::resize_file(last->folder + "/deputy.db", 100);
  const auto refused = set_aside(*folder, database, "database", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(refused.error().message.contains("32 copies")) << refused.error().message;
  EXPECT_TRUE(refused.error().advice.contains("move them away")) << refused.error().advice;
}

TEST_F(QuarantineTest, WhatWasLeftUnfinishedIsNoCopyAndIsRemovedOnceNobodyCopiesThere) {
  ASSERT_NO_FATAL_FAILURE(make());
  for (int left = 1; left <= 32; ++left) {
    const std::string unfinished = home_.file("damaged/unfinished-" + std::to_string(left));
    fs::create_directories(unfinished);
    for (const char* name : {"/deputy.db", "/.deputy-0123.tmp"}) std::ofstream(unfinished + name) << "half";
  }
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  auto other = *DiskLocks::open(*folder, kLockName);
  ASSERT_TRUE(*other.take(kPastTreePlaces + 1)) << "another process copies";
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(*folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copy_of("database").at("deputy.db"), files().at("deputy.db"));
  EXPECT_TRUE(fs::exists(home_.file("damaged/unfinished-1/deputy.db")));
  EXPECT_EQ(std::distance(fs::directory_iterator(home_.file("damaged")), {}), 2);
}

TEST_F(QuarantineTest, ACopyThatCannotHaveItsNameSaysWhy) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(*folder, database, std::string(300, 'x'), "");
  ASSERT_FALSE(copy);
  EXPECT_TRUE(copy.error().message.contains("File name too long")) << copy.error().message;
}

TEST_F(QuarantineTest, ACopyWhoseNameMayNotLastIsNone) {
  ASSERT_NO_FATAL_FAILURE(make());
  const FailsAfterItRenamed failing(*SystemDisk().open(home_.path(), IfAbsent::fail));
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto copy = set_aside(failing, database, "database", "");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().message, "cannot sync the folder");
  EXPECT_TRUE(fs::is_empty(home_.file("damaged"))) << "nobody takes it for a copy later";
}

TEST_F(QuarantineTest, WhereAnotherProcessBeginsTheLogAnewItIsCopiedAgain) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto another = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
  ASSERT_TRUE(another.integer("SELECT count(*) FROM sessions"));
  ASSERT_EQ(another.write_back(), true);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  int copied = 0;
  const WhileLogIsCopied folder(*SystemDisk().open(home_.path(), IfAbsent::fail), [&] {
    if (++copied == 1) EXPECT_TRUE(another.execute("UPDATE sessions SET label='later'"));
  });
  const auto copy = set_aside(folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copied, 2);
  constexpr std::size_t kLogHeader = 32;
  EXPECT_NE(files().at("deputy.db-wal").substr(0, kLogHeader),
            killed_.at("deputy.db-wal").substr(0, kLogHeader))
      << "it was not begun anew";
  EXPECT_EQ(copy_of("database"), files());
}

TEST_F(QuarantineTest, WhatIsWrittenToAllTheTimeIsTriedThreeTimes) {
  ASSERT_NO_FATAL_FAILURE(make());
  put(killed_);
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  int copied = 0;
  int begun_anew = 0;
  const WhileLogIsCopied folder(*SystemDisk().open(home_.path(), IfAbsent::fail), [&] {
    if (++copied > begun_anew) return;
    std::fstream log(home_.file("deputy.db-wal"), std::ios::binary | std::ios::in | std::ios::out);
    constexpr std::streamoff kSaltAt = 16;
    const int was = log.seekg(kSaltAt).get();
    log.seekp(kSaltAt).put(static_cast<char>(was ^ 1));
  });
  begun_anew = 3;
  const auto refused = set_aside(folder, database, "database", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(copied, 3);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_EQ(refused.error().advice, "try again");
  EXPECT_TRUE(fs::is_empty(home_.file("damaged")));
  copied = 0;
  begun_anew = 2;
  const auto copy = set_aside(folder, database, "database", "");
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(copied, 3);
  EXPECT_EQ(copy_of("database"), files());
}

// Copied a piece at a time: of one piece, of several, and of several and a part.
TEST_F(QuarantineTest, AnyLengthIsCopiedWhole) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (const std::size_t length : {kPiece - 1, kPiece, kPiece + 1, 3 * kPiece, 3 * kPiece + 4096}) {
    std::string bytes = killed_.at("deputy.db");
    for (std::size_t at = bytes.size(); at < length; ++at) bytes += static_cast<char>(at * at % 251);
    put({{"deputy.db", bytes}});
    const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_only);
    const auto copy = set_aside(*folder, database, "database-" + std::to_string(length), "");
    ASSERT_TRUE(copy) << length << ": " << to_text(copy.error());
    EXPECT_EQ(files("damaged/" + fs::path(copy->folder).filename().string()).at("deputy.db"), bytes);
    EXPECT_EQ(set_aside(*folder, database, "again", "")->folder, copy->folder) << "it is like it, and serves";
  }
}

// What is cut off is no copy.
TEST_F(QuarantineTest, OneThatIsTooLargeToBeCopiedIsSaidToBe) {
  ASSERT_TRUE(open());
  fs::resize_file(home_.file("deputy.db"), (std::uintmax_t{1} << 32) + 1);
  const auto database = Database::open(home_.file("deputy.db"), Database::Mode::read_only);
  const auto folder = *SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto copied = set_aside(*folder, *database, "database", "");
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(copied.error().advice.contains("by hand"));
  EXPECT_FALSE(fs::exists(home_.file("damaged")));
}

}  // namespace
}  // namespace deputy
