// The damage that a store has met since it was opened: what was found is copied, since others will write into
// the same file, and who met it is told where the copy is. Not for two threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/disk.h"
#include "store/sqlite/database.h"
#include "store/sqlite/passed_damage.h"

namespace deputy {

// What a read or a write is of that is not of one tree or session.
inline constexpr std::string_view kWholeDatabase = "database";

class DamageMet {
 public:
  explicit DamageMet(const Folder& home) : home_(home) {}

  bool is_none() const { return level_ == Level::none; }
  bool is_copied() const { return level_ != Level::not_copied; }  // also where there is none
  std::shared_ptr<PassedDamage> passed() const { return passed_; }

  // What a read or a write came to; `name` is what it was of. An error says where the copy is, or why there
  // is none.
  template <class T>
  Result<T> kept_as_found(Result<T> result, const Database& met_by, std::string_view name) {
    const std::string passed = met_by.take_damage();
    if (!result && result.error().code == ErrorCode::corrupt)
      return std::unexpected(told(std::move(result).error(), met_by, name));
    if (!passed.empty()) pass(met_by, name, passed);
    return result;
  }

 private:
  enum class Level { none, copied, not_copied };
  // As long as it is the same, nothing was committed, and nobody else made the file longer or shorter.
  struct Moment {
    const Database* seen_by = nullptr;
    std::optional<std::uint32_t> version;
    std::uint64_t size = 0;
    bool operator==(const Moment&) const = default;
  };
  Error told(Error error, const Database& met_by, std::string_view name);
  void pass(const Database& met_by, std::string_view name, std::string_view where);
  // Yields where the copy is.
  Result<std::string> keep(const Database& met_by, std::string_view name, std::string_view why);

  const Folder& home_;
  Level level_ = Level::none;
  std::map<std::string, std::string> copies_;  // where they are, by what was met
  std::string newest_;                         // of those made here, and of which moment it is
  Moment newest_is_of_;
  std::shared_ptr<PassedDamage> passed_ = std::make_shared<PassedDamage>();
};

}  // namespace deputy
