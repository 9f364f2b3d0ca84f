// What every Disk promises, asked of each of them.
#include "base/disk.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

enum class Which { system, memory };

class AnyDisk : public testing::TestWithParam<Which> {
 protected:
  void SetUp() override {
    if (GetParam() == Which::memory) {
      disk_ = std::make_unique<MemoryDisk>(clock_);
      top_ = "/top";
    } else {
      disk_ = std::make_unique<SystemDisk>();
      std::string pattern = testing::TempDir() + "deputy-disk-XXXXXX";
      ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
      top_ = pattern;
    }
    auto opened = disk_->open(top_, IfAbsent::create);
    ASSERT_TRUE(opened) << opened.error().message;
    folder_ = *std::move(opened);
  }

  void TearDown() override {
    if (folder_ != nullptr) remove_all(*folder_);
    if (GetParam() == Which::system) ::rmdir(top_.c_str());
  }

  static void remove_all(const Folder& folder) {
    for (const Entry& entry : folder.list(".").value()) {
      if (entry.status.kind == EntryKind::folder) remove_all(*folder.open_folder(entry.name).value());
      EXPECT_TRUE(folder.remove(entry.name));
    }
  }

  void write(std::string_view name, std::string_view bytes) {
    const auto written = folder_->replace(name, bytes);
    ASSERT_TRUE(written) << written.error().message;
  }

  void link(const std::string& target, const std::string& name) {
    if (GetParam() == Which::memory) {
      static_cast<MemoryDisk&>(*disk_).plant_link(top_ + "/" + name, target);
    } else {
      ASSERT_EQ(::symlink(target.c_str(), (top_ + "/" + name).c_str()), 0);
    }
  }

  std::vector<std::string> names(std::string_view name = ".") {
    std::vector<std::string> found;
    for (const Entry& entry : folder_->list(name).value()) found.push_back(entry.name);
    return found;
  }

  ManualClock clock_;
  std::unique_ptr<Disk> disk_;
  std::string top_;
  std::unique_ptr<Folder> folder_;
};

using Names = std::vector<std::string>;

TEST_P(AnyDisk, ReadsBackWhatItReplaced) {
  write("a.txt", "first");
  write("a.txt", "second");
  EXPECT_EQ(folder_->read("a.txt", 0, kAll), "second");
  EXPECT_EQ(names(), Names{"a.txt"});
}

TEST_P(AnyDisk, ReadsPartsAndStopsAtTheEnd) {
  write("a", "0123456789");
  EXPECT_EQ(folder_->read("a", 0, 10), "0123456789");
  EXPECT_EQ(folder_->read("a", 0, 9), "012345678");
  EXPECT_EQ(folder_->read("a", 8, 100), "89");
  EXPECT_EQ(folder_->read("a", 10, 1), "");
  EXPECT_EQ(folder_->read("a", 11, 1), "");
  EXPECT_EQ(folder_->read("a", 3, 0), "");
  EXPECT_EQ(folder_->read("a", std::numeric_limits<std::uint64_t>::max(), kAll), "");
}

TEST_P(AnyDisk, ReadsLargeFilesWhole) {
  std::string large;
  for (int i = 0; i < 400'000; ++i) large += std::to_string(i);
  write("large", large);
  EXPECT_TRUE(folder_->read("large", 0, kAll) == large);
  EXPECT_TRUE(folder_->read("large", 1, 1 << 20) == large.substr(1, 1 << 20));
}

TEST_P(AnyDisk, AppendsToOldAndNewFiles) {
  EXPECT_TRUE(folder_->append_to("log", "one\n"));
  EXPECT_TRUE(folder_->append_to("log", ""));
  EXPECT_TRUE(folder_->append_to("log", "two\n"));
  EXPECT_EQ(folder_->read("log", 0, kAll), "one\ntwo\n");
}

TEST_P(AnyDisk, ListsByNameWithKindAndSize) {
  write("b", "12345");
  ASSERT_TRUE(folder_->make_folder("a"));
  write("a/inner", "");
  const auto entries = folder_->list(".").value();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].status.kind, EntryKind::folder);
  EXPECT_EQ(entries[1].name, "b");
  EXPECT_EQ(entries[1].status.kind, EntryKind::file);
  EXPECT_EQ(entries[1].status.size, 5U);
  EXPECT_EQ(names("a"), Names{"inner"});
  EXPECT_EQ(folder_->list("b").error().code, ErrorCode::io);
  EXPECT_EQ(folder_->list("none").error().code, ErrorCode::not_found);
}

