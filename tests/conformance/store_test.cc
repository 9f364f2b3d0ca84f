// What every Store promises, tried on each of them alike.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "async/sim_loop.h"
#include "base/disk.h"
#include "store/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

// One kind of store on one lasting medium: open() again is a second process on the same data.
class Medium {
 public:
  virtual ~Medium() = default;
  virtual std::unique_ptr<Store> open(Loop& loop) = 0;
};

class MemoryMedium final : public Medium {
 public:
  std::unique_ptr<Store> open(Loop& loop) override { return std::make_unique<MemoryStore>(loop, memory_); }

 private:
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
};

class SqliteMedium final : public Medium {
 public:
  std::unique_ptr<Store> open(Loop& loop) override {
    auto folder = SystemDisk().open(folder_.path(), IfAbsent::fail);
    auto store = SqliteStore::open(loop, **folder, std::make_unique<InlineWriter>(loop));
    EXPECT_TRUE(store) << store.error().message;
    return *std::move(store);
  }

 private:
  TempFolder folder_;
};

class StoreConformance : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "memory") {
      medium_ = std::make_unique<MemoryMedium>();
    } else {
      medium_ = std::make_unique<SqliteMedium>();
    }
    store_ = medium_->open(loop_);
  }

  static Session session(const std::string& id, const std::string& parent = "", int task = 0) {
    Session made;
    made.id = SessionId(id);
    made.uuid = Uuid("uuid-" + id);
    made.tree = SessionId(parent.empty() ? id : parent);
    if (!parent.empty()) {
      made.parent = SessionId(parent);
      made.delegation = DelegationKey{{{SessionId(parent), 1}, 0, 0}, task};
    }
    made.label = "label of " + id;
    made.agent = "reader";
    made.model = ModelName("scripted/x");
    made.prompt = "do it";
    return made;
  }
  static Event event(const Session& of, Fact fact, int step = 0, int call = -1) {
    Event made;
    made.tree = of.tree;
    made.run = {of.id, 1};
    made.step = step;
    made.call = call;
    made.fact = std::move(fact);
    return made;
  }
  Result<void> record(std::vector<Event> events) { return run(loop_, store_->record(std::move(events))); }
  void begin(const Session& root) {
    ASSERT_TRUE(store_->claim(root.tree));
    ASSERT_TRUE(record({event(root, SessionCreated{root}), event(root, RunStarted{}),
                        event(root, InputGiven{Source::person, "go"})}));
  }

  SimLoop loop_{7};
  std::unique_ptr<Medium> medium_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreConformance, GivesBackEventsInOrderWithNumbersFromOne) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const auto events = store_->events_of_tree(root.tree);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3u);
  for (std::size_t i = 0; i < events->size(); ++i) EXPECT_EQ((*events)[i].seq, i + 1);
  EXPECT_TRUE(std::holds_alternative<SessionCreated>((*events)[0].fact));
  EXPECT_EQ(std::get<InputGiven>((*events)[2].fact).text, "go");
}

TEST_P(StoreConformance, ShowsASessionAsTheFoldOfItsEvents) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  Reply reply;
  reply.usage = {.input = 10, .output = 3, .cost_micros = 5};
  Report report;
  report.status = Status::partial;
  report.reason = Reason::timeout;
  report.body = "so far";
  report.errors.push_back({.type = "timeout", .message = "its time was up"});
  ASSERT_TRUE(record({event(root, ReplyReceived{reply}), event(root, RunEnded{report}, 1)}));
  const auto found = store_->session(root.id);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->state, SessionState::partial);
  EXPECT_EQ((*found)->reason, Reason::timeout);
  EXPECT_EQ((*found)->result, "so far");
  EXPECT_EQ((*found)->error, "its time was up");
  EXPECT_EQ((*found)->steps, 1);
  EXPECT_EQ((*found)->usage, reply.usage);
  EXPECT_EQ((*found)->prompt, "do it");
}

