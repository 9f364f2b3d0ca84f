#include "app/replay_death.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::ElementsAre;

const SessionId kRoot("sess_1800000000_aaaaaa");
const SessionId kChild("sess_1800000000_bbbbbb");

Event event_of(const SessionId& session, Fact fact) {
  Event event;
  event.run = {session, 1};
  event.fact = std::move(fact);
  return event;
}
Event creation(const SessionId& id) {
  Session session;
  session.id = id;
  if (id == kChild) {
    session.parent = kRoot;
    session.delegation = DelegationKey{{{kRoot, 1}, 0, 0}, 0};
  }
  return event_of(id, SessionCreated{session});
}

// Each session is created, reserves, and starts; then the root starts again.
const std::vector<Event> kTold{creation(kRoot),
                               event_of(kRoot, BudgetReserved{}),
                               event_of(kRoot, RunStarted{}),
                               creation(kChild),
                               event_of(kChild, BudgetReserved{}),
                               event_of(kChild, RunStarted{}),
                               event_of(kRoot, RunStarted{})};

std::vector<std::string> left(std::size_t before, const std::map<std::string, Progress>& then) {
  std::vector<std::string> kinds;
  for (const Event& event : left_by_death(kTold, before, Places(kTold), then))
    kinds.push_back((event.run.session == kRoot ? "root " : "child ") + std::string(kind_of(event.fact)));
  return kinds;
}

TEST(ADeath, LeavesOfEachSessionAsMuchAsThen) {
  EXPECT_THAT(
      left(0, {{"root", {.events = 2, .reserved = 1}}, {"root/1.0.0.0", {.events = 1, .reserved = 1}}}),
      ElementsAre("root created", "root reserved", "root started", "child created", "child reserved"));
}

TEST(ADeath, LeavesWhatWasReservedOnlyWhereItWasOnRecord) {
  EXPECT_THAT(left(0, {{"root", {.events = 2, .reserved = 1}}, {"root/1.0.0.0", {.events = 1}}}),
              ElementsAre("root created", "root reserved", "root started", "child created"));
}

TEST(ADeath, LeavesNothingOfASessionThatHadToldNothing) {
  EXPECT_THAT(left(0, {{"root", {.events = 3, .reserved = 1}}}),
              ElementsAre("root created", "root reserved", "root started", "root started"));
}

TEST(ADeath, LeavesWhatWasOnRecordBefore) {
  EXPECT_THAT(left(5, {}), ElementsAre("root created", "root reserved", "root started", "child created",
                                       "child reserved"));
}

}  // namespace
}  // namespace deputy
