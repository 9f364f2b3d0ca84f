#include "app/replay_random.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace deputy {
namespace {

constexpr std::string_view kSuffix = "abcdefghijklmnopqrstuvwxyz0123456789";  // as in ids.cc
constexpr std::size_t kSuffixLength = 6;
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
std::vector<std::uint64_t> drawn_for_suffix(std::string_view suffix) {
  std::vector<std::uint64_t> drawn;
  for (const char c : suffix)
    if (const auto at = kSuffix.find(c); at != kSuffix.npos) drawn.push_back(kSuffix.size() + at);
  return drawn;
}

std::string suffix_of(const SessionId& id) { return id.value.substr(id.value.rfind('_') + 1); }

}  // namespace

ReplayedRandom::ReplayedRandom(const std::vector<Event>& then, const std::vector<std::string>& created) {
  const Places places(then);
  std::map<std::string_view, std::size_t> ranks;
  std::multimap<std::size_t, Ids> ranked;
  for (std::size_t at = 0; at < created.size(); ++at) {
    if (created[at].empty()) ranked.emplace(at, further_ids());
    ranks.emplace(created[at], at);
  }
  for (const Event& event : then) {
    const auto* made = std::get_if<SessionCreated>(&event.fact);
    if (!made) continue;
    const auto rank = ranks.find(places.of(made->session->id));
    ranked.emplace(rank == ranks.end() ? created.size() : rank->second,
                   Ids{suffix_of(made->session->id), made->session->uuid});
  }
  for (auto& [rank, each] : ranked) ids_.push_back(std::move(each));
  go_on({});
}

ReplayedRandom::Ids ReplayedRandom::further_ids() {
  return {.suffix = random_text(further_, kSuffixLength, kSuffix),
          .uuid = Uuid(random_uuid(further_)),
          .is_of_then = false};
}

std::uint64_t ReplayedRandom::next() {
  if (coming_.empty()) {
    ids_.push_back(further_ids());
    add(ids_.size() - 1);
  }
  const Draw first = coming_.front();
  coming_.pop_front();
  if (first.begins) {
    ids_[*first.begins].is_drawn = true;
    drawn_.push_back(*first.begins);
  }
  return first.number;
}

void ReplayedRandom::go_on(const Places& there) {
  std::set<std::string> suffixes;
  for (const auto& [id, place] : there.all()) suffixes.insert(suffix_of(id));
  coming_.clear();
  for (std::size_t which = 0; which < ids_.size(); ++which) {
    const Ids& ids = ids_[which];
    if (ids.is_of_then ? !suffixes.contains(ids.suffix) : !ids.is_drawn) add(which);
  }
}

void ReplayedRandom::add(std::size_t which) {
  auto numbers = drawn_for_suffix(ids_[which].suffix);
  const auto of_uuid = drawn_for_uuid(ids_[which].uuid.value);
  numbers.insert(numbers.end(), of_uuid.begin(), of_uuid.end());
  for (std::size_t at = 0; at < numbers.size(); ++at)
    coming_.push_back({numbers[at], at == 0 ? std::optional(which) : std::nullopt});
}

// Who came to the same ids before has lost them.
std::vector<std::string> ReplayedRandom::drawn_by(const Places& now) const {
  std::map<std::string, std::string> by_suffix;
  for (const auto& [id, place] : now.all()) by_suffix[suffix_of(id)] = place;
  std::vector<std::string> found(drawn_.size());
  for (std::size_t at = drawn_.size(); at-- > 0;) {
    if (const auto place = by_suffix.extract(ids_[drawn_[at]].suffix)) found[at] = place.mapped();
  }
  return found;
}

void ReplayedRandom::say(std::string_view uuid) {
  const auto numbers = drawn_for_uuid(uuid);
  for (auto at = numbers.rbegin(); at != numbers.rend(); ++at) coming_.push_front({*at});
}

}  // namespace deputy