TEST_P(StoreConformance, ShowsADeadlineWhereItWasMovedTo) {
  Session root = session("sess_1_aaaaaa");
  root.deadline = WallTime{std::chrono::seconds{100}};
  root.limits = TreeLimits{.tokens = 7};
  begin(root);
  EXPECT_EQ((*store_->session(root.id))->deadline, root.deadline);
  const WallTime later{std::chrono::seconds{160}};
  ASSERT_TRUE(record({event(root, DeadlineMoved{later})}));
  EXPECT_EQ((*store_->session(root.id))->deadline, later);
  EXPECT_EQ((*store_->session(root.id))->limits, root.limits);
  store_ = medium_->open(loop_);
  EXPECT_EQ((*store_->session(root.id))->deadline, later);
}

TEST_P(StoreConformance, FindsAChildByTheCallThatMadeIt) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const Session child = session("sess_1_bbbbbb", root.id.value, 3);
  ASSERT_TRUE(record({event(child, SessionCreated{child})}));
  const auto found = store_->child_of(*child.delegation);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->id, child.id);
  DelegationKey other = *child.delegation;
  other.task = 4;
  const auto none = store_->child_of(other);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST_P(StoreConformance, WhatRidesAlongIsDurableWithTheNextRecordAndInOrder) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_->ride_along({event(root, CallStarted{"Read", "a"}, 0, 0)});
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 3u);
  ASSERT_TRUE(record({event(root, NoteTaken{"n"})}));
  const auto events = store_->events_of_tree(root.tree);
  ASSERT_EQ(events->size(), 5u);
  EXPECT_TRUE(std::holds_alternative<CallStarted>((*events)[3].fact));
  EXPECT_TRUE(std::holds_alternative<NoteTaken>((*events)[4].fact));
}

TEST_P(StoreConformance, AnEmptyRecordMakesDurableWhatRodeAlong) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_->ride_along({event(root, CallStarted{"Read", "a"}, 0, 0)});
  ASSERT_TRUE(record({}));
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 4u);
}

// Nothing may be recorded before the next attempt is paid for, too.
TEST_P(StoreConformance, AnAttemptThatFailedAndWasPaidForIsDurableWithoutARecord) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_->ride_along({event(root, Retried{.attempt = 1, .usage = {.cost_micros = 0}})});
  loop_.run_until_idle();
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 3u) << "nobody took that one";
  store_->ride_along({event(root, Retried{.attempt = 2, .usage = {.input = 10, .cost_micros = 5}})});
  loop_.run_until_idle();
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 5u);
}

TEST_P(StoreConformance, WhatIsCarriedIsDurableWithTheUnitThatItGoesWith) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_->carry([&root] { return std::vector<Event>{event(root, ReplyHeard{true, "half"})}; });
  ASSERT_TRUE(record({}));
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 3u) << "it asks for no unit";
  ASSERT_TRUE(record({event(root, NoteTaken{"n"})}));
  const auto events = store_->events_of_tree(root.tree);
  ASSERT_EQ(events->size(), 5u);
  ASSERT_TRUE(std::holds_alternative<ReplyHeard>((*events)[3].fact));
  EXPECT_EQ(std::get<ReplyHeard>((*events)[3].fact).text, "half");
  EXPECT_TRUE(std::holds_alternative<NoteTaken>((*events)[4].fact));
}

TEST_P(StoreConformance, CommitsAllThatIsQueuedAtOnce) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const auto before = store_->counts().commits;
  TaskGroup group(loop_);
  const auto note = [](Store& store, Event noted) -> Task<> {
    EXPECT_TRUE(co_await store.record({std::move(noted)}));
  };
  for (int i = 0; i < 10; ++i) group.spawn(note(*store_, event(root, NoteTaken{std::to_string(i)})));
  loop_.run_until_idle();
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 13u);
  EXPECT_LT(store_->counts().commits - before, 10u);
}

