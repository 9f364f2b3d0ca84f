#include "app/replay_random.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace deputy {
namespace {

using testing::ElementsAre;

const SessionId kRoot("sess_1800000000_aaaaaa");

Event creation(const SessionId& id, const std::string& uuid, int call = -1) {
  Session session;
  session.id = id;
  session.uuid = Uuid(uuid);
  if (call >= 0) session.parent = kRoot;
  if (call >= 0) session.delegation = DelegationKey{{{kRoot, 1}, 0, call}, 0};
  Event event;
  event.run = {id, 1};
  event.fact = SessionCreated{session};
  return event;
}

// Two children, of its first and its second call.
std::vector<Event> a_tree() {
  return {creation(kRoot, "00000000-0000-4000-8000-00000000000a"),
          creation(SessionId("sess_1800000000_bbbbbb"), "00000000-0000-4000-8000-00000000000b", 0),
          creation(SessionId("sess_1800000000_cccccc"), "00000000-0000-4000-8000-00000000000c", 1)};
}

// As the runtime draws ids for a session that it creates, or refuses.
Event drawn(ReplayedRandom& random, int call = -1) {
  const ManualClock clock;
  const SessionId id = new_session_id(clock, random);
  return creation(id, random_uuid(random), call);
}
std::string id_of(const Event& event) { return event.run.session.value; }

TEST(ReplayedChance, GivesSessionsTheIdsAgainThatTheyHad) {
  const auto events = a_tree();
  ReplayedRandom random(events, {});
  for (const Event& event : events) {
    const Event again = drawn(random);
    EXPECT_EQ(again.run.session, event.run.session);
    EXPECT_EQ(std::get<SessionCreated>(again.fact).session->uuid,
              std::get<SessionCreated>(event.fact).session->uuid);
  }
}

TEST(ReplayedChance, LearnsWhichIdsAreOfSessionsThatAreRefused) {
  const auto events = a_tree();
  std::vector<std::string> learned;
  {
    ReplayedRandom random(events, {});
    std::vector<Event> now{drawn(random)};
    (void)drawn(random);  // refused
    (void)drawn(random);
    now.push_back(drawn(random, 0));
    now.push_back(drawn(random, 1));
    learned = random.drawn_by(Places(now));
    EXPECT_THAT(learned, ElementsAre("root", "", "", "root/1.0.0.0", "root/1.0.1.0"));
  }
  ReplayedRandom random(events, learned);
  EXPECT_EQ(id_of(drawn(random)), id_of(events[0]));
  (void)drawn(random);
  (void)drawn(random);
  EXPECT_EQ(id_of(drawn(random, 0)), id_of(events[1]));
  EXPECT_EQ(id_of(drawn(random, 1)), id_of(events[2]));
}

// The next program gives it to who comes in its place.
TEST(ReplayedChance, GivesIdsAgainThatWereLostWithAProgram) {
  const auto events = a_tree();
  ReplayedRandom random(events, {});
  std::vector<Event> now{drawn(random)};
  EXPECT_EQ(id_of(drawn(random)), id_of(events[1]));  // lost
  random.go_on(Places(now));
  now.push_back(drawn(random, 0));
  EXPECT_EQ(id_of(now[1]), id_of(events[1]));
  EXPECT_THAT(random.drawn_by(Places(now)), ElementsAre("root", "", "root/1.0.0.0"));
}

TEST(ReplayedChance, NamesAWordOfThePersonAsItWasNamed) {
  const std::string uuid = "923d3088-ed4c-43c1-9e9d-90d50caad893";
  const auto events = a_tree();
  ReplayedRandom random(events, {});
  random.say(uuid);
  EXPECT_EQ(random_uuid(random), uuid);
  EXPECT_EQ(id_of(drawn(random)), id_of(events[0]));
}

}  // namespace
}  // namespace deputy