TEST_P(AnyDisk, MakesFilesAndFoldersForTheirOwnerOnly) {
  ASSERT_TRUE(folder_->append_to("log", "x"));
  write("file", "x");
  ASSERT_TRUE(folder_->make_folder("a/b"));
  EXPECT_EQ(folder_->status("log")->mode, 0600U);
  EXPECT_EQ(folder_->status("file")->mode, 0600U);
  EXPECT_EQ(folder_->status("a")->mode, 0700U);
  EXPECT_EQ(folder_->status("a/b")->mode, 0700U);
}

TEST_P(AnyDisk, MakesParentsAndDoesNotMindWhatIsThere) {
  EXPECT_TRUE(folder_->make_folder("a/b/c"));
  EXPECT_TRUE(folder_->make_folder("a/b/c"));
  EXPECT_TRUE(folder_->make_folder("."));
  EXPECT_EQ(names("a/b"), Names{"c"});
  write("file", "");
  EXPECT_EQ(folder_->make_folder("file").error().code, ErrorCode::io);
  EXPECT_EQ(folder_->make_folder("file/below").error().code, ErrorCode::io);
}

TEST_P(AnyDisk, WritesNothingIntoMissingFolders) {
  EXPECT_EQ(folder_->replace("none/a", "x").error().code, ErrorCode::not_found);
  EXPECT_EQ(folder_->append_to("none/a", "x").error().code, ErrorCode::not_found);
  EXPECT_EQ(names(), Names{});
}

TEST_P(AnyDisk, RefusesToReadOrWriteAFolder) {
  ASSERT_TRUE(folder_->make_folder("a"));
  for (const Error& error : {folder_->read("a", 0, 1).error(), folder_->replace("a", "x").error(),
                             folder_->append_to("a", "x").error()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_NE(error.message.find("/a: it is a folder"), std::string::npos) << error.message;
  }
}

TEST_P(AnyDisk, RenamesFilesAndWholeFolders) {
  write("a", "1");
  write("b", "2");
  ASSERT_TRUE(folder_->rename("a", "b"));
  EXPECT_EQ(folder_->read("b", 0, kAll), "1");
  ASSERT_TRUE(folder_->make_folder("x/y"));
  ASSERT_TRUE(folder_->rename("b", "x/y/b"));
  ASSERT_TRUE(folder_->rename("x", "z"));
  EXPECT_EQ(folder_->read("z/y/b", 0, kAll), "1");
  EXPECT_TRUE(folder_->rename("z", "z"));
  EXPECT_EQ(names(), Names{"z"});
}

TEST_P(AnyDisk, RefusesRenamesThatMakeNoSense) {
  write("file", "");
  ASSERT_TRUE(folder_->make_folder("a/b"));
  EXPECT_EQ(folder_->rename("none", "x").error().code, ErrorCode::not_found);
  EXPECT_EQ(folder_->rename("file", "none/x").error().code, ErrorCode::not_found);
  EXPECT_FALSE(folder_->rename("a", "a/b/c"));
  EXPECT_FALSE(folder_->rename("file", "a"));
  EXPECT_FALSE(folder_->rename("a", "file"));
  EXPECT_FALSE(folder_->rename("a", "."));
  EXPECT_EQ(names(), (Names{"a", "file"}));
}

TEST_P(AnyDisk, RemovesFilesAndEmptyFoldersOnly) {
  ASSERT_TRUE(folder_->make_folder("a"));
  write("a/b", "");
  EXPECT_EQ(folder_->remove("a").error().advice, "empty the folder first");
  EXPECT_TRUE(folder_->remove("a/b"));
  EXPECT_TRUE(folder_->remove("a"));
  EXPECT_EQ(folder_->remove("a").error().code, ErrorCode::not_found);
  EXPECT_EQ(folder_->remove(".").error().code, ErrorCode::invalid);
}

TEST_P(AnyDisk, RefusesEveryNameThatLeadsOutside) {
  ASSERT_TRUE(folder_->make_folder("in"));
  write("in/file", "x");
  const auto inner = folder_->open_folder("in").value();
  for (const std::string& name :
       {std::string("../secret"), std::string("a/../../secret"), std::string("/etc/passwd"),
        std::string(".."), top_, top_ + "/inside", inner->path() + "/../secret"}) {
    const auto refused = [&](const auto& result) {
      return !result && result.error().code == ErrorCode::denied &&
             result.error().message.ends_with("leads outside " + inner->path());
    };
    if (name.starts_with("a/")) ASSERT_TRUE(inner->make_folder("a"));
    EXPECT_TRUE(refused(inner->read(name, 0, 1))) << name;
    EXPECT_TRUE(refused(inner->status(name))) << name;
    EXPECT_TRUE(refused(inner->list(name))) << name;
    EXPECT_TRUE(refused(inner->open_folder(name))) << name;
    EXPECT_FALSE(inner->replace(name, "x")) << name;
    EXPECT_FALSE(inner->append_to(name, "x")) << name;
    EXPECT_FALSE(inner->remove(name)) << name;
    EXPECT_FALSE(inner->rename("file", name)) << name;
    EXPECT_FALSE(inner->make_folder(name)) << name;
  }
  EXPECT_EQ(names(), Names{"in"});
}

TEST_P(AnyDisk, TakesAbsoluteNamesOfWhatLiesInTheFolder) {
  ASSERT_TRUE(folder_->make_folder("a"));
  write(top_ + "/a/file", "x");
  EXPECT_EQ(folder_->read(top_ + "//a/./file", 0, kAll), "x");
  EXPECT_EQ(folder_->read("a/../a/file", 0, kAll), "x");
  EXPECT_EQ(folder_->list(top_)->size(), 1U);
  EXPECT_EQ(folder_->read(top_ + "a/file", 0, 1).error().code, ErrorCode::denied);
}

TEST_P(AnyDisk, RefusesNamesWithANulByte) {
  write("a", "x");
  EXPECT_EQ(folder_->read(std::string_view("a\0b", 3), 0, 1).error().code, ErrorCode::invalid);
  EXPECT_EQ(folder_->replace(std::string_view("a\0b", 3), "").error().code, ErrorCode::invalid);
  EXPECT_EQ(disk_->open(std::string_view("/a\0b", 4), IfAbsent::create).error().code, ErrorCode::invalid);
}

TEST_P(AnyDisk, NamesTheFileInItsErrors) {
  const Error error = folder_->read("none", 0, 1).error();
  EXPECT_EQ(error.message, "cannot read " + top_ + "/none: No such file or directory");
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_FALSE(error.advice.empty());
}

TEST_P(AnyDisk, OpensAbsolutePathsAndMakesThemWhenAsked) {
  const std::string path = top_ + "/x/y";
  EXPECT_EQ(disk_->open(path, IfAbsent::fail).error().code, ErrorCode::not_found);
  const auto opened = disk_->open(path + "//", IfAbsent::create);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->path(), path);
  EXPECT_TRUE(disk_->open(path, IfAbsent::fail));
  EXPECT_EQ(folder_->status("x")->mode, 0700U);
  EXPECT_EQ(disk_->open("relative", IfAbsent::create).error().code, ErrorCode::invalid);
  write("file", "");
  EXPECT_FALSE(disk_->open(top_ + "/file", IfAbsent::create));
  EXPECT_FALSE(disk_->open(top_ + "/file/below", IfAbsent::create));
}

