// Damage that was met since a store was opened and kept nothing from being read, and where the copy of it is:
// for who tells of it when the store is gone. Other damage is in what the reads yield.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "base/result.h"

namespace deputy {

class PassedDamage {
 public:
  std::optional<Error> told() const {
    const std::lock_guard lock(guard_);
    return told_;
  }
  void tell(Error error) {
    const std::lock_guard lock(guard_);
    told_ = std::move(error);
  }

 private:
  mutable std::mutex guard_;
  std::optional<Error> told_;
};

}  // namespace deputy
