#include "faulty_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace deputy {
namespace {

namespace fs = std::filesystem;

FaultyDisk* disk = nullptr;
sqlite3_vfs* usual = nullptr;

// What SQLite sees as its file; the usual one lies right behind it.
struct Shim {
  sqlite3_file base;
  bool is_tracked;
  const char* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

Shim& shim(sqlite3_file* file) { return *reinterpret_cast<Shim*>(file); }
sqlite3_file* real(sqlite3_file* file) { return shim(file).real(); }

std::string contents(const fs::path& path) {
  std::error_code absent;
  const auto size = fs::file_size(path, absent);
  std::string bytes(absent ? 0 : size, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void put(std::string& image, const FaultyDisk::Change& change) {
  if (change.truncates) return image.resize(static_cast<std::size_t>(change.offset));
  const auto end = static_cast<std::size_t>(change.offset) + change.bytes.size();
  if (image.size() < end) image.resize(end);
  image.replace(static_cast<std::size_t>(change.offset), change.bytes.size(), change.bytes);
}

int close_file(sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); }
int read_file(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), to, count, offset);
}
int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  Shim& own = shim(file);
  if (own.is_tracked) {
    if (const int code = disk->next_operation(own.path, FaultyDisk::Kind::write)) return code;
    if (const int code = disk->room_for(own.path, offset + count)) return code;
  }
  const int result = real(file)->pMethods->xWrite(real(file), from, count, offset);
  if (own.is_tracked && result == SQLITE_OK) {
    disk->file_at(own.path)->since.push_back(
        {offset, std::string(static_cast<const char*>(from), static_cast<std::size_t>(count)), false});
  }
  return result;
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  Shim& own = shim(file);
  if (own.is_tracked) {
    if (const int code = disk->next_operation(own.path, FaultyDisk::Kind::truncation)) return code;
    disk->file_at(own.path)->since.push_back({size, "", true});
  }
  return real(file)->pMethods->xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  Shim& own = shim(file);
  if (!own.is_tracked) return real(file)->pMethods->xSync(real(file), flags);
  disk->begin_sync(own.path);
  FaultyDisk::File& tracked = *disk->file_at(own.path);
  if (const int code = disk->next_operation(own.path, FaultyDisk::Kind::sync)) {
    // As a kernel does: what could not be written is dropped, though it can still be read for a while. The
    // next sync succeeds and brings none of it to the disk. What a power cut leaves of it is chance's.
    std::ranges::move(tracked.since, std::back_inserter(tracked.dropped));
    tracked.since.clear();
    return code;
  }
  disk->note_sync(own.path, tracked.since);
  for (const auto& change : tracked.since) put(tracked.synced, change);
  tracked.since.clear();
  return SQLITE_OK;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int kind) { return real(file)->pMethods->xLock(real(file), kind); }
int unlock(sqlite3_file* file, int kind) { return real(file)->pMethods->xUnlock(real(file), kind); }
int check_lock(sqlite3_file* file, int* result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
int control(sqlite3_file* file, int what, void* with) {
  if (what == SQLITE_FCNTL_LAST_ERRNO && disk->is_full()) {
    *static_cast<int*>(with) = ENOSPC;
    return SQLITE_OK;
  }
  return real(file)->pMethods->xFileControl(real(file), what, with);
}
int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, to);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

constexpr sqlite3_io_methods kMethods{
    2,        close_file,  read_file,  write_file, truncate_file, sync_file,       file_size,
    lock,     unlock,      check_lock, control,    sector_size,   characteristics, shm_map,
    shm_lock, shm_barrier, shm_unmap,  nullptr,    nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  Shim& own = shim(file);
  own.is_tracked = name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
  own.path = name;  // SQLite keeps it as long as the file is open
  if (own.is_tracked) disk->track(name);
  const int result = usual->xOpen(usual, name, own.real(), flags, out);
  file->pMethods = own.real()->pMethods ? &kMethods : nullptr;
  return result;
}
int delete_file(sqlite3_vfs*, const char* name, int sync_folder) {
  if (disk->is_dead()) return SQLITE_IOERR_DELETE;
  disk->forget(name);
  return usual->xDelete(usual, name, sync_folder);
}
int access(sqlite3_vfs*, const char* name, int flags, int* result) {
  return usual->xAccess(usual, name, flags, result);
}
int full_path(sqlite3_vfs*, const char* name, int count, char* to) {
  return usual->xFullPathname(usual, name, count, to);
}

sqlite3_vfs own_vfs;

}  // namespace

