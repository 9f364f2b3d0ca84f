#include "app/replay_places.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace deputy {
namespace {

SessionId numbered(int number) { return SessionId(fmt::format("sess_1800000000_{:06}", number)); }

Event creation(const SessionId& id) {
  Event event;
  event.run = {id, 1};
  event.fact = SessionCreated{};
  std::get<SessionCreated>(event.fact).session->id = id;
  return event;
}
Event creation(const SessionId& id, const SessionId& parent, DelegationKey key) {
  Event event = creation(id);
  auto& session = std::get<SessionCreated>(event.fact).session;
  session->parent = parent;
  session->delegation = key;
  return event;
}

TEST(ThePlaceOfASession, IsTheChainOfCallsThatMadeIt) {
  const SessionId root = numbered(0);
  const SessionId child = numbered(1);
  const SessionId below = numbered(2);
  const Places places({creation(root), creation(child, root, {{{root, 1}, 0, 2}, 3}),
                       creation(below, child, {{{child, 2}, 5, 0}, 0})});
  EXPECT_EQ(places.of(root), "root");
  EXPECT_EQ(places.of(child), "root/1.0.2.3");
  EXPECT_EQ(places.of(below), "root/1.0.2.3/2.5.0.0");
  ASSERT_NE(places.at("root/1.0.2.3"), nullptr);
  EXPECT_EQ(*places.at("root/1.0.2.3"), child);
  EXPECT_EQ(places.at("root/1.0.2.4"), nullptr);
  EXPECT_EQ(places.of(numbered(3)), "root") << "whom nobody created";
}

// Each as deep as the one before, and one more.
TEST(ThePlaceOfASession, StaysShortHoweverDeepItIs) {
  constexpr int kDepth = 1000;
  Places places({creation(numbered(0))});
  std::set<std::string> all;
  for (int depth = 1; depth <= kDepth; ++depth) {
    const SessionId parent = numbered(depth - 1);
    places.take(creation(numbered(depth), parent, {{{parent, 1}, 0, 0}, 0}));
    const std::string& place = places.of(numbered(depth));
    EXPECT_LT(place.size(), 300u);
    all.insert(place);
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kDepth)) << "and each is another";
}

}  // namespace
}  // namespace deputy
