#include "store/commit_queue.h"

#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "async/sim_loop.h"
#include "async/task_group.h"
#include "support/run.h"

namespace deputy {
namespace {

// A writer that works when the test says so: units can pile up while a commit is under way.
class ManualWriter final : public StoreWriter {
 public:
  void start(std::function<void()> drain) override { drain_ = std::move(drain); }
  void wake() override { ++wakes; }
  bool is_woken_before(TimePoint latest) override {
    waited_until.push_back(latest);
    const auto meanwhile = std::exchange(while_it_waits, nullptr);
    if (meanwhile) meanwhile();
    return meanwhile != nullptr;
  }
  void stop() override {}
  void work() { drain_(); }

  int wakes = 0;
  std::vector<TimePoint> waited_until;
  std::function<void()> while_it_waits;  // what wakes it

 private:
  std::function<void()> drain_;
};

class CommitQueueTest : public testing::Test {
 protected:
  CommitQueueTest() {
    auto writer = std::make_unique<ManualWriter>();
    writer_ = writer.get();
    queue_ = std::make_unique<CommitQueue>(
        loop_, std::move(writer),
        [this](const EventRefs& events) -> Result<void> {
          committed_.push_back(events.size());
          if (fails_) return fail(ErrorCode::exhausted, "the disk is full");
          untidied_.insert(untidied_.end(), events.begin(), events.end());
          if (const auto meanwhile = std::exchange(meanwhile_, nullptr)) meanwhile();
          return {};
        },
        [this]() -> Result<void> {
          loop_.run_until_idle();
          known_when_tidied_.push_back(results_.size());
          for (const Event& event : std::exchange(untidied_, {})) tidied_.push_back(event.seq);
          if (cannot_tidy_) return fail(ErrorCode::io, "the log cannot be synced");
          return {};
        },
        [this] {
          commits_when_told_.push_back(committed_.size());
          if (const auto meanwhile = std::exchange(while_it_tells_, nullptr)) meanwhile();
          return --pieces_ > 0;
        });
    queue_->open_tree(SessionId("tree"), 0);
    queue_->subscribe([this](const Event& event) { told_.push_back(event.seq); });
  }
  static Event note() {
    Event event;
    event.tree = SessionId("tree");
    event.fact = NoteTaken{"n"};
    return event;
  }
  void spawn_record(std::vector<Event> events) {
    group_.spawn([](CommitQueue& queue, std::vector<Event> unit, std::vector<bool>& results) -> Task<> {
      results.push_back((co_await queue.record(std::move(unit))).has_value());
    }(*queue_, std::move(events), results_));
  }
  void record(std::vector<Event> events) {
    spawn_record(std::move(events));
    loop_.run_until_idle();
  }
  // How often the writer was woken for so many that record at one moment.
  int wakes_for(int units) {
    const int before = writer_->wakes;
    for (int unit = 0; unit < units; ++unit) spawn_record({note()});
    loop_.run_until_idle();
    const int wakes = writer_->wakes - before;
    writer_->work();
    loop_.run_until_idle();
    return wakes;
  }

