// Whichever call of the system fails while a file is changed: it is said, the file is the old or the new one
// and nothing between, and nothing is left behind, neither beside it nor in the table of descriptors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>
#include <limits>
#include <set>

#include "base/disk.h"
#include "base/text.h"
#include "failing_call.h"
#include "support/held.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using calls::FailingCall;
using calls::Refused;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kOld = "what was there";
constexpr std::string_view kNew = "what comes in its place";

using Change = std::function<Result<void>(const Folder&)>;

std::vector<std::string> files_in(const Folder& folder, const std::string& below = ".") {
  std::vector<std::string> found;
  for (const Entry& entry : folder.list(below).value()) {
    const std::string name = below == "." ? entry.name : join_path(below, entry.name);
    if (entry.status.kind == EntryKind::folder) {
      for (const std::string& each : files_in(folder, name)) found.push_back(each);
    } else {
      found.push_back(name);
    }
  }
  return found;
}

struct Tried {
  std::string refused;  // the call; empty where there was none left to refuse
  std::vector<std::string> files;
  std::string content;  // of "file", where it is there
};

class DiskCalls : public testing::Test {
 protected:
  // Each time in a folder as `prepare` leaves it. The last one is that in which nothing was refused.
  static std::vector<Tried> refuse_each(const Change& prepare, const Change& change) {
    std::vector<Tried> all;
    do {
      const TempFolder temp;
      const auto folder = SystemDisk().open(temp.path(), IfAbsent::fail).value();
      EXPECT_TRUE(prepare(*folder));
      all.push_back(refuse(static_cast<int>(all.size()) + 1, *folder, change));
    } while (!all.back().refused.empty());
    return all;
  }

  static Tried refuse(int at, const Folder& folder, const Change& change) {
    Tried tried;
    const auto before = Held::now().descriptors;
    Result<void> changed;
    {
      const FailingCall failing(at, EIO);
      changed = change(folder);
      tried.refused = failing.refused();
    }
    SCOPED_TRACE(fmt::format("call {}, {}", at, tried.refused.empty() ? "none refused" : tried.refused));
    EXPECT_EQ(Held::now().descriptors, before);
    EXPECT_EQ(changed.has_value(), tried.refused.empty());
    if (!changed) {
      EXPECT_THAT(changed.error().message, HasSubstr(folder.path()));
      EXPECT_FALSE(changed.error().advice.empty()) << changed.error().message;
    }
    tried.files = files_in(folder);
    tried.content = folder.read("file", 0, kAll).value_or("");
    return tried;
  }

  static std::set<std::string> refused_in(const std::vector<Tried>& all) {
    std::set<std::string> names;
    for (const Tried& tried : all) names.insert(tried.refused);
    return names;
  }

  // Only the sync of a name comes too late to keep the old file.
  static void expect_old_or_new(const std::vector<Tried>& all, std::string_view old) {
    std::vector<std::string> after_syncs;
    for (const Tried& tried : all) {
      if (tried.refused == "fsync") {
        after_syncs.push_back(tried.content);
      } else {
        EXPECT_EQ(tried.content, tried.refused.empty() ? kNew : old) << tried.refused;
      }
      if (tried.content.empty()) {
        EXPECT_TRUE(tried.files.empty()) << tried.refused << " left " << tried.files.front();
      } else {
        EXPECT_THAT(tried.files, ElementsAre("file")) << tried.refused;
      }
    }
    EXPECT_THAT(after_syncs, ElementsAre(old, kNew));
  }
};

Result<void> nothing(const Folder&) { return {}; }

Result<void> lay_out(const Folder& folder) {
  auto laid_out = folder.replace("file", kOld);
  ::chmod(join_path(folder.path(), "file").c_str(), 0640);
  return laid_out;
}

TEST_F(DiskCalls, WhicheverFailsAReplacedFileIsTheOldOrTheNewOne) {
  const auto all = refuse_each(lay_out, [](const Folder& folder) { return folder.replace("file", kNew); });
  EXPECT_THAT(refused_in(all),
              IsSupersetOf({"openat2", "openat", "fstatat", "fchmod", "write", "fsync", "renameat2"}));
  expect_old_or_new(all, kOld);
}

TEST_F(DiskCalls, WhicheverFailsANewFileIsThereOrNot) {
  const auto all = refuse_each(nothing, [](const Folder& folder) { return folder.replace("file", kNew); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"openat2", "openat", "write", "fsync", "renameat2"}));
  expect_old_or_new(all, "");
}

Result<void> look_up_and_replace(const Folder& folder, const std::string& name, const std::string& expected) {
  TRY(const auto place, folder.look_up(name));
  return place->replace(kNew, expected);
}

// The way of Write and Edit.
TEST_F(DiskCalls, WhicheverFailsAFileThatWasLookedUpIsTheOldOrTheNewOne) {
  const auto all = refuse_each(
      lay_out, [](const Folder& folder) { return look_up_and_replace(folder, "file", sha256_hex(kOld)); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"fcntl", "openat2", "openat", "readlink", "fchmod", "write",
                                             "fsync", "renameat2"}));
  expect_old_or_new(all, kOld);
}

