#include "app/replay_models.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

SessionId numbered(int number) { return SessionId(std::to_string(number)); }

// A root and its children, each of the next call, with ids from this one on.
Places places_from(int first, int children) {
  Places places;
  for (int i = 0; i <= children; ++i) {
    Session session;
    session.id = numbered(first + i);
    if (i > 0) {
      session.parent = numbered(first);
      session.delegation = DelegationKey{{{numbered(first), 1}, 0, i}, 0};
    }
    Event event;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    places.take(event);
  }
  return places;
}

TEST(ATextOfThen, IsToldWithTheIdsOfNow) {
  const Places then = places_from(100, 2);
  Places now = places_from(200, 1);
  const Worlds worlds(then, now);
  EXPECT_EQ(worlds.translated("go on with 101, not 100"), "go on with 201, not 200");
  EXPECT_EQ(worlds.translated("and 102"), "and 102") << "which is not there yet";
  now = places_from(200, 2);
  EXPECT_EQ(worlds.translated("and 102"), "and 202");
}

// Those of now are those of then, each of another session.
TEST(ATextOfThen, IsToldOnceWhereIdsComeAgainForOthers) {
  const Places then = places_from(100, 50);
  const Places now = places_from(101, 50);
  EXPECT_EQ(Worlds(then, now).translated("100 101 102"), "101 102 103");
}

}  // namespace
}  // namespace deputy