TEST_P(AnyDisk, LooksAtAbsolutePaths) {
  write("file", "123");
  EXPECT_EQ(disk_->status(top_ + "/file")->size, 3U);
  EXPECT_EQ(disk_->status(top_)->kind, EntryKind::folder);
  EXPECT_EQ(disk_->status(top_ + "/none").error().code, ErrorCode::not_found);
  EXPECT_EQ(disk_->status("file").error().code, ErrorCode::invalid);
  EXPECT_TRUE(disk_->status(disk_->current_folder()));
}

TEST_P(AnyDisk, LooksUpNamesAsTheyResolve) {
  ASSERT_TRUE(folder_->make_folder("a/b"));
  write("a/b/file", "x");
  link("a/b", "short");
  link("../a/./b/file", "a/again");
  for (const char* name : {"a/b/file", "short/file", "a/again", "./a/../short//file", "short/../b/file"}) {
    const auto place = folder_->look_up(name);
    ASSERT_TRUE(place) << name << ": " << place.error().message;
    EXPECT_EQ((*place)->name(), "a/b/file") << name;
    ASSERT_TRUE((*place)->status()) << name;
    EXPECT_EQ((*place)->status()->kind, EntryKind::file);
    EXPECT_EQ((*place)->status()->names, 1U);
    EXPECT_EQ((*place)->read(0, kAll), "x");
  }
  EXPECT_EQ(folder_->look_up(".").value()->name(), ".");
  EXPECT_EQ(folder_->look_up(top_).value()->name(), ".");
  EXPECT_EQ(folder_->look_up("short").value()->list()->size(), 1U);
  EXPECT_EQ(folder_->look_up("short").value()->open_folder().value()->read("file", 0, kAll), "x");
  EXPECT_EQ(folder_->look_up("short").value()->read(0, 1).error().code, ErrorCode::invalid);
}

