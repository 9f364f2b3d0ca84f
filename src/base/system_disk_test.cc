#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>

#include "base/disk.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

class SystemDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    outer_ = SystemDisk().open(temp_.path(), IfAbsent::fail).value();
    ASSERT_TRUE(outer_->make_folder("root"));
    ASSERT_TRUE(outer_->replace("secret", "outside"));
    folder_ = outer_->open_folder("root").value();
  }
  void TearDown() override { ::chmod(folder_->path().c_str(), 0700); }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  void link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), path(name).c_str()), 0);
  }

  TempFolder temp_;
  std::unique_ptr<Folder> outer_;
  std::unique_ptr<Folder> folder_;
};

TEST_F(SystemDiskTest, FollowsLinksBeneathTheFolder) {
  ASSERT_TRUE(folder_->replace("file", "inside"));
  link("file", "link");
  EXPECT_EQ(folder_->read("link", 0, kAll), "inside");
  EXPECT_EQ(folder_->status("link")->kind, EntryKind::file);
}

TEST_F(SystemDiskTest, DeniesLinksThatLeadOutside) {
  link("../secret", "relative");
  link(outer_->path() + "/secret", "absolute");
  link("..", "up");
  link("/proc/self/cwd", "magic");
  for (const char* name : {"relative", "absolute", "up/secret", "magic", "magic/x"}) {
    const auto read = folder_->read(name, 0, kAll);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::denied) << name;
    EXPECT_NE(read.error().message.find("leads outside " + folder_->path()), std::string::npos);
    EXPECT_EQ(folder_->status(name).error().code, ErrorCode::denied) << name;
    EXPECT_FALSE(folder_->append_to(name, "x")) << name;
    EXPECT_FALSE(folder_->replace(name, "x")) << name;
    EXPECT_FALSE(folder_->open_folder(name)) << name;
  }
  EXPECT_EQ(folder_->make_folder("up/made").error().code, ErrorCode::denied);
  EXPECT_EQ(outer_->read("secret", 0, kAll), "outside");
}

TEST_F(SystemDiskTest, DeniesLinksThatGoRoundInCircles) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(folder_->read("a", 0, kAll).error().code, ErrorCode::denied);
}

TEST_F(SystemDiskTest, ListsLinksAsLinksEvenWhenTheyLeadNowhere) {
  link("nowhere", "link");
  const auto entries = folder_->list(".").value();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].status.kind, EntryKind::link);
  EXPECT_EQ(folder_->status("link").error().code, ErrorCode::not_found);
  EXPECT_FALSE(folder_->make_folder("link"));
}

TEST_F(SystemDiskTest, DoesNotWriteThroughALinkNorReplaceIt) {
  ASSERT_TRUE(folder_->replace("file", "inside"));
  link("file", "link");
  for (const auto& result : {folder_->append_to("link", "x"), folder_->replace("link", "x")}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::invalid);
    EXPECT_EQ(result.error().advice, "name the file that it leads to");
  }
  EXPECT_EQ(folder_->read("file", 0, kAll), "inside");
  EXPECT_TRUE(folder_->remove("link"));
  EXPECT_EQ(folder_->read("file", 0, kAll), "inside");
}

TEST_F(SystemDiskTest, DoesNotAddToAFileWithASecondName) {
  ASSERT_EQ(::link((outer_->path() + "/secret").c_str(), path("file").c_str()), 0);
  EXPECT_EQ(folder_->append_to("file", "x").error().code, ErrorCode::denied);
  EXPECT_TRUE(folder_->replace("file", "new"));
  EXPECT_EQ(outer_->read("secret", 0, kAll), "outside");
}