  SimLoop loop_{1};
  ManualWriter* writer_ = nullptr;
  std::unique_ptr<CommitQueue> queue_;
  bool fails_ = false;
  bool cannot_tidy_ = false;
  std::vector<std::size_t> committed_;
  std::vector<std::uint64_t> told_;
  std::vector<bool> results_;
  std::vector<std::size_t> known_when_tidied_;
  EventRefs untidied_;
  std::vector<std::uint64_t> tidied_;
  std::function<void()> meanwhile_;  // happens during the next commit
  std::function<void()> while_it_tells_;
  int pieces_ = 1;  // of what is to be told
  std::vector<std::size_t> commits_when_told_;
  TaskGroup group_{loop_};
};

TEST_F(CommitQueueTest, AllThatIsQueuedIsOneCommit) {
  record({note()});
  queue_->ride_along({note()});
  record({note(), note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{4}));
  EXPECT_EQ(results_, (std::vector<bool>{true, true}));
  EXPECT_EQ(told_, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(CommitQueueTest, TheWriterIsWokenForEachThatRecordsAlone) {
  EXPECT_EQ(wakes_for(1), 1);
  EXPECT_EQ(wakes_for(1), 1);
  EXPECT_EQ(results_, (std::vector<bool>{true, true}));
}

// The simulated loop takes in any order what is there at a moment, so the wake may come before some of them.
TEST_F(CommitQueueTest, TheWriterIsNotWokenForEachOfManyThatRecordAtOnce) {
  EXPECT_LT(wakes_for(1000), 500);
  EXPECT_GE(wakes_for(1000), 1000 / 8) << "while more are to come, it works on those that are there";
  EXPECT_EQ(results_.size(), 2000u);
}

TEST_F(CommitQueueTest, WhatIsCarriedGoesWithAUnitAndIsNoCommitOfItsOwn) {
  queue_->carry([] { return std::vector<Event>{note()}; });
  record({});
  writer_->work();
  EXPECT_TRUE(committed_.empty()) << "there was nothing to commit";
  record({note()});
  writer_->work();
  queue_->ride_along({note()});
  record({});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(told_, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(CommitQueueTest, AnAttemptThatFailedAsksForACommitWhereItWasPaidFor) {
  const auto ride = [this](const Usage& usage) {
    Event event = note();
    event.fact = Retried{.reason = "it broke off", .attempt = 1, .usage = usage};
    queue_->ride_along({note()});
    queue_->ride_along({std::move(event)});
    loop_.run_until_idle();
    return std::exchange(writer_->wakes, 0);
  };
  EXPECT_EQ(ride({.cost_micros = 0}), 0) << "nobody took it";
  EXPECT_EQ(ride({.input = 1}), 1);
  EXPECT_EQ(ride({.output = 1}), 1);
  EXPECT_EQ(ride({.cost_micros = 1}), 1);
  writer_->work();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{8})) << "with all that rode along before it";
}

// The writer's thread may work at any moment: here, whenever something is told.
TEST_F(CommitQueueTest, WhatIsCarriedIsQueuedAtOnceWithItsUnit) {
  auto writer = std::make_unique<ManualWriter>();
  writer_ = writer.get();
  queue_ = std::make_unique<CommitQueue>(loop_, std::move(writer),
                                         [this](const EventRefs& events) -> Result<void> {
                                           committed_.push_back(events.size());
                                           return {};
                                         });
  queue_->open_tree(SessionId("tree"), 0);
  queue_->carry([] { return std::vector<Event>{note()}; });
  queue_->subscribe([this](const Event& event) {
    told_.push_back(event.seq);
    writer_->work();
  });
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{2}));
  EXPECT_EQ(told_, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(results_, (std::vector<bool>{true}));
}

TEST_F(CommitQueueTest, AUnitDoesNotFailForWantOfMemoryForWhatIsCarried) {
  queue_->carry([]() -> std::vector<Event> { throw std::bad_alloc(); });
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(results_, (std::vector<bool>{true}));
  EXPECT_EQ(told_, (std::vector<std::uint64_t>{1}));
}

// An unclaimed tree: nothing of it is numbered, queued or told.
TEST_F(CommitQueueTest, WhatCannotBeNumberedLeavesNothing) {
  Event foreign = note();
  foreign.tree = SessionId("other");
  queue_->ride_along({foreign});
  record({foreign});
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(results_, (std::vector<bool>{false, true}));
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1}));
  EXPECT_EQ(told_, (std::vector<std::uint64_t>{1}));
}

TEST_F(CommitQueueTest, NothingIsToldBeforeItIsDurable) {
  record({note()});
  queue_->ride_along({note()});
  EXPECT_TRUE(told_.empty());
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(CommitQueueTest, WhoRecordedIsToldBeforeAnythingIsTidied) {
  record({note()});
  writer_->work();
  EXPECT_EQ(known_when_tidied_, (std::vector<std::size_t>{1}));
  fails_ = true;
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(known_when_tidied_.size(), 1u) << "a disk that fails is left alone";
}

// The loop has let go of them by then.
TEST_F(CommitQueueTest, WhatWasCommittedIsThereToBeTidiedUpBehind) {
  record({note()});
  queue_->ride_along({note()});
  writer_->work();
  record({note()});
  writer_->work();
  EXPECT_EQ(tidied_, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(CommitQueueTest, ACommitThatIsAskedForMeanwhileComesBeforeAnythingIsTidied) {
  record({note()});
  meanwhile_ = [this] { record({note()}); };
  writer_->work();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(tidied_, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(known_when_tidied_, (std::vector<std::size_t>{2}));
}

TEST_F(CommitQueueTest, WhatRidesAlongMeanwhileAsksForNoCommit) {
  record({note()});
  meanwhile_ = [this] { queue_->ride_along({note()}); };
  writer_->work();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1}));
  EXPECT_EQ(tidied_, (std::vector<std::uint64_t>{1}));
}

TEST_F(CommitQueueTest, IsTidiedUpBehindAsManyUnitsAsMayWait) {
  constexpr std::size_t kMost = 1024;
  for (const std::size_t units : {kMost - 1, kMost}) {
    tidied_.clear();
    known_when_tidied_.clear();
    for (std::size_t unit = 0; unit < units; ++unit) spawn_record({note()});
    loop_.run_until_idle();
    meanwhile_ = [this] { record({note()}); };
    writer_->work();
    EXPECT_EQ(tidied_.size(), units < kMost ? units + 1 : units);
    writer_->work();
    EXPECT_EQ(tidied_.size(), units + 1);
  }
}

TEST_F(CommitQueueTest, ACommitThatIsAskedForWhileThereIsTimeComesBeforeAnythingIsTold) {
  record({note()});
  writer_->while_it_waits = [this] { record({note()}); };
  writer_->work();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(known_when_tidied_, (std::vector<std::size_t>{1, 2})) << "that is not put off";
  EXPECT_EQ(commits_when_told_, (std::vector<std::size_t>{2}));
  const TimePoint latest = loop_.clock().now() + std::chrono::milliseconds(100);
  EXPECT_EQ(writer_->waited_until, (std::vector<TimePoint>{latest, latest}));
}

// The commit before took what it was woken for.
TEST_F(CommitQueueTest, AWakeForNothingNewDoesNotEndTheTimeThereIs) {
  record({note()});
  writer_->while_it_waits = [this] { EXPECT_TRUE(commits_when_told_.empty()); };
  writer_->work();
  EXPECT_EQ(writer_->waited_until.size(), 2u) << "it is waited on";
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1}));
  EXPECT_EQ(known_when_tidied_.size(), 1u) << "there is nothing new to tidy up behind";
  EXPECT_EQ(commits_when_told_, (std::vector<std::size_t>{1}));
}