TEST_P(StoreConformance, TellsListenersInOrderAndOnlyOfWhatIsDurable) {
  const Session root = session("sess_1_aaaaaa");
  std::vector<std::uint64_t> told;
  store_->subscribe([&](const Event& each) {
    told.push_back(each.seq);
    if (!std::holds_alternative<CallStarted>(each.fact)) {
      EXPECT_GE(store_->events_of_tree(root.tree)->size(), each.seq);
    }
  });
  begin(root);
  TaskGroup group(loop_);
  group.spawn([](Store& store, Event noted) -> Task<> { co_await store.record({std::move(noted)}); }(
                                                *store_, event(root, NoteTaken{"n"})));
  store_->ride_along({event(root, CallStarted{"Read", "a"}, 0, 0)});
  loop_.run_until_idle();
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.size(), 5u);
}

TEST_P(StoreConformance, RefusesASecondEndOfARun) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, RunEnded{}, 1)}));
  EXPECT_FALSE(record({event(root, RunEnded{}, 2)}));
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 4u);
}

TEST_P(StoreConformance, RefusesASecondResultOfACall) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, CallFinished{{"c", ToolStatus::ok, "1"}}, 0, 0)}));
  ASSERT_TRUE(record({event(root, CallFinished{{"c", ToolStatus::ok, "1"}}, 0, 1)}));
  EXPECT_FALSE(record({event(root, CallFinished{{"c", ToolStatus::ok, "2"}}, 0, 0)}));
}

TEST_P(StoreConformance, AUnitIsWrittenWholeOrNotAtAll) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, CallFinished{{"c", ToolStatus::ok, "1"}}, 0, 0)}));
  const auto twice =
      record({event(root, NoteTaken{"n"}), event(root, CallFinished{{"c", ToolStatus::ok, "2"}}, 0, 0)});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::internal);
  EXPECT_TRUE(twice.error().message.starts_with("a second 'result' record for sess_1_aaaaaa"))
      << twice.error().message;
  EXPECT_TRUE(twice.error().advice.contains("bug in deputy"));
  EXPECT_EQ(store_->events_of_tree(root.tree)->size(), 4u);
}

TEST_P(StoreConformance, AfterAFailureNothingMoreIsAccepted) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, RunEnded{}, 1)}));
  ASSERT_FALSE(record({event(root, RunEnded{}, 2)}));
  EXPECT_FALSE(record({event(root, NoteTaken{"too late"})}));
}

TEST_P(StoreConformance, ATreeThatWasNotClaimedIsNotWritten) {
  const Session root = session("sess_1_aaaaaa");
  EXPECT_FALSE(record({event(root, SessionCreated{root})}));
}

TEST_P(StoreConformance, ATreeThatIsHeldIsNotClaimedAndTheHolderIsNamed) {
  const Session root = session("sess_1_aaaaaa");
  EXPECT_EQ(store_->holder(root.tree), std::nullopt);
  begin(root);
  const auto second = medium_->open(loop_);
  const auto holder = second->holder(root.tree);
  ASSERT_TRUE(holder && *holder);
  const auto refused = second->claim(root.tree);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_TRUE(refused.error().message.contains(**holder)) << refused.error().message;
  EXPECT_FALSE(refused.error().advice.empty());
  EXPECT_TRUE(second->claim(SessionId("sess_1_bbbbbb"))) << "of another tree it says nothing";
  EXPECT_TRUE(store_->claim(root.tree)) << "who holds it may claim it again";
  store_.reset();
  EXPECT_EQ(second->holder(root.tree), std::nullopt);
  EXPECT_TRUE(second->claim(root.tree));
  EXPECT_TRUE(*second->holder(root.tree));
}