TEST_F(SystemDiskTest, RefusesPipesSocketsAndDevicesWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(listener);
  for (const char* name : {"pipe", "socket"}) {
    EXPECT_EQ(folder_->status(name)->kind, EntryKind::other);
    for (const Error& error : {folder_->read(name, 0, 10).error(), folder_->append_to(name, "x").error(),
                               folder_->replace(name, "x").error()}) {
      EXPECT_EQ(error.code, ErrorCode::invalid);
      EXPECT_NE(error.message.find("not a regular file"), std::string::npos) << error.message;
    }
  }
  const auto devices = SystemDisk().open("/dev", IfAbsent::fail).value();
  EXPECT_EQ(devices->read("zero", 0, 10).error().code, ErrorCode::invalid);
  EXPECT_EQ(devices->append_to("null", "x").error().code, ErrorCode::invalid);
}

TEST_F(SystemDiskTest, ReadsFilesThatDoNotKnowTheirSize) {
  const auto proc = SystemDisk().open("/proc/self", IfAbsent::fail).value();
  EXPECT_EQ(proc->status("status")->size, 0U);
  EXPECT_NE(proc->read("status", 0, kAll)->find("Name:"), std::string::npos);
}

TEST_F(SystemDiskTest, ReplaceKeepsTheModeAndLeavesNothingBehind) {
  ASSERT_TRUE(folder_->replace("script", "old"));
  ASSERT_EQ(::chmod(path("script").c_str(), 0755), 0);
  ASSERT_TRUE(folder_->replace("script", "new"));
  EXPECT_EQ(folder_->status("script")->mode, 0755U);
  EXPECT_EQ(folder_->list(".")->size(), 1U);
}

// Lets files of this process grow to `bytes` at most: the nearest thing to a full disk that needs no
// privileges.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_F(SystemDiskTest, AFailedReplaceKeepsTheOldFileAndRemovesTheNew) {
  ASSERT_TRUE(folder_->replace("file", "old"));
  Result<void> replaced;
  {
    const SizeLimit limit(4096);
    EXPECT_TRUE(folder_->replace("fits", std::string(4096, 'x')));
    replaced = folder_->replace("file", std::string(4097, 'x'));
  }
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().code, ErrorCode::exhausted);
  EXPECT_NE(replaced.error().message.find(path("file")), std::string::npos);
  EXPECT_EQ(folder_->read("file", 0, kAll), "old");
  EXPECT_EQ(folder_->list(".")->size(), 2U);
}

TEST_F(SystemDiskTest, AShortAppendSaysHowFarItCame) {
  Result<void> appended;
  {
    const SizeLimit limit(4096);
    appended = folder_->append_to("log", std::string(5000, 'x'));
  }
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::exhausted);
  EXPECT_NE(appended.error().message.find("4096 of 5000 bytes to " + path("log")), std::string::npos)
      << appended.error().message;
}

TEST_F(SystemDiskTest, SaysWhoMayNot) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything: run this as another user";
  ASSERT_TRUE(folder_->replace("file", "x"));
  ASSERT_EQ(::chmod(path("file").c_str(), 0), 0);
  const auto read = folder_->read("file", 0, kAll);
  EXPECT_EQ(read.error().code, ErrorCode::denied);
  EXPECT_EQ(read.error().message, "cannot read " + path("file") + ": Permission denied");
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0500), 0);
  EXPECT_EQ(folder_->replace("new", "x").error().code, ErrorCode::denied);
  EXPECT_EQ(folder_->append_to("new", "x").error().code, ErrorCode::denied);
  EXPECT_EQ(folder_->make_folder("new").error().code, ErrorCode::denied);
  EXPECT_EQ(folder_->remove("file").error().code, ErrorCode::denied);
}

TEST_F(SystemDiskTest, AnOpenFolderStaysTheSameWhenItsPathBecomesAnother) {
  ASSERT_TRUE(folder_->replace("file", "inside"));
  ASSERT_TRUE(outer_->rename("root", "moved"));
  ASSERT_TRUE(outer_->make_folder("root"));
  EXPECT_EQ(folder_->read("file", 0, kAll), "inside");
  EXPECT_GE(folder_->descriptor(), 0);
}