FaultyDisk::FaultyDisk() {
  disk = this;
  usual = sqlite3_vfs_find("unix");
  own_vfs = *usual;
  own_vfs.zName = "faulty";
  own_vfs.szOsFile = static_cast<int>(sizeof(Shim)) + usual->szOsFile;
  own_vfs.xOpen = open_file;
  own_vfs.xDelete = delete_file;
  own_vfs.xAccess = access;
  own_vfs.xFullPathname = full_path;
  sqlite3_vfs_register(&own_vfs, 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&own_vfs);
  sqlite3_vfs_register(usual, 1);
  disk = nullptr;
}

bool FaultyDisk::is_full() const { return has_failed_ && code_ == SQLITE_FULL; }

void FaultyDisk::fail_at(int n, int code, bool stays) {
  heal();
  fail_at_ = n;
  code_ = code;
  stays_ = stays;
}

void FaultyDisk::set_room(std::uint64_t bytes, std::vector<fs::path> others) {
  room_ = bytes;
  others_ = std::move(others);
}

void FaultyDisk::heal() {
  operations_ = fail_at_ = 0;
  room_ = 0;
  has_failed_ = has_failed_to_sync_log_ = false;
  uses_of_log_since_ = 0;
  log_syncs_ = {};
}

int FaultyDisk::next_operation(const std::string& path, Kind kind) {
  ++operations_;
  const bool is_of_log = path.ends_with("-wal");
  if (has_failed_ && is_of_log) ++uses_of_log_since_;
  const bool fails = fail_at_ != 0 && (operations_ == fail_at_ || (stays_ && operations_ > fail_at_));
  if (!fails) return SQLITE_OK;
  if (!has_failed_) has_failed_to_sync_log_ = is_of_log && kind == Kind::sync;
  has_failed_ = true;
  return code_;
}

void FaultyDisk::begin_sync(const std::string& path) {
  if (!path.ends_with("-wal")) return;
  if (const auto then = std::exchange(in_next_log_sync_, {})) then();
}

void FaultyDisk::note_sync(const std::string& path, const std::vector<Change>& brought) {
  if (!path.ends_with("-wal")) return;
  constexpr std::int64_t kHeader = 32;
  const auto is_behind_header = [](const Change& change) { return change.offset >= kHeader; };
  const auto is_zero = [](const Change& change) {
    return std::ranges::all_of(change.bytes, [](char byte) { return byte == '\0'; });
  };
  const bool is_of_zeros = std::ranges::all_of(brought, is_zero);
  const bool has_frames = !is_of_zeros && std::ranges::any_of(brought, is_behind_header);
  auto& kind = has_frames                        ? log_syncs_.of_commits
               : is_of_zeros && !brought.empty() ? log_syncs_.of_room
                                                 : log_syncs_.others;
  kind.push_back(operations_);
}

int FaultyDisk::room_for(const std::string& path, std::int64_t end) {
  if (room_ == 0) return SQLITE_OK;
  std::error_code ignored;
  const auto size_of = [&ignored](const fs::path& file) -> std::uint64_t {
    const auto size = fs::file_size(file, ignored);
    return ignored ? 0 : size;
  };
  std::uint64_t used = std::max(size_of(path), static_cast<std::uint64_t>(end));
  if (used == size_of(path)) return SQLITE_OK;  // it has that room already
  for (const auto& [other, file] : files_) used += other == path ? 0 : size_of(other);
  for (const auto& other : others_) used += size_of(other);
  if (used <= room_) return SQLITE_OK;
  has_failed_ = true;
  return SQLITE_FULL;
}

FaultyDisk::File* FaultyDisk::file_at(const std::string& path) {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

void FaultyDisk::track(const std::string& path) {
  if (!files_.contains(path)) files_[path].synced = contents(path);
}

void FaultyDisk::lose_memory() {
  for (const auto& [path, file] : files_) {
    std::string image = file.synced;
    for (const Change& change : file.since) put(image, change);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << image;
    fs::remove(path + "-shm");
  }
  files_.clear();
}

void FaultyDisk::cut_power(std::mt19937_64& chance) {
  for (auto& [path, file] : files_) {
    std::string image = file.synced;
    std::ranges::move(file.since, std::back_inserter(file.dropped));
    for (Change& change : file.dropped) {
      const auto fate = chance() % 4;
      if (fate == 0) continue;  // it never arrived
      if (fate == 1 && !change.bytes.empty()) change.bytes.resize(chance() % change.bytes.size());
      if (fate == 2) {
        for (char& byte : change.bytes)
          if (chance() % 10 < 3) byte = static_cast<char>(chance());
      }
      put(image, change);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << image;
    fs::remove(path + "-shm");
  }
  files_.clear();
}

}  // namespace deputy