TEST_P(AnyDisk, LooksUpNamesThatAreNotThereYet) {
  ASSERT_TRUE(folder_->make_folder("a/b"));
  link("a/b", "short");
  const auto place = folder_->look_up("short/new/file").value();
  EXPECT_EQ(place->name(), "a/b/new/file");
  EXPECT_FALSE(place->status());
  EXPECT_EQ(place->read(0, 1).error().code, ErrorCode::not_found);
  write("file", "x");
  EXPECT_FALSE(folder_->look_up("file/below"));
  EXPECT_FALSE(folder_->look_up("none/../../b"));
}

TEST_P(AnyDisk, LooksUpNothingInAFolderThatIsGone) {
  ASSERT_TRUE(folder_->make_folder("a"));
  const auto gone = folder_->open_folder("a").value();
  ASSERT_TRUE(folder_->remove("a"));
  const auto place = gone->look_up("file");
  EXPECT_FALSE(place && (*place)->status());
}

TEST_P(AnyDisk, RefusesToLookUpWhatLeadsOutsideOrNowhere) {
  ASSERT_TRUE(folder_->make_folder("in"));
  write("outside", "x");
  link("nothing", "in/dangling");
  link("../outside", "in/out");
  link("..", "in/up");
  link(top_ + "/outside", "in/absolute");
  link("round", "in/round");
  const auto inner = folder_->open_folder("in").value();
  for (const char* name : {"dangling", "dangling/x", "out", "up", "up/outside", "up/new", "absolute", "round",
                           "round/x", "../outside", ".."}) {
    const auto place = inner->look_up(name);
    ASSERT_FALSE(place) << name;
    EXPECT_EQ(place.error().code, ErrorCode::denied) << name << ": " << place.error().message;
  }
  EXPECT_EQ(inner->look_up(std::string_view("a\0b", 3)).error().code, ErrorCode::invalid);
}

TEST_P(AnyDisk, ReplacesWhatItExpects) {
  const auto fresh = folder_->look_up("a/b/file").value();
  ASSERT_TRUE(fresh->replace("one", ""));
  EXPECT_EQ(folder_->read("a/b/file", 0, kAll), "one");
  EXPECT_EQ(fresh->replace("two", "").error().code, ErrorCode::busy);
  const auto place = folder_->look_up("a/b/file").value();
  EXPECT_EQ(place->replace("two", sha256_hex("other")).error().code, ErrorCode::busy);
  EXPECT_EQ(folder_->read("a/b/file", 0, kAll), "one");
  ASSERT_TRUE(place->replace("two", sha256_hex("one")));
  EXPECT_EQ(folder_->read("a/b/file", 0, kAll), "two");
  ASSERT_TRUE(folder_->remove("a/b/file"));
  EXPECT_EQ(place->replace("three", sha256_hex("two")).error().code, ErrorCode::busy);
  EXPECT_EQ(names("a/b"), Names{});
  EXPECT_FALSE(folder_->look_up("a").value()->replace("x", ""));
  EXPECT_FALSE(folder_->look_up(".").value()->replace("x", ""));
}

TEST_P(AnyDisk, WritesThroughALinkToWhatItLeadsTo) {
  write("real", "one");
  link("real", "link");
  ASSERT_TRUE(folder_->look_up("link").value()->replace("two", sha256_hex("one")));
  EXPECT_EQ(folder_->read("real", 0, kAll), "two");
  EXPECT_EQ(folder_->list(".")->front().status.kind, EntryKind::link);
}

INSTANTIATE_TEST_SUITE_P(Each, AnyDisk, testing::Values(Which::system, Which::memory), [](const auto& which) {
  return which.param == Which::system ? "System" : "Memory";
});

TEST(JoinPath, IsLexical) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("/", "b"), "/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", ""), "a");
  EXPECT_EQ(join_path("a", "."), "a");
  EXPECT_EQ(join_path("a", "../b"), "a/../b");
}

TEST(CleanPath, LeavesOnlyPartsThatMean) {
  EXPECT_EQ(clean_path("//a/./b//"), "/a/b");
  EXPECT_EQ(clean_path("./a/../b"), "a/../b");
  EXPECT_EQ(clean_path("/"), "/");
  EXPECT_EQ(clean_path(""), ".");
  EXPECT_EQ(clean_path("./"), ".");
}

}  // namespace
}  // namespace deputy
