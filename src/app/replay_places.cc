#include "app/replay_places.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kLongest = 200;
constexpr std::size_t kDigitsOfSum = 16;

const std::string& root_place() {
  static const std::string place = "root";
  return place;
}

std::string place_below(const std::string& parent, const DelegationKey& key) {
  const std::string above =
      parent.size() > kLongest ? fmt::format("…{}", sha256_hex(parent).substr(0, kDigitsOfSum)) : parent;
  return fmt::format("{}/{}.{}.{}.{}", above, key.call.run.number, key.call.step, key.call.index, key.task);
}

}  // namespace

Places::Places(const std::vector<Event>& events) {
  for (const Event& event : events) take(event);
}

void Places::take(const Event& event) {
  const auto* created = std::get_if<SessionCreated>(&event.fact);
  if (!created) return;
  const Session& session = *created->session;
  std::string place = session.parent && session.delegation
                          ? place_below(of(*session.parent), *session.delegation)
                          : root_place();
  sessions_[place] = session.id;
  places_[session.id] = std::move(place);
}

const std::string& Places::of(const SessionId& session) const {
  const auto found = places_.find(session);
  return found == places_.end() ? root_place() : found->second;
}

const SessionId* Places::at(const std::string& place) const {
  const auto found = sessions_.find(place);
  return found == sessions_.end() ? nullptr : &found->second;
}

}  // namespace deputy
