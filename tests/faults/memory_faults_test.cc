// A machine without memory, and a server that would use all of it: whichever allocation fails once an answer
// begins, the outcome is a Reply and nothing is leaked; and of an endless line no more is kept than is said.
// What the loop itself needs to hand a task its turn, before that, is not tried: a loop without it cannot go
// on.
#include <gmock/gmock.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "model/cost.h"
#include "model/http_provider.h"
#include "shapes.h"
#include "support/run.h"

namespace {

// Of this thread, while a test says so.
thread_local long fails_in = 0;  // so many allocations; 0: none does
thread_local bool fails_always = false;
thread_local int failed_always = 0;
thread_local bool is_measuring = false;
thread_local long held = 0;
thread_local long most_held = 0;

void* allocate(std::size_t size) noexcept {
  if (fails_in > 0 && --fails_in == 0) return nullptr;
  if (fails_always) {
    ++failed_always;
    return nullptr;
  }
  void* place = std::malloc(size > 0 ? size : 1);
  if (is_measuring) {
    held += static_cast<long>(::malloc_usable_size(place));
    if (held > most_held) most_held = held;
  }
  return place;
}
void release(void* place) noexcept {
  if (is_measuring) held -= static_cast<long>(::malloc_usable_size(place));
  std::free(place);
}
void* allocate_or_throw(std::size_t size) {
  if (void* place = allocate(size)) return place;
  throw std::bad_alloc();
}

}  // namespace

