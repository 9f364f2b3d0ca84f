#include "store/sqlite/tree_locks.h"

#include <charconv>

#include "base/text.h"
#include "store/sqlite/select.h"

namespace deputy {
namespace {

// Two trees at one place would only wait for one another.
std::uint64_t place_of(const SessionId& tree) {
  constexpr std::size_t kDigits = 15;
  constexpr int kBase = 16;
  const std::string digest = sha256_hex(tree.value);
  std::uint64_t place = 0;
  std::from_chars(digest.data(), digest.data() + kDigits, place, kBase);
  return place;
}

// Beside it, for that the holder is named.
std::uint64_t name_of(const SessionId& tree) {
  constexpr std::uint64_t kBeyondAllPlaces = std::uint64_t{1} << 60;
  return place_of(tree) + kBeyondAllPlaces;
}

}  // namespace

Result<TreeLocks> TreeLocks::open(const Folder& home) {
  TRY(auto locks, DiskLocks::open(home, kLockName));
  return TreeLocks(std::move(locks));
}

Result<bool> TreeLocks::take(const SessionId& tree) { return locks_.take(place_of(tree)); }
void TreeLocks::release(const SessionId& tree) {
  locks_.release(name_of(tree));
  locks_.release(place_of(tree));
}
bool TreeLocks::is_held_by_another(const SessionId& tree) const {
  return locks_.is_taken_by_another(place_of(tree));
}

Result<void> TreeLocks::show_name(const SessionId& tree) {
  TRY(locks_.take(name_of(tree)));
  return {};
}

bool TreeLocks::is_named_by_another(const SessionId& tree) const {
  return locks_.is_taken_by_another(name_of(tree));
}

Result<std::string> last_holder(const Database& database, const SessionId& tree) {
  TRY(const auto found, select(database, "SELECT holder FROM trees WHERE tree=?", tree.value,
                               [](const Statement& row) -> Result<std::string> { return row.text(0); }));
  return found.empty() || found.front().empty() ? "another process" : found.front();
}

// The name is written before it is shown, so one that is the same before and after is of who shows it.
Result<std::string> other_holder(const Database& database, const TreeLocks& locks, const SessionId& tree) {
  TRY(const auto before, last_holder(database, tree));
  const bool is_shown = locks.is_named_by_another(tree);
  TRY(auto after, last_holder(database, tree));
  return is_shown && before == after ? std::move(after) : "another process that has just taken it up";
}

}  // namespace deputy
