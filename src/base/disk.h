// The one door to files. A Disk opens Folders; a Folder reaches only what lies beneath it: the kernel
// resolves every name below the folder's descriptor, so neither "..", an absolute name, a link that leads
// out, nor a race escapes. New files are 0600 and new folders 0700. All calls block, but for those
// that say "at once": the event loop makes them through the pool. MemoryDisk is the simulated version: it
// keeps files in memory and can be told to fail.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace deputy {

enum class EntryKind { file, folder, link, other };

struct FileStatus {
  EntryKind kind = EntryKind::file;
  std::uint64_t size = 0;
  WallTime modified{};
  std::uint32_t mode = 0;
  std::uint64_t names =
      1;               // hard links: with a second one, what is read or written here may lie elsewhere too
  WallTime changed{};  // when anything of it was, its name too: unlike `modified` nobody can set it
};

struct Entry {
  std::string name;
  FileStatus status;
};

class Folder;

// What a name led to when it was looked up. All that is done with it is done to what was found then: links
// are not followed again, so what was judged is what is used.
class Place {
 public:
  virtual ~Place() = default;

  // Beneath the folder it was looked up in, as the kernel resolved it: without links, "." and ".."; "." for
  // the folder itself.
  virtual const std::string& name() const = 0;
  // Nothing where nothing is there yet; folders on the way may be missing too.
  virtual const std::optional<FileStatus>& status() const = 0;

  virtual Result<std::string> read(std::uint64_t offset, std::size_t max) const = 0;
  // The whole file, where it has at most `max` bytes and the kernel has them all in memory. Nothing: read()
  // says why, or waits for the disk.
  virtual std::optional<std::string> read_at_once(std::size_t /*max*/) const { return std::nullopt; }
  virtual Result<std::vector<Entry>> list() const = 0;
  virtual Result<std::unique_ptr<Folder>> open_folder() const = 0;
  // Whole or not at all, and durable when it returns, as Folder::replace; but only while the content has the
  // SHA-256 `expected` (empty: while there is no file), else ErrorCode::busy. Keeps the file's mode; a new
  // one, and missing folders, get what the umask leaves. A second name of the old file keeps the old content.
  virtual Result<void> replace(std::string_view bytes, std::string_view expected) const = 0;
};

// Whether what was written must outlive a power cut; what can be made again need not.
enum class Durable { yes, no };

class Folder {
 public:
  virtual ~Folder() = default;

  // The absolute path, for messages and for processes that start here; never resolved a second time by us.
  virtual const std::string& path() const = 0;
  // The descriptor a process may start in; -1 where there is none (simulated folders).
  virtual int descriptor() const = 0;

  virtual Result<std::unique_ptr<Folder>> open_folder(std::string_view name) const = 0;
  // Links are followed, beneath the folder; one that leads nowhere is refused.
  virtual Result<std::unique_ptr<Place>> look_up(std::string_view name) const = 0;
  // The same of something that is there, where the kernel has all of the way to it in memory. Nothing:
  // look_up() says why, or waits for the disk.
  virtual std::unique_ptr<Place> look_up_at_once(std::string_view /*name*/) const { return nullptr; }
  virtual Result<FileStatus> status(
      std::string_view name) const = 0;  // a link is followed, beneath the folder
  virtual Result<std::vector<Entry>> list(
      std::string_view name) const = 0;  // sorted by name, without . and ..
  // At most `max` bytes from `offset`; fewer only at the end of the file. Only regular files can be read.
  virtual Result<std::string> read(std::string_view name, std::uint64_t offset, std::size_t max) const = 0;

  virtual Result<void> make_folder(
      std::string_view name) const = 0;  // and its parents; an existing one is fine
  // Created if absent. Where it is to be durable, all that was added before is so too when it returns.
  virtual Result<void> append_to(std::string_view name, std::string_view bytes,
                                 Durable durable = Durable::no) const = 0;
  // Whole or not at all, and durable when it returns: a new file, synced, renamed into place, the folder
  // synced. Not synced where it need not be durable.
  virtual Result<void> replace(std::string_view name, std::string_view bytes,
                               Durable durable = Durable::yes) const = 0;
  virtual Result<void> rename(std::string_view from, std::string_view to) const = 0;  // and durable
  virtual Result<void> remove(std::string_view name) const = 0;  // a file, a link or an empty folder
};

enum class IfAbsent { fail, create };

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<Folder>> open(std::string_view absolute_path, IfAbsent if_absent) const = 0;
  // Follows links; for naming a file the person typed. Absolute input only.
  virtual Result<FileStatus> status(std::string_view absolute_path) const = 0;
  virtual std::string current_folder() const = 0;  // empty when it is gone
};

class SystemDisk final : public Disk {
 public:
  Result<std::unique_ptr<Folder>> open(std::string_view absolute_path, IfAbsent if_absent) const override;
  Result<FileStatus> status(std::string_view absolute_path) const override;
  std::string current_folder() const override;
};

class MemoryDisk final : public Disk {
 public:
  explicit MemoryDisk(const Clock& clock);
  ~MemoryDisk() override;
  Result<std::unique_ptr<Folder>> open(std::string_view absolute_path, IfAbsent if_absent) const override;
  Result<FileStatus> status(std::string_view absolute_path) const override;
  std::string current_folder() const override { return "/work"; }

  // A symbolic link, planted as a test's adversary would.
  void plant_link(std::string_view absolute_path, std::string_view target);

  // Asked before each change with its path (a rename: the new one); an Error it returns is what the change
  // returns.
  void set_fault(std::function<Result<void>(std::string_view path)> fault);
  // Every file, for comparing two runs.
  std::map<std::string, std::string> files() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Lexical joining for messages: "a" + "b" = "a/b"; an absolute second part stands alone.
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace deputy