TEST_P(StoreConformance, ASecondWriterFencesOffTheFirst) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const auto second = medium_->open(loop_);
  store_->release(root.tree);
  ASSERT_TRUE(second->claim(root.tree));
  const auto refused = record({event(root, NoteTaken{"from the first"})});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  ASSERT_TRUE(run(loop_, second->record({event(root, NoteTaken{"from the second"})})));
  EXPECT_EQ(second->events_of_tree(root.tree)->back().seq, 4u);
}

TEST_P(StoreConformance, KeepsEverythingForTheNextProcess) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_.reset();
  const auto next = medium_->open(loop_);
  EXPECT_EQ(next->events_of_session(root.id)->size(), 3u);
  const auto found = next->session(root.id);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->state, SessionState::running);
}

TEST_P(StoreConformance, WhatWasClaimedIsSeenWithAllThatIsRecordedAfterIt) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const Session child = session("sess_1_bbbbbb", root.id.value);
  ASSERT_TRUE(record({event(child, SessionCreated{child}), event(child, RunStarted{})}));
  store_.reset();
  store_ = medium_->open(loop_);
  ASSERT_TRUE(store_->claim(root.tree));
  EXPECT_EQ(store_->events_of_session(child.id)->size(), 2u);
  EXPECT_EQ((*store_->child_of(*child.delegation))->state, SessionState::running);
  store_->ride_along({event(child, StateChanged{SessionState::waiting, "for a place to run"})});
  ASSERT_TRUE(record({}));
  EXPECT_EQ(store_->events_of_session(child.id)->size(), 3u);
  EXPECT_EQ((*store_->child_of(*child.delegation))->state, SessionState::waiting);
  EXPECT_EQ((*store_->session(child.id))->state, SessionState::waiting);
  EXPECT_EQ(store_->events_of_session(root.id)->size(), 3u) << "nothing more was recorded of it";
  store_->carry([&root] { return std::vector<Event>{event(root, ReplyHeard{true, "half"})}; });
  ASSERT_TRUE(record({event(child, NoteTaken{"n"})}));
  EXPECT_EQ(store_->events_of_session(root.id)->size(), 4u);
}

TEST_P(StoreConformance, WhatWasReleasedIsSeenAsTheNextWriterLeftIt) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  store_.reset();
  store_ = medium_->open(loop_);
  ASSERT_TRUE(store_->claim(root.tree));
  store_->release(root.tree);
  const auto second = medium_->open(loop_);
  ASSERT_TRUE(second->claim(root.tree));
  ASSERT_TRUE(run(loop_, second->record({event(root, RunEnded{})})));
  EXPECT_EQ(store_->events_of_session(root.id)->size(), 4u);
  EXPECT_EQ((*store_->session(root.id))->state, SessionState::completed);
}

TEST_P(StoreConformance, ListsByParentTreeAndState) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const Session child = session("sess_1_bbbbbb", root.id.value);
  ASSERT_TRUE(record({event(child, SessionCreated{child}), event(child, RunEnded{}, 0)}));
  EXPECT_EQ(store_->sessions({.roots_only = true})->size(), 1u);
  EXPECT_EQ(store_->sessions({.tree = root.tree})->size(), 2u);
  ASSERT_EQ(store_->sessions({.parent = root.id})->size(), 1u);
  EXPECT_EQ(store_->sessions({.parent = root.id})->front().id, child.id);
  ASSERT_EQ(store_->sessions({.unfinished_only = true})->size(), 1u);
  EXPECT_EQ(store_->sessions({.unfinished_only = true})->front().id, root.id);
  EXPECT_EQ(store_->sessions({.most = 1})->size(), 1u);
}