// All of the program's, but for those that want an alignment of their own.
void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* place) noexcept { release(place); }
void operator delete[](void* place) noexcept { release(place); }
void operator delete(void* place, std::size_t) noexcept { release(place); }
void operator delete[](void* place, std::size_t) noexcept { release(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { release(place); }
void operator delete[](void* place, const std::nothrow_t&) noexcept { release(place); }

namespace deputy {
namespace {

// Says its piece as often as it may, at once.
class PouringNetwork final : public Network {
 public:
  PouringNetwork(std::string begins, std::string piece, int times, std::string content_type)
      : begins_(std::move(begins)),
        piece_(std::move(piece)),
        times_(times),
        headers_{{"content-type", std::move(content_type)}} {}

  long failing = 0;  // the allocation that does, from the answer's beginning on

  Task<Result<HttpEnd>> exchange(HttpRequest, HttpSink sink, StopToken stop) override {
    fails_in = failing;
    sink.start({200, headers_});
    sink.bytes(begins_);
    for (int i = 0; i < times_ && !stop.stopped(); ++i) sink.bytes(piece_);
    co_return HttpEnd{200, headers_, 0};
  }

 private:
  std::string begins_;
  std::string piece_;
  int times_;
  HttpHeaders headers_;
};

class WithoutMemory : public testing::TestWithParam<Shape> {
 protected:
  // The world is made before, and taken down after, what is tried.
  struct World {
    explicit World(PouringNetwork pouring)
        : network(std::move(pouring)),
          provider({.dialect = GetParam().dialect(),
                    .endpoint = {"http://model", "key"},
                    .key_variable = {},
                    .network = network,
                    .loop = loop,
                    .random = random,
                    .governors = governors,
                    .facts = [](const ModelName&) { return ModelFacts{.window = 1'000'000}; },
                    .patience = {.attempts = 1}}),
          fragments{provider.encode(messages[0])} {}

    Task<> ask(Reply* reply) {
      *reply =
          co_await provider.ask({.prefix = prefix, .messages = messages, .fragments = fragments}, {}, {});
      has_failed = network.failing > 0 && fails_in == 0;
      fails_in = 0;
    }

    SimLoop loop{1};
    PouringNetwork network;
    SeededRandom random{1};
    Governors governors{loop};
    HttpProvider provider;
    std::shared_ptr<const RequestPrefix> prefix = std::make_shared<RequestPrefix>(
        RequestPrefix{.model = ModelName(GetParam().name + "/m"), .max_output_tokens = 500});
    std::vector<Message> messages{{.text = "hi"}};
    std::vector<std::string> fragments;
    bool has_failed = false;  // the allocation
  };
};

TEST_P(WithoutMemory, ARequestEndsWithAReplyWhicheverAllocationFails) {
  constexpr long kMore = 100'000;  // than a request makes
  long failing = 1;
  int failed = 0;
  for (bool has_failed = true; has_failed && failing < kMore; ++failing) {
    World world({"", joined(GetParam().calls), 1, GetParam().content_type});
    world.network.failing = failing;
    Reply reply;
    run(world.loop, world.ask(&reply));
    has_failed = world.has_failed;
    if (reply.stop == ReplyStop::failed) {
      ++failed;
      EXPECT_NE(reply.error, "") << "allocation " << failing;
      EXPECT_NE(reply.usage, kUntaken) << "allocation " << failing << ": the server had taken it";
    } else {
      EXPECT_EQ(reply.stop, ReplyStop::calls) << "allocation " << failing << ": " << reply.error;
      EXPECT_EQ(reply.message.calls.size(), 1u) << "allocation " << failing;
    }
  }
  EXPECT_LT(failing, kMore);
  EXPECT_GT(failed, 10) << "nothing was tried";
  RecordProperty("allocations", static_cast<int>(failing));
}

TEST_P(WithoutMemory, OfALineWithoutEndNoMoreIsKeptThanIsSaid) {
  constexpr int kMiB = 1024 * 1024;
  World world({GetParam().name == "ollama" ? "" : "data: ", std::string(16 * 1024, 'x'), 64 * 1024,
               GetParam().content_type});  // 1 GiB
  Reply reply;
  held = most_held = 0;
  is_measuring = true;
  run(world.loop, world.ask(&reply));
  is_measuring = false;
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, testing::HasSubstr("MiB"));
  EXPECT_GT(most_held, 16 * kMiB) << "nothing was measured";
  EXPECT_LE(most_held, 64 * kMiB);
}

// Somebody waits behind a shut gate, and one request is out.
class LineWithoutMemory : public testing::Test {
 protected:
  LineWithoutMemory() {
    run(loop_, governor_.enter({}, kPatient, {}))->rejected(std::chrono::seconds{1});
    alone_.emplace(*run(loop_, governor_.enter({}, kPatient, {})));
    waiting_.spawn(wait_in_line(this));
    loop_.run_until([&] { return governor_.waiting() == 1; });
  }
  static Task<> wait_in_line(LineWithoutMemory* test) {
    test->has_had_its_turn_ = (co_await test->governor_.enter({}, kPatient, {})).has_value();
  }
  // As long as one allocation fails at the first try.
  void expect_its_turn() {
    EXPECT_EQ(std::exchange(fails_in, 0), 0) << "nothing was tried";
    EXPECT_EQ(governor_.waiting(), 1u);
    run(loop_, waiting_.join());
    EXPECT_TRUE(has_had_its_turn_);
  }

  static constexpr Duration kPatient = std::chrono::minutes{15};
  SimLoop loop_{1};
  Governor governor_{loop_};
  std::optional<Governor::Turn> alone_;
  bool has_had_its_turn_ = false;
  TaskGroup waiting_{loop_};
};

TEST_F(LineWithoutMemory, ATurnThatEndsLeavesTheNextToTheTimer) {
  fails_in = 1;
  alone_.reset();
  expect_its_turn();
}

TEST_F(LineWithoutMemory, AGateThatShutsForLongerKeepsTheTimerThatThereIs) {
  fails_in = 1;
  alone_->rejected(std::chrono::minutes{1});
  expect_its_turn();
  EXPECT_GE(loop_.clock().now().time_since_epoch(), std::chrono::minutes{1});
}

TEST_F(LineWithoutMemory, ATimerThatCanGiveNoTurnComesAgain) {
  // Another timer of the same moment that comes first.
  const TimePoint when = loop_.clock().now() + std::chrono::minutes{2};
  loop_.timers().call_at(when, [] { fails_in = 1; });
  alone_->rejected(std::chrono::minutes{2});
  alone_.reset();
  loop_.run_until([&] { return loop_.clock().now() >= when; });
  loop_.run_until([&] { return fails_in == 0; });
  expect_its_turn();
}

TEST_F(LineWithoutMemory, ATimerThatFindsNoneForItselfEitherComesAgain) {
  const TimePoint when = loop_.clock().now() + std::chrono::minutes{2};
  loop_.timers().call_at(when, [] { fails_always = true; });
  alone_->rejected(std::chrono::minutes{2});
  alone_.reset();
  loop_.run_until([] { return failed_always > 0; });  // until what asked for memory has come back
  fails_always = false;
  EXPECT_GE(loop_.clock().now(), when);
  expect_its_turn();
}

INSTANTIATE_TEST_SUITE_P(All, WithoutMemory, testing::ValuesIn(shapes()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

Task<> sleep_a_second(SimLoop& loop, bool& sleeps) {
  sleeps = true;
  co_await sleep_for(loop, std::chrono::seconds{1}, {});
}

// Until the group is waited for; what the loop needs for that is not tried.
Task<> join_without(long failing, SimLoop& loop, TaskGroup& group, bool& has_failed) {
  Task<> joined = group.join();
  loop.post([&has_failed] { has_failed = std::exchange(fails_in, 0) == 0; });
  fails_in = failing;
  co_await std::move(joined);
}

// Its owner would go before its tasks, which is the end of the program. Who waits, where that is noted, and
// the wait itself.
TEST(AGroupWithoutMemory, IsWaitedForAlsoWhereTheWaitFindsNone) {
  for (long failing = 1; failing <= 3; ++failing) {
    SimLoop loop(1);
    TaskGroup group(loop);
    bool sleeps = false;
    bool has_failed = false;
    group.spawn(sleep_a_second(loop, sleeps));
    loop.run_until([&sleeps] { return sleeps; });
    run(loop, join_without(failing, loop, group, has_failed));
    EXPECT_TRUE(has_failed) << "allocation " << failing << ": nothing was tried";
    EXPECT_EQ(group.size(), 0u) << "allocation " << failing;
  }
}

TEST(AGroupWithoutMemory, DoesNotCountWhatItCouldNotStart) {
  int refused = 0;
  for (long failing = 1; refused == failing - 1; ++failing) {
    SimLoop loop(1);
    TaskGroup group(loop);
    bool sleeps = false;
    Task<> task = sleep_a_second(loop, sleeps);
    fails_in = failing;
    try {
      group.spawn(std::move(task));
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    fails_in = 0;
    EXPECT_EQ(group.size(), refused == failing ? 0u : 1u) << "allocation " << failing;
    run(loop, group.join());
  }
  EXPECT_GT(refused, 0) << "nothing was tried";
}

}  // namespace
}  // namespace deputy