// The wake comes in a later turn of the loop than the unit, which a commit may take before.
TEST_F(CommitQueueTest, IsTidiedUpBehindACommitThatTookWhatIsAskedForMeanwhile) {
  record({note()});
  Event spending = note();
  spending.fact = Retried{.reason = "it broke off", .attempt = 1, .usage = {.input = 1}};
  queue_->ride_along({spending});
  meanwhile_ = [this] { loop_.run_until_idle(); };
  writer_->work();
  EXPECT_EQ(writer_->wakes, 2) << "one for each";
  EXPECT_EQ(committed_, (std::vector<std::size_t>{2}));
  EXPECT_EQ(tidied_, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(CommitQueueTest, AThreadThatIsStoppedWhileThereIsTimeWritesAndTellsOfWhatIsQueued) {
  SystemLoop loop;
  std::size_t told_of = 0;
  {
    CommitQueue queue(
        loop, std::make_unique<ThreadWriter>(),
        [this](const EventRefs& events) -> Result<void> {
          committed_.push_back(events.size());
          return {};
        },
        [] { return Result<void>{}; },
        [&] {
          told_of = committed_.size();
          return false;
        });
    queue.open_tree(SessionId("tree"), 0);
    ASSERT_TRUE(run(loop, queue.record({note()})));
    queue.ride_along({note(), note()});
  }
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(told_of, 2u);
}

TEST_F(CommitQueueTest, ACommitThatIsAskedForComesBetweenTwoPiecesOfWhatIsTold) {
  pieces_ = 3;
  record({note()});
  while_it_tells_ = [this] { record({note()}); };
  writer_->work();
  EXPECT_EQ(committed_, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(commits_when_told_, (std::vector<std::size_t>{1, 2, 2}));
}

TEST_F(CommitQueueTest, IsToldAtOnceOfAsManyUnitsAsMayWait) {
  constexpr std::size_t kMost = 1024;
  for (const std::size_t units : {kMost - 1, kMost}) {
    writer_->waited_until.clear();
    for (std::size_t unit = 0; unit < units; ++unit) spawn_record({note()});
    loop_.run_until_idle();
    writer_->work();
    loop_.run_until_idle();
    EXPECT_EQ(writer_->waited_until.size(), units < kMost ? 1u : 0u);
  }
  EXPECT_EQ(commits_when_told_.size(), 2u);
}

TEST_F(CommitQueueTest, WhatCannotBeTidiedIsTheLastThatIsCommitted) {
  cannot_tidy_ = true;
  record({note()});
  writer_->work();
  EXPECT_EQ(results_, (std::vector<bool>{true})) << "it was durable before";
  cannot_tidy_ = false;
  queue_->ride_along({note()});
  record({});
  record({note()});
  writer_->work();
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(results_, (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(committed_.size(), 1u);
  EXPECT_EQ(known_when_tidied_.size(), 1u);
}

TEST_F(CommitQueueTest, WhatWasQueuedBehindAFailedCommitFailsToo) {
  record({note()});
  fails_ = true;
  writer_->work();  // the loop has not heard of the failure yet
  fails_ = false;
  record({});  // a mere sync must not claim that what rode along is safe
  record({note()});
  writer_->work();
  loop_.run_until_idle();
  EXPECT_EQ(results_, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(committed_.size(), 1u) << "no commit after a failed one";
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace deputy
