#include "runtime/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/disk.h"
#include "delegation/budget.h"
#include "model/scripted.h"
#include "store/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr int kThreads = 8;
constexpr int kTreesEach = 10;

// A runtime on a loop of its own thread, as a program that embeds it would have it.
class EmbeddedRuntime : public testing::Test {
 protected:
  void SetUp() override {
    embed(std::make_unique<MemoryStore>(loop_, std::make_shared<MemoryStore::Memory>()), {});
  }
  void embed(std::unique_ptr<Store> store, TreeLimits limits, bool holds_last = false) {
    (void)disk_.open("/project", IfAbsent::create);
    Models models;
    models.add(*ScriptedProvider::parse(R"({"v":1,"sessions":[
      {"match":{"depth":0},"replies":[{"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"}]}}]},{"text":"hello"}]},
      {"replies":[{"text":"found"}]}]})",
                                        loop_));
    runtime_ = std::make_unique<Runtime>(Runtime::Parts{.loop = loop_,
                                                        .pool = pool_,
                                                        .disk = disk_,
                                                        .processes = processes_,
                                                        .random = random_,
                                                        .store = std::move(store),
                                                        .models = std::move(models)},
                                         Runtime::Options{.limits = limits, .holds_last = holds_last});
  }
  static RootBrief brief() {
    return {.brief = {.label = "root", .prompt = "say hello"},
            .model = ModelName("scripted/x"),
            .workspace = "/project",
            .rules = Rules({{Decision::allow, "Delegate", ""}})};
  }
  void one_ended() {
    if (++ended_ == kThreads * kTreesEach) loop_.stop();
  }

  // How many of the trees that all threads started came to their end as they should; `beside` is done after
  // each start.
  int complete_from_all_threads(const std::function<void()>& beside) {
    std::atomic<int> completed = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, &completed, &beside] {
        for (int n = 0; n < kTreesEach; ++n) {
          runtime_->start(brief(), [this, &completed](const Result<Report>& report) {
            if (report && report->body == "hello") ++completed;
            one_ended();
          });
          beside();
        }
      });
    }
    loop_.run();
    for (auto& thread : threads) thread.join();
    return completed;
  }

  SystemLoop loop_;
  ThreadPool pool_{2};
  ManualClock clock_;
  MemoryDisk disk_{clock_};
  SimProcesses processes_{loop_};
  SystemRandom random_;
  std::unique_ptr<Runtime> runtime_;
  std::atomic<int> ended_ = 0;
};

TEST_F(EmbeddedRuntime, TakesCallsFromManyThreadsAtOnce) {
  const int completed = complete_from_all_threads([this] {
    runtime_->answer("nobody asked", {AnswerKind::approved, ""});
    runtime_->nudge(SessionId("sess_1_nobody"), "hurry");
    runtime_->send_to_background(SessionId("sess_1_nobody"));
    runtime_->cancel(SessionId("sess_1_nobody"), StopReason::user);
  });
  run(loop_, runtime_->close());
  EXPECT_EQ(completed, kThreads * kTreesEach);
}

// Each tree is said more to, resumed, nudged and cancelled by threads that know its real id.
TEST_F(EmbeddedRuntime, TakesEveryCallAboutRealSessionsFromManyThreadsAtOnce) {
  std::mutex mutex;
  std::vector<SessionId> ids;
  const auto some_id = [&](int n) {
    const std::lock_guard lock(mutex);
    return ids.empty() ? SessionId("sess_1_nobody") : ids[static_cast<std::size_t>(n) % ids.size()];
  };
  runtime_->subscribe([&](const Event& event, const EventOrigin&) {
    if (!std::holds_alternative<SessionCreated>(event.fact)) return;
    const std::lock_guard lock(mutex);
    ids.push_back(event.run.session);
  });
  std::atomic<int> said = 0;
  std::atomic<int> resumed = 0;
  const auto go_on = [this, &said, &resumed](const SessionId& root) {
    runtime_->resume(root, [this, root, &said, &resumed](const Result<Report>& again) {
      if (again) ++resumed;
      runtime_->say(root, {.text = "and then"}, [this, &said](const Result<Report>& more) {
        if (more) ++said;
        one_ended();
      });
    });
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &some_id, &go_on] {
      for (int n = 0; n < kTreesEach; ++n) {
        runtime_->start(brief(), [this, &go_on](const Result<Report>& report) {
          report ? go_on(report->session) : one_ended();
        });
        runtime_->nudge(some_id(i + n), "hurry");
        runtime_->send_to_background(some_id(i * n));
        if (n % 3 == 0) runtime_->cancel(some_id(n), StopReason::user);
      }
    });
  }
  loop_.run();
  for (auto& thread : threads) thread.join();
  run(loop_, runtime_->close());
  EXPECT_EQ(resumed, kThreads * kTreesEach) << "one that has ended hands out its report again";
  EXPECT_EQ(said, kThreads * kTreesEach);
}

