// A thousand times several processes want the same tree at the same moment: one has it, the others are told
// who, and what the holders write lies one after the other.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "async/sim_loop.h"
#include "base/disk.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr int kProcesses = 4;
constexpr int kRounds = 1000;
constexpr unsigned kMostSeconds = 600;

// What the processes share.
struct Board {
  std::atomic<int> at_barrier{0};  // counts on, round after round
  std::atomic<int> holder{0};      // of this round, by its process id
  std::atomic<int> won{0};         // over all rounds
  std::atomic<int> refused{0};
  std::atomic<int> named{0};  // refusals that name the holder
  std::atomic<int> wrong{0};
};

void meet(Board& board, int nth) {
  ++board.at_barrier;
  while (board.at_barrier < nth * kProcesses) ::sched_yield();
}

std::vector<Event> next_note(const SessionId& tree, bool is_first) {
  Event event;
  event.tree = tree;
  event.run = {tree, 1};
  if (!is_first) {
    event.fact = NoteTaken{fmt::format("of process {}", ::getpid())};
    return {event};
  }
  Session session;
  session.id = session.tree = tree;
  session.uuid = Uuid("11111111-1111-4111-8111-111111111111");
  event.fact = SessionCreated{session};
  return {event};
}

void contend(Board& board, const std::string& home, const SessionId& tree) {
  SimLoop loop{1};
  const auto folder = *SystemDisk().open(home, IfAbsent::fail);
  const auto store = SqliteStore::open(loop, *folder, std::make_unique<InlineWriter>(loop));
  if (!store) {
    ++board.wrong;
    return;
  }
  for (int round = 0, met = 0; round < kRounds; ++round) {
    meet(board, ++met);
    const auto claimed = (*store)->claim(tree);
    if (claimed) {
      ++board.won;
      int nobody = 0;
      if (!board.holder.compare_exchange_strong(nobody, ::getpid())) ++board.wrong;
    } else {
      ++(claimed.error().code == ErrorCode::busy ? board.refused : board.wrong);
    }
    meet(board, ++met);  // all have tried, and the holder holds it
    if (claimed) {
      if (!run(loop, (*store)->record(next_note(tree, claimed->empty())))) ++board.wrong;
    } else {
      const auto again = (*store)->claim(tree);
      const bool names_holder =
          !again && again.error().code == ErrorCode::busy &&
          again.error().message.contains(fmt::format("process {},", board.holder.load()));
      ++(names_holder ? board.named : board.wrong);
    }
    meet(board, ++met);
    if (claimed) {
      board.holder = 0;
      (*store)->release(tree);
    }
  }
}

TEST(ContestedClaimsRealTime, OfAThousandEachHasOneHolderAndTheOthersAreToldWho) {
  const TempFolder home;
  const SessionId tree("sess_1_aaaaaa");
  void* shared = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& board = *new (shared) Board;
  {
    SimLoop loop{1};
    const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
    ASSERT_TRUE(SqliteStore::open(loop, *folder, std::make_unique<InlineWriter>(loop)));
  }
  std::vector<pid_t> processes;
  for (int i = 0; i < kProcesses; ++i) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    ::alarm(kMostSeconds);  // where one fails, the others wait for it no longer
    contend(board, home.path(), tree);
    ::_exit(0);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(board.won, kRounds) << "exactly one each time";
  EXPECT_EQ(board.refused, kRounds * (kProcesses - 1));
  EXPECT_EQ(board.named, kRounds * (kProcesses - 1));
  EXPECT_EQ(board.wrong, 0);
  const auto database = Database::open(home.file("deputy.db"), Database::Mode::read_only);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->integer("SELECT epoch FROM trees"), kRounds);
  EXPECT_EQ(database->integer("SELECT count(*) FROM journal"), kRounds);
  EXPECT_EQ(database->integer("SELECT count(*) FROM journal WHERE epoch<>number"), 0)
      << "what one wrote lies between what the one before it and the one after it did";
  fmt::print("figures: {} claims by {} processes at once; {} holders, {} told who\n", kRounds, kProcesses,
             board.won.load(), board.named.load());
  ::munmap(shared, sizeof(Board));
}

}  // namespace
}  // namespace deputy
