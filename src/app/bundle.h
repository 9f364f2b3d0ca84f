// A support bundle: what somebody else needs to look into what one tree did, as JSON lines. The first says
// what machine and settings it was, each further one is an event of the tree's journal. Reading is a pure
// function that believes nothing: what it yields is one whole tree, from its root's creation on, and no
// larger than can be replayed (bundle_order.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/redaction.h"
#include "base/result.h"
#include "delegation/profiles.h"
#include "model/provider.h"
#include "transcript/event.h"

namespace deputy {

inline constexpr std::size_t kMostBundleBytes = kMaxJsonBytes;

struct Bundle {
  // What `deputy doctor` found, the settings, whether there is a search service, the state folder, the agents
  // that are not built in and which of the tree's are not as they were then, and the windows and prices of
  // its models where they are known.
  json::object about;
  std::vector<Event> events;
};

json::object price_json(const Price& price);
std::optional<Price> price_in(const json::object& told);

// The agents that were not built in: those that sessions of the tree were, and what there was to know of the
// others that they could hand work to.
json::array agents_json(const Profiles& profiles, const std::vector<Event>& events);
// Those that have changed since, by name, as far as that can be told: such an agent is gone, or as it is now
// it could not have had a session of the tree as it is on record. Of its instructions and its tools nothing
// is.
std::set<std::string> changed_agents(const Profiles& profiles, const std::vector<Event>& events);
// With the built-in ones. None of a file plays a command.
Profiles agents_in(const Bundle& bundle);

// Each line without secrets, and without the passwords of addresses that stand anywhere in it.
std::string bundle_text(const Bundle& bundle, Redactor redactor);
Result<Bundle> parse_bundle(std::string_view text);

}  // namespace deputy