TEST_F(DiskCalls, WhicheverFailsAFileInNewFoldersIsThereOrNot) {
  const auto all = refuse_each(
      nothing, [](const Folder& folder) { return look_up_and_replace(folder, "one/two/file", ""); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"mkdirat", "openat", "write", "fsync", "renameat2"}));
  int whole = 0;
  for (const Tried& tried : all) {
    if (tried.files.empty()) continue;
    EXPECT_THAT(tried.files, ElementsAre("one/two/file")) << tried.refused;
    EXPECT_TRUE(tried.refused.empty() || tried.refused == "fsync") << tried.refused;
    ++whole;
  }
  EXPECT_EQ(whole, 2) << "where nothing was refused, and where the last sync was";
}

TEST_F(DiskCalls, WhicheverFailsWhatWasThereStandsBeforeWhatIsAdded) {
  const auto all =
      refuse_each(lay_out, [](const Folder& folder) { return folder.append_to("file", kNew, Durable::yes); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"openat2", "fstatat", "fstat", "write", "fsync"}));
  const std::string both = std::string(kOld) + std::string(kNew);
  bool is_written = false;
  for (const Tried& tried : all) {
    is_written = is_written || tried.refused == "fsync" || tried.refused.empty();
    EXPECT_EQ(tried.content, is_written ? both : kOld) << tried.refused;
    EXPECT_THAT(tried.files, ElementsAre("file"));
  }
}

TEST_F(DiskCalls, WhicheverFailsARenamedFileHasOneName) {
  const auto all = refuse_each(lay_out, [](const Folder& folder) { return folder.rename("file", "other"); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"openat2", "renameat", "fsync"}));
  bool is_renamed = false;
  for (auto tried = all.begin(); tried != all.end(); ++tried) {
    EXPECT_THAT(tried->files, ElementsAre(is_renamed ? "other" : "file")) << tried->refused;
    is_renamed = is_renamed || tried->refused == "renameat";
  }
}

TEST_F(DiskCalls, WhicheverFailsNoFolderIsSaidToBeMadeThatIsNotThereForGood) {
  const auto all = refuse_each(nothing, [](const Folder& folder) { return folder.make_folder("one/two"); });
  EXPECT_THAT(refused_in(all), IsSupersetOf({"openat2", "mkdirat", "fsync"}));
}

TEST_F(DiskCalls, WhicheverFailsAFolderIsMadeOnTheWayAndOpenOrItIsSaid) {
  std::set<std::string> names;
  for (int at = 1;; ++at) {
    const TempFolder temp;
    const auto before = Held::now().descriptors;
    {
      const FailingCall failing(at, EIO);
      const auto opened = SystemDisk().open(temp.file("one/two"), IfAbsent::create);
      if (failing.refused().empty()) {
        EXPECT_TRUE(opened);
        break;
      }
      names.insert(failing.refused());
      // What processes call it is good to know, and no more.
      EXPECT_EQ(opened.has_value(), failing.refused() == "readlink") << at << " " << failing.refused();
      if (!opened) EXPECT_THAT(opened.error().message, HasSubstr(temp.path()));
    }
    EXPECT_EQ(Held::now().descriptors, before) << at;
  }
  EXPECT_THAT(names, IsSupersetOf({"open", "openat", "openat2", "mkdirat", "fsync", "readlink"}));
}

TEST_F(DiskCalls, ADiskThatIsFullAfterHalfOfTheBytesKeepsTheOldFile) {
  const std::vector<Change> ways{
      [](const Folder& folder) { return folder.replace("file", kNew); },
      [](const Folder& folder) { return look_up_and_replace(folder, "file", sha256_hex(kOld)); }};
  for (const Change& change : ways) {
    const TempFolder temp;
    const auto folder = SystemDisk().open(temp.path(), IfAbsent::fail).value();
    ASSERT_TRUE(lay_out(*folder));
    Result<void> changed;
    {
      const FailingCall failing(1, ENOSPC, Refused::after_half);
      changed = change(*folder);
      EXPECT_EQ(failing.refused(), "write");
    }
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().code, ErrorCode::exhausted);
    EXPECT_EQ(folder->read("file", 0, kAll), kOld);
    EXPECT_THAT(files_in(*folder), ElementsAre("file"));
  }
}

TEST_F(DiskCalls, ADiskThatIsFullAfterHalfOfWhatIsAddedSaysHowMuchIsThere) {
  const TempFolder temp;
  const auto folder = SystemDisk().open(temp.path(), IfAbsent::fail).value();
  ASSERT_TRUE(lay_out(*folder));
  Result<void> added;
  {
    const FailingCall failing(1, ENOSPC, Refused::after_half);
    added = folder->append_to("file", kNew);
  }
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::exhausted);
  EXPECT_THAT(added.error().message,
              HasSubstr(fmt::format("more than {} of {} bytes", kNew.size() / 2, kNew.size())));
  EXPECT_EQ(folder->read("file", 0, kAll), std::string(kOld) + std::string(kNew.substr(0, kNew.size() / 2)));
}

}  // namespace
}  // namespace deputy
