// What the person has typed before, kept over restarts in the state folder. Best effort: a line that cannot
// be kept is not missed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"

namespace deputy {

class History {
 public:
  // `home` may be missing.
  explicit History(std::unique_ptr<Folder> home) : home_(std::move(home)) {}
  std::vector<std::string> load() const;  // oldest first
  void add(std::string_view text) const;

 private:
  std::unique_ptr<Folder> home_;
};

}  // namespace deputy