TEST_F(SystemDiskTest, UnderstandsThePathWithoutLinksWhenOpenedThroughOne) {
  ASSERT_TRUE(folder_->replace("file", "inside"));
  const std::string through = outer_->path() + "/through";
  ASSERT_EQ(::symlink("root", through.c_str()), 0);
  const auto opened = SystemDisk().open(through, IfAbsent::fail).value();
  EXPECT_EQ(opened->path(), through);
  EXPECT_EQ(opened->read(through + "/file", 0, kAll), "inside");
  EXPECT_EQ(opened->read(path("file"), 0, kAll), "inside");
  EXPECT_EQ(SystemDisk().status(through)->kind, EntryKind::folder);
}

TEST_F(SystemDiskTest, NamesThatAreTooLongAreRefusedByTheKernel) {
  const std::string longest(255, 'x');
  EXPECT_TRUE(folder_->replace(longest, "x"));
  EXPECT_EQ(folder_->replace(longest + "x", "x").error().advice, "choose a shorter name");
  EXPECT_FALSE(folder_->make_folder(std::string(5000, 'x')));
}

TEST_F(SystemDiskTest, KnowsWhenAFileChanged) {
  ASSERT_TRUE(folder_->replace("file", "x"));
  const timespec times[2] = {{1'800'000'000, 0}, {1'800'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path("file").c_str(), times, 0), 0);
  EXPECT_EQ(to_iso8601(folder_->status("file")->modified), "2027-01-15T08:00:00.123456Z");
  EXPECT_NE(folder_->status("file")->changed, folder_->status("file")->modified) << "nobody sets that";
}

// Files that were just written are in memory, on a file system that can say so.
TEST_F(SystemDiskTest, HasAtOnceWhatIsInMemory) {
  ASSERT_TRUE(folder_->make_folder("sub"));
  ASSERT_TRUE(folder_->replace("sub/file", "inside"));
  const auto place = folder_->look_up_at_once("./sub/file");
  if (!place) GTEST_SKIP() << "nothing can be had at once of this file system";
  EXPECT_EQ(place->name(), "sub/file");
  ASSERT_TRUE(place->status());
  EXPECT_EQ(place->status()->size, 6U);
  EXPECT_EQ(place->read_at_once(6), "inside");
  EXPECT_EQ(place->read_at_once(5), std::nullopt);
  EXPECT_EQ(place->read(0, kAll), "inside");
  EXPECT_EQ(folder_->look_up_at_once("sub")->read_at_once(kAll), std::nullopt);
}

// Whether it may be followed at once the kernel decides; where it leads is the same.
TEST_F(SystemDiskTest, NamesWhatALinkLeadsToAtOnceToo) {
  ASSERT_TRUE(folder_->replace("file", "inside"));
  link("file", "link");
  for (int time = 0; time < 2; ++time) {
    const auto place = folder_->look_up_at_once("link");
    EXPECT_EQ(place ? place->name() : "file", "file");
    EXPECT_EQ(folder_->read("link", 0, kAll), "inside");
  }
}

TEST_F(SystemDiskTest, HasNothingAtOnceThatIsNotThereOrLiesOutside) {
  link("../secret", "out");
  link("nowhere", "dangling");
  ASSERT_TRUE(folder_->replace("file", "inside"));
  for (const char* name : {"out", "dangling", "missing", "../secret", "file/below"})
    EXPECT_EQ(folder_->look_up_at_once(name), nullptr) << name;
  if (folder_->look_up_at_once("file")) EXPECT_EQ(folder_->look_up_at_once("file")->name(), "file");
}

// What was looked up is what is read, whatever has its name by then.
TEST_F(SystemDiskTest, ReadsAtOnceWhatWasLookedUp) {
  ASSERT_TRUE(folder_->replace("file", "judged"));
  const auto place = folder_->look_up_at_once("file");
  if (!place) GTEST_SKIP() << "nothing can be had at once of this file system";
  ASSERT_TRUE(folder_->replace("file", "planted"));
  EXPECT_EQ(place->read_at_once(kAll), "judged");
}

}  // namespace
}  // namespace deputy
