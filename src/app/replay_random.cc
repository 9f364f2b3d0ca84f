#include "app/replay_random.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace deputy {
namespace {

constexpr std::string_view kSuffix = "abcdefghijklmnopqrstuvwxyz0123456789";  // as in ids.cc
constexpr std::size_t kUuidDigits = 32;

// What random_uuid() would have to draw.
std::vector<std::uint64_t> drawn_for_uuid(std::string_view uuid) {
  std::string digits;
  for (const char c : uuid)
    if (c != '-') digits += c;
  std::vector<std::uint64_t> drawn;
  for (std::size_t at = 0; at < kUuidDigits && digits.size() == kUuidDigits; at += kUuidDigits / 2) {
    std::uint64_t half = 0;
    std::from_chars(digits.data() + at, digits.data() + at + kUuidDigits / 2, half, 16);
    drawn.push_back(half);
  }
  return drawn;
}

// And new_session_id(). Small numbers are drawn again: they would be likelier than others.
std::vector<std::uint64_t> drawn_for_id(std::string_view id) {
  std::vector<std::uint64_t> drawn;
  for (const char c : id.substr(id.rfind('_') + 1))
    if (const auto at = kSuffix.find(c); at != kSuffix.npos) drawn.push_back(kSuffix.size() + at);
  return drawn;
}

}  // namespace

ReplayedRandom::ReplayedRandom(const std::vector<Event>& then, const std::vector<std::string>& created) {
  const Places places(then);
  std::map<std::string_view, std::size_t> ranks;
  for (const std::string& place : created) ranks.emplace(place, ranks.size());
  std::multimap<std::size_t, std::pair<SessionId, Uuid>> ranked;
  for (const Event& event : then) {
    const auto* made = std::get_if<SessionCreated>(&event.fact);
    if (!made) continue;
    const auto rank = ranks.find(places.of(made->session->id));
    ranked.emplace(rank == ranks.end() ? ranks.size() : rank->second,
                   std::pair(made->session->id, made->session->uuid));
  }
  for (auto& [rank, each] : ranked) ids_.push_back(std::move(each));
  go_on({});
}

std::uint64_t ReplayedRandom::next() {
  if (drawn_.empty()) return further_.next();
  const std::uint64_t first = drawn_.front();
  drawn_.pop_front();
  return first;
}

void ReplayedRandom::go_on(const Places& there) {
  drawn_.clear();
  for (const auto& [id, uuid] : ids_) {
    if (there.all().contains(id)) continue;
    for (const auto& part : {drawn_for_id(id.value), drawn_for_uuid(uuid.value)})
      drawn_.insert(drawn_.end(), part.begin(), part.end());
  }
}

std::vector<std::string> ReplayedRandom::drawn_by(const Places& now) const {
  std::vector<std::string> found;
  for (const auto& [id, uuid] : ids_)
    if (now.all().contains(id)) found.push_back(now.of(id));
  return found;
}

void ReplayedRandom::say(std::string_view uuid) {
  const auto drawn = drawn_for_uuid(uuid);
  drawn_.insert(drawn_.begin(), drawn.begin(), drawn.end());
}

}  // namespace deputy