TEST_P(StoreConformance, KeepsLettersInOrderUntilTheyAreDiscarded) {
  const SessionId tree("sess_1_aaaaaa");
  const Letter nudge{.tree = tree, .session = tree, .kind = LetterKind::nudge, .text = "hurry"};
  const Letter cancel{.tree = tree, .session = SessionId("sess_1_bbbbbb"), .kind = LetterKind::cancel};
  const auto first = store_->post(nudge);
  const auto second = store_->post(cancel);
  ASSERT_TRUE(first && second);
  EXPECT_LT(*first, *second);
  ASSERT_EQ(store_->letters(tree)->size(), 2u);
  EXPECT_EQ(store_->letters(tree)->front().text, "hurry");
  EXPECT_EQ(store_->letters(tree)->back().kind, LetterKind::cancel);
  EXPECT_TRUE(store_->letters(SessionId("sess_1_cccccc"))->empty());
  ASSERT_TRUE(store_->discard(*first));
  ASSERT_TRUE(store_->discard(*first)) << "twice is harmless";
  ASSERT_EQ(store_->letters(tree)->size(), 1u);
  const auto third = store_->post(nudge);
  EXPECT_GT(*third, *second) << "a number is not given twice";
}

TEST_P(StoreConformance, LettersOfOneProcessReachAnother) {
  const SessionId tree("sess_1_aaaaaa");
  const auto other = medium_->open(loop_);
  ASSERT_TRUE(other->post({.tree = tree, .session = tree, .kind = LetterKind::answer, .text = "yes"}));
  ASSERT_EQ(store_->letters(tree)->size(), 1u);
  EXPECT_EQ(store_->letters(tree)->front().kind, LetterKind::answer);
}

TEST_P(StoreConformance, RefusesToDeliverAnItemTwice) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, Delivered{"report/sess_1_bbbbbb/1", Source::child, "r"}, 1)}));
  ASSERT_TRUE(record({event(root, Delivered{"report/sess_1_bbbbbb/2", Source::child, "r"}, 1)}));
  EXPECT_FALSE(record({event(root, Delivered{"report/sess_1_bbbbbb/1", Source::child, "r"}, 2)}));
}

TEST_P(StoreConformance, DeliversItemsOfTheSameNameToTwoSessions) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const Session child = session("sess_1_bbbbbb", root.id.value);
  ASSERT_TRUE(
      record({event(child, SessionCreated{child}), event(root, Delivered{"nudge/1", Source::person, "x"}),
              event(child, Delivered{"nudge/1", Source::person, "x"})}));
}

TEST_P(StoreConformance, ShowsWhomASessionWaitsForAndUntilWhen) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  const WallTime until{std::chrono::microseconds{77}};
  ASSERT_TRUE(record({event(root, StateChanged{SessionState::waiting, "w", "sess_1_bbbbbb", until})}));
  auto found = store_->session(root.id);
  ASSERT_TRUE(found && *found && (*found)->wait);
  EXPECT_EQ((*found)->wait->owner, "sess_1_bbbbbb");
  EXPECT_EQ((*found)->wait->until, until);
  ASSERT_TRUE(record({event(root, StateChanged{SessionState::running, ""})}));
  found = store_->session(root.id);
  EXPECT_FALSE((*found)->wait);
}

TEST_P(StoreConformance, ASessionMayRunAgainAfterItsEnd) {
  const Session root = session("sess_1_aaaaaa");
  begin(root);
  ASSERT_TRUE(record({event(root, RunEnded{}, 1)}));
  const WallTime deadline{std::chrono::microseconds{99}};
  std::vector<Event> again{event(root, RunStarted{.deadline = deadline}, 1),
                           event(root, InputGiven{Source::person, "and then"}, 1)};
  for (auto& each : again) each.run.number = 2;
  ASSERT_TRUE(record(again));
  const auto found = store_->session(root.id);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->run, 2);
  EXPECT_EQ((*found)->state, SessionState::running);
  EXPECT_EQ((*found)->deadline, deadline);
  EXPECT_EQ((*found)->prompt, "do it");
  Event end = event(root, RunEnded{}, 2);
  end.run.number = 2;
  ASSERT_TRUE(record({end}));
  EXPECT_EQ(store_->events_of_session(root.id)->size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Each, StoreConformance, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace deputy
