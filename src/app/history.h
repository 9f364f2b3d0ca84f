// What the person has typed before, kept over restarts in the state folder. Best effort: a line that cannot
// be kept is not missed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"

namespace deputy {

// What the bytes of its file say, oldest first: each a text that could have been typed. A line that is no
// text is passed over.
std::vector<std::string> history_in(std::string_view bytes);

class History {
 public:
  // `home` may be missing.
  explicit History(std::unique_ptr<Folder> home) : home_(std::move(home)) {}
  static constexpr std::uint64_t kMostBytes = 256 * 1024;  // of the file, at its end, are read
  std::vector<std::string> load() const;                   // oldest first
  void add(std::string_view text) const;

 private:
  std::unique_ptr<Folder> home_;
};

}  // namespace deputy