TEST_F(EmbeddedRuntime, HoldsTheTreeThatRanLastUntilAnotherIsTakenUp) {
  const auto memory = std::make_shared<MemoryStore::Memory>();
  embed(std::make_unique<MemoryStore>(loop_, memory), {}, true);
  MemoryStore elsewhere(loop_, memory);
  const auto complete_one = [this] {
    SessionId root;
    runtime_->start(brief(), [this, &root](const Result<Report>& report) {
      EXPECT_TRUE(report);
      if (report) root = report->session;
      loop_.stop();
    });
    loop_.run();
    return root;
  };
  const SessionId first = complete_one();
  const auto refused = elsewhere.claim(first);
  ASSERT_FALSE(refused) << "it has ended, and is talked to";
  EXPECT_EQ(refused.error().code, ErrorCode::busy);

  const SessionId second = complete_one();
  EXPECT_TRUE(elsewhere.claim(first));
  const auto taken = runtime_->hold(first);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::busy);
  EXPECT_FALSE(elsewhere.claim(second)) << "what could not be taken up leaves it as it was";

  elsewhere.release(first);
  const auto events = runtime_->hold(first);
  ASSERT_TRUE(events);
  EXPECT_FALSE(events->empty());
  EXPECT_FALSE(elsewhere.claim(first));
  EXPECT_TRUE(elsewhere.claim(second));

  runtime_->subscribe([&](const Event& event, const EventOrigin&) {
    if (std::holds_alternative<RunEnded>(event.fact)) EXPECT_TRUE(runtime_->hold(first));
  });
  const SessionId third = complete_one();
  EXPECT_FALSE(elsewhere.claim(first)) << "it was taken up when the end of the third was told";
  EXPECT_TRUE(elsewhere.claim(third));
  run(loop_, runtime_->close());
}

TEST_F(EmbeddedRuntime, ACancelFromAnotherThreadEndsEveryTreeOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (int n = 0; n < kTreesEach; ++n) {
        runtime_->start(brief(), [this](const Result<Report>&) { one_ended(); });
        if (i == 0 && n == kTreesEach / 2) runtime_->cancel(StopReason::user);
      }
    });
  }
  loop_.run();
  for (auto& thread : threads) thread.join();
  run(loop_, runtime_->close());
  EXPECT_EQ(ended_, kThreads * kTreesEach);
}

// Each tree has one place and one delegation for two tasks, under a limit on what it may spend; its journal
// is written by a thread of its own.
class EmbeddedRuntimeAtItsLimits : public EmbeddedRuntime {
 protected:
  void SetUp() override {
    auto store = *SqliteStore::open(loop_, *home_, std::make_unique<ThreadWriter>());
    store_ = store.get();
    embed(std::move(store), kLimits);
  }
  void TearDown() override { runtime_.reset(); }  // before its folder
  static constexpr TreeLimits kLimits{
      .delegations = 1, .live_children = 1, .live_sessions = 1, .tokens = 200'000, .cost_micros = 1'000'000};

  TempFolder folder_;
  std::unique_ptr<Folder> home_ = *SystemDisk().open(folder_.path(), IfAbsent::fail);
  SqliteStore* store_ = nullptr;  // the runtime's
};

TEST_F(EmbeddedRuntimeAtItsLimits, ReservesForNoTreeMoreThanItMayHave) {
  const int completed = complete_from_all_threads([] {});
  run(loop_, runtime_->close());
  EXPECT_EQ(completed, kThreads * kTreesEach);
  const auto roots = store_->sessions({.roots_only = true});
  ASSERT_TRUE(roots) << roots.error().message;
  EXPECT_EQ(roots->size(), kThreads * kTreesEach);
  for (const Session& root : *roots) {
    const auto events = store_->events_of_tree(root.id);
    ASSERT_TRUE(events) << events.error().message;
    const Amount used = used_by(*events);
    EXPECT_EQ(used.delegations, 1) << "one of the two tasks, not both and not none";
    EXPECT_LE(used.tokens, kLimits.tokens);
    EXPECT_GT(used.tokens, 0);
  }
}

}  // namespace
}  // namespace deputy
