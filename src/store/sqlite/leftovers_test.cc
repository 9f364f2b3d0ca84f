#include "store/sqlite/leftovers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "async/sleep.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kEnded = "11111111-1111-4111-8111-111111111111";
constexpr std::string_view kRunning = "22222222-2222-4222-8222-222222222222";
constexpr std::string_view kChild = "33333333-3333-4333-8333-333333333333";

class LeftoversTest : public testing::Test {
 protected:
  LeftoversTest() { fill(*open()); }
  std::unique_ptr<SqliteStore> open() {
    return *SqliteStore::open(loop_, *home_folder_, std::make_unique<InlineWriter>(loop_));
  }
  static SessionId id_of(std::string_view uuid) {
    return SessionId("sess_1_" + std::string(uuid.substr(0, 6)));
  }
  // The child is of the tree that has not ended; the others are trees.
  static Leftover left_of(std::string_view uuid) {
    return {id_of(uuid), id_of(uuid == kChild ? kRunning : uuid)};
  }
  // One session that has ended, and one that has not.
  void fill(SqliteStore& store) {
    for (const auto uuid : {kEnded, kRunning}) {
      Session session;
      session.id = session.tree = id_of(uuid);
      session.uuid = Uuid(std::string(uuid));
      session.label = "one";
      ASSERT_TRUE(store.claim(session.tree));
      Event event;
      event.tree = session.tree;
      event.run = {session.id, 1};
      std::vector<Event> events;
      for (Fact fact : {Fact(SessionCreated{session}), Fact(RunStarted{}), Fact(NoteTaken{"a note"}),
                        Fact(InputGiven{Source::person, "do it"}), Fact(RunEnded{})}) {
        event.fact = std::move(fact);
        events.push_back(event);
      }
      if (uuid == kRunning) events.pop_back();
      ASSERT_TRUE(run(loop_, store.record(events)));
    }
  }
  // Of a child of the one that has not ended; it begins and ends.
  void record_run_of_child(int number, const std::string& input) {
    const auto store = open();
    ASSERT_TRUE(store->claim(id_of(kRunning)));
    Session child;
    child.id = id_of(kChild);
    child.parent = child.tree = id_of(kRunning);
    child.uuid = Uuid(std::string(kChild));
    child.label = "one";
    Event event;
    event.tree = child.tree;
    event.run = {child.id, number};
    std::vector<Event> events;
    for (Fact fact : {Fact(SessionCreated{child}), Fact(RunStarted{}),
                      Fact(InputGiven{Source::parent, input}), Fact(RunEnded{})}) {
      event.fact = std::move(fact);
      events.push_back(event);
    }
    if (number > 1) events.erase(events.begin());
    ASSERT_TRUE(run(loop_, store->record(events)));
  }
  // A tree whose sessions have all ended.
  void record_ended_tree(int number, int children) {
    const auto store = open();
    const SessionId tree(fmt::format("sess_2_{:06}", number));
    ASSERT_TRUE(store->claim(tree));
    std::vector<Event> events;
    for (int child = 0; child <= children; ++child) {
      Session session;
      session.id = child == 0 ? tree : SessionId(fmt::format("{}_{}", tree.value, child));
      session.tree = tree;
      if (child > 0) session.parent = tree;
      session.uuid = Uuid(fmt::format("{:08}-0000-4000-8000-{:012}", number, child));
      session.label = "one";
      session.prompt = std::string(500, 'p');
      Event event;
      event.tree = tree;
      event.run = {session.id, 1};
      for (Fact fact : {Fact(SessionCreated{session}), Fact(RunStarted{}), Fact(RunEnded{})}) {
        event.fact = std::move(fact);
        events.push_back(event);
      }
    }
    ASSERT_TRUE(run(loop_, store->record(events)));
  }
  void record_notes(int count) {
    const auto store = open();
    ASSERT_TRUE(store->claim(id_of(kRunning)));
    Event event;
    event.tree = id_of(kRunning);
    event.run = {id_of(kRunning), 1};
    event.fact = NoteTaken{"another"};
    ASSERT_TRUE(run(loop_, store->record(std::vector(static_cast<std::size_t>(count), event))));
  }
  // All files were looked at then.
  void set_pruned(WallTime at) {
    ASSERT_TRUE(home_folder_->replace("pruned", ""));
    fs::last_write_time(home_.file("pruned"), std::chrono::file_clock::from_sys(at));
  }
  // By this process, of whatever file.
  static std::uint64_t bytes_read_by(const std::function<void()>& act) {
    const auto so_far = [] {
      std::ifstream counts("/proc/self/io");
      std::string name;
      std::uint64_t bytes = 0;
      counts >> name >> bytes;
      return name == "rchar:" ? bytes : 0;
    };
    const auto before = so_far();
    act();
    return so_far() - before;
  }
  void seal_all() {
    for (const Leftover& left : *unsealed_transcripts(*home_folder_, loop_.clock().wall())) {
      EXPECT_TRUE(seal_leftover(*home_folder_, left));
    }
  }
  fs::path folder() const { return home_.file("subagent"); }
  fs::path file(std::string_view uuid, std::string_view ending) const {
    return folder() / ("one-" + std::string(uuid) + std::string(ending));
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  WallTime after(std::chrono::seconds span) const {
    const auto now = fs::last_write_time(file(kEnded, ".transcript.json"));
    return WallTime(std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::file_clock::to_sys(now).time_since_epoch())) +
           span;
  }

  TempFolder home_;
  std::unique_ptr<Folder> home_folder_ = *SystemDisk().open(home_.path(), IfAbsent::fail);
  SimLoop loop_{1};
};

TEST_F(LeftoversTest, WhatEndedIsSealedAsItEnded) {
  const auto sealed = file(kEnded, ".transcript.json");
  const std::string whole = text_of(sealed);
  ASSERT_THAT(whole, HasSubstr("do it"));
  fs::remove(sealed);  // as if the process had been killed before it sealed
  std::ofstream(file(kEnded, ".transcript.jsonl")) << "{\"role\":\"us";
  seal_all();
  EXPECT_EQ(text_of(sealed), whole);
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.jsonl")));
}

TEST_F(LeftoversTest, WhatNobodyRunsIsSealedAsInterruptedAndResumingOpensItAgain) {
  const auto running = file(kRunning, ".transcript.jsonl");
  const std::string lines = text_of(running);
  seal_all();
  EXPECT_THAT(text_of(file(kRunning, ".transcript.json")), HasSubstr(R"("outcome":"interrupted")"));
  EXPECT_FALSE(fs::exists(running));
  const auto store = open();
  ASSERT_TRUE(store->claim(id_of(kRunning)));
  ASSERT_TRUE(run(loop_, store->record({})));
  EXPECT_EQ(text_of(running), lines);
  EXPECT_FALSE(fs::exists(file(kRunning, ".transcript.json")));
}

TEST_F(LeftoversTest, WhatWasKilledBeforeItsFirstExportIsSealedAsInterruptedOnce) {
  fs::remove(file(kRunning, ".transcript.jsonl"));
  fs::remove(file(kRunning, ".scratch.md"));
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, loop_.clock().wall()), ElementsAre(left_of(kRunning)));
  seal_all();
  EXPECT_THAT(text_of(file(kRunning, ".transcript.json")),
              AllOf(HasSubstr(R"("outcome":"interrupted")"), HasSubstr("do it")));
  EXPECT_EQ(text_of(file(kRunning, ".scratch.md")), "a note\n");
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, loop_.clock().wall()), IsEmpty());
}

TEST_F(LeftoversTest, WhatWasKilledInItsSecondRunIsNotSealedAsItsFirstEnded) {
  seal_all();
  const std::string of_first = text_of(file(kEnded, ".transcript.json"));
  {
    const auto store = open();
    ASSERT_TRUE(store->claim(id_of(kEnded)));
    Event event;
    event.tree = id_of(kEnded);
    event.run = {id_of(kEnded), 2};
    std::vector<Event> events;
    for (Fact fact : {Fact(RunStarted{}), Fact(InputGiven{Source::person, "and more"})}) {
      event.fact = std::move(fact);
      events.push_back(event);
    }
    ASSERT_TRUE(run(loop_, store->record(events)));
  }
  fs::remove(file(kEnded, ".transcript.jsonl"));  // as if the process had been killed before it exported
  std::ofstream(file(kEnded, ".transcript.json"), std::ios::binary) << of_first;
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, loop_.clock().wall()), ElementsAre(left_of(kEnded)));
  seal_all();
  EXPECT_THAT(text_of(file(kEnded, ".transcript.json")),
              AllOf(HasSubstr(R"("outcome":"interrupted")"), HasSubstr("do it"), HasSubstr("and more")));
}

TEST_F(LeftoversTest, WhatAStartReadsDoesNotGrowWithWhatHasEnded) {
  const WallTime now = loop_.clock().wall();
  set_pruned(now);
  const auto start = [&] {
    fs::remove(file(kRunning, ".transcript.json"));
    EXPECT_THAT(*unsealed_transcripts(*home_folder_, now), ElementsAre(left_of(kRunning)));
    ASSERT_TRUE(seal_leftover(*home_folder_, left_of(kRunning)));
    EXPECT_TRUE(fs::exists(file(kRunning, ".transcript.json")));
  };
  record_ended_tree(1, kLastRecords / 3);
  const auto early = bytes_read_by(start);
  ASSERT_GT(early, 0u) << "control";
  for (const int tree : {2, 3, 4, 5}) record_ended_tree(tree, kLastRecords / 3);
  const auto late = bytes_read_by(start);
  EXPECT_LT(late, early + early / 4);
}

TEST_F(LeftoversTest, WhatWasKilledBehindTheEndOfItsTreeIsSealedAtTheNextStartOrWithTheHour) {
  const WallTime now = loop_.clock().wall();
  seal_all();
  set_pruned(now);
  constexpr int kSince = 4;  // those of the other one
  std::ofstream(file(kEnded, ".transcript.jsonl")) << "{\"role\":\"us";
  record_notes(kLastRecords - kSince - 1);
  seal_all();
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.jsonl"))) << "its end is the last of them";
  std::ofstream(file(kEnded, ".transcript.jsonl")) << "{\"role\":\"us";
  record_notes(1);
  seal_all();
  EXPECT_TRUE(fs::exists(file(kEnded, ".transcript.jsonl"))) << "and is none of them any more";
  set_pruned(now - kPrunedEvery);
  seal_all();
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.jsonl"))) << "it is found by its file";
}

TEST_F(LeftoversTest, ATranscriptThatSomebodyRemovedAfterTheEndOfItsTreeDoesNotComeBack) {
  seal_all();
  fs::remove(file(kEnded, ".transcript.json"));
  seal_all();
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.json")));
}

// Nobody goes on with it by itself, so its files would come only with those of its tree.
TEST_F(LeftoversTest, AChildThatEndedBeforeItsFirstExportIsSealedThoughItsTreeIsUnfinished) {
  const auto sealed = file(kChild, ".transcript.json");
  record_run_of_child(1, "do it");
  seal_all();
  const std::string whole = text_of(sealed);
  ASSERT_THAT(whole, HasSubstr("do it"));
  fs::remove(sealed);  // as if the process had been killed before it exported
  const WallTime now = loop_.clock().wall();
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, now), ElementsAre(left_of(kChild)));
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, now + kKeptFor + std::chrono::seconds(1)), IsEmpty())
      << "then it was pruned";
  seal_all();
  EXPECT_EQ(text_of(sealed), whole);
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, now), IsEmpty());
}

TEST_F(LeftoversTest, AChildWhoseSecondRunEndedBeforeItsExportIsNotSealedAsItsFirstEnded) {
  const auto sealed = file(kChild, ".transcript.json");
  record_run_of_child(1, "do it");
  const std::string of_first = text_of(sealed);
  ASSERT_THAT(of_first, HasSubstr("do it"));
  run(loop_, sleep_for(loop_, std::chrono::seconds(1), {}));
  record_run_of_child(2, "and more");
  seal_all();
  const std::string of_both = text_of(sealed);
  ASSERT_THAT(of_both, AllOf(HasSubstr("do it"), HasSubstr("and more")));
  std::ofstream(sealed, std::ios::binary)
      << of_first;  // as if the process had been killed before it exported
  const WallTime now = loop_.clock().wall();
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, now), ElementsAre(left_of(kChild)));
  seal_all();
  EXPECT_EQ(text_of(sealed), of_both);
  EXPECT_THAT(*unsealed_transcripts(*home_folder_, now), IsEmpty());
}

TEST_F(LeftoversTest, WhoGoesOnWithATreeSealsItsChildrenAsTheyEndedLast) {
  const auto sealed = file(kChild, ".transcript.json");
  record_run_of_child(1, "do it");
  const std::string of_first = text_of(sealed);
  run(loop_, sleep_for(loop_, std::chrono::seconds(1), {}));
  record_run_of_child(2, "and more");
  const std::string of_both = text_of(sealed);
  ASSERT_NE(of_both, of_first);
  std::ofstream(sealed, std::ios::binary)
      << of_first;  // as if the process had been killed before it exported
  ASSERT_TRUE(open()->claim(id_of(kRunning)));
  EXPECT_EQ(text_of(sealed), of_both);
}

TEST_F(LeftoversTest, WhatIsDamagedIsCopiedAndNotSealed) {
  const fs::path database = home_.file("deputy.db");
  std::string bytes = text_of(database);
  const auto at = bytes.find("do it");  // of the last one: pages are filled from their end
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  std::ofstream(database, std::ios::binary) << bytes;
  const auto sealed = seal_leftover(*home_folder_, left_of(kRunning));
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(fs::exists(file(kRunning, ".transcript.jsonl")));
  ASSERT_TRUE(fs::exists(home_.file("damaged")));
  EXPECT_EQ(std::distance(fs::directory_iterator(home_.file("damaged")), {}), 1);
}

TEST_F(LeftoversTest, WhatSomebodyRunsIsLeftAlone) {
  const auto store = open();
  ASSERT_TRUE(store->claim(id_of(kRunning)));
  seal_all();
  EXPECT_TRUE(fs::exists(file(kRunning, ".transcript.jsonl")));
  EXPECT_FALSE(fs::exists(file(kRunning, ".transcript.json")));
}

TEST_F(LeftoversTest, WhatSomebodyGoesOnWithBeforeItIsSealedIsLeftAlone) {
  const auto left = *unsealed_transcripts(*home_folder_, loop_.clock().wall());
  ASSERT_THAT(left, ElementsAre(left_of(kRunning)));
  const auto store = open();
  ASSERT_TRUE(store->claim(id_of(kRunning)));
  const auto database = *Database::open(home_.file("deputy.db"), Database::Mode::read_write);
  const auto writes = Transaction::begin(database);
  ASSERT_TRUE(writes);
  EXPECT_TRUE(seal_leftover(*home_folder_, left.front())) << "it need not write for that";
  EXPECT_TRUE(fs::exists(file(kRunning, ".transcript.jsonl")));
  EXPECT_FALSE(fs::exists(file(kRunning, ".transcript.json")));
}

TEST_F(LeftoversTest, FilesAreKeptForSevenDaysAndNotLonger) {
  ASSERT_TRUE(prune_files(*home_folder_, after(kKeptFor - std::chrono::hours(1))));
  EXPECT_TRUE(fs::exists(file(kEnded, ".transcript.json")));
  EXPECT_TRUE(fs::exists(file(kEnded, ".scratch.md")));
  ASSERT_TRUE(prune_files(*home_folder_, after(kKeptFor + std::chrono::seconds(1))));
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.json")));
  EXPECT_FALSE(fs::exists(file(kEnded, ".scratch.md")));
  EXPECT_EQ(open()->events_of_session(id_of(kEnded))->size(), 5u) << "the journal has it all";
}

TEST_F(LeftoversTest, FilesAreLookedAtOnceAnHour) {
  const auto old = std::chrono::file_clock::now() - kKeptFor - std::chrono::hours(1);
  const auto pruned_at = [&](auto age) {
    ASSERT_TRUE(home_folder_->replace("pruned", ""));
    fs::last_write_time(home_.file("pruned"), std::chrono::file_clock::now() - age);
  };
  fs::last_write_time(file(kEnded, ".scratch.md"), old);
  const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
  pruned_at(kPrunedEvery - std::chrono::minutes(1));
  ASSERT_TRUE(prune_files(*home_folder_, now));
  EXPECT_TRUE(fs::exists(file(kEnded, ".scratch.md")));
  pruned_at(kPrunedEvery);
  ASSERT_TRUE(prune_files(*home_folder_, now + std::chrono::minutes(1)));
  EXPECT_FALSE(fs::exists(file(kEnded, ".scratch.md")));
  EXPECT_GT(fs::last_write_time(home_.file("pruned")),
            std::chrono::file_clock::now() - std::chrono::minutes(30))
      << "the next hour begins";
}

TEST_F(LeftoversTest, AClockThatWasSetBackKeepsNoFileForEver) {
  ASSERT_TRUE(home_folder_->replace("pruned", ""));
  fs::last_write_time(home_.file("pruned"), std::chrono::file_clock::now() + std::chrono::hours(24 * 400));
  ASSERT_TRUE(prune_files(*home_folder_, after(kKeptFor + std::chrono::hours(1))));
  EXPECT_FALSE(fs::exists(file(kEnded, ".scratch.md")));
}

TEST_F(LeftoversTest, NothingOfAnUnfinishedOrUnknownSessionIsPruned) {
  const auto unknown = file(kChild, ".scratch.md");
  const auto foreign = folder() / "read me.txt";
  std::ofstream(unknown) << "kept";
  std::ofstream(foreign) << "kept";
  seal_all();
  ASSERT_TRUE(prune_files(*home_folder_, after(std::chrono::hours(24 * 365))));
  EXPECT_TRUE(fs::exists(file(kRunning, ".transcript.json")));
  EXPECT_TRUE(fs::exists(file(kRunning, ".scratch.md")));
  EXPECT_TRUE(fs::exists(unknown));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(LeftoversTest, WhatCommandsLeftForARestartGoesWithTheTranscriptOfTheirSession) {
  const fs::path commands = home_.file("commands");
  fs::create_directory(commands);
  const auto of_ended = commands / (id_of(kEnded).value + ".1.0.0");
  const auto of_running = commands / (id_of(kRunning).value + ".1.0.0");
  for (const auto& file : {of_ended, of_running}) std::ofstream(file) << "confined 1 0\n";
  ASSERT_TRUE(prune_files(*home_folder_, after(kKeptFor - std::chrono::hours(1))));
  EXPECT_TRUE(fs::exists(of_ended)) << "a chat between two turns may be resumed";
  ASSERT_TRUE(prune_files(*home_folder_, after(kKeptFor + std::chrono::hours(1))));
  EXPECT_FALSE(fs::exists(of_ended));
  EXPECT_TRUE(fs::exists(of_running));
}

TEST_F(LeftoversTest, WhatCannotBeRemovedKeepsNothingElse) {
  const fs::path commands = home_.file("commands");
  fs::create_directory(commands);
  const auto of_ended = commands / (id_of(kEnded).value + ".1.0.0");
  std::ofstream(of_ended) << "confined 1 0\n";
  const auto stuck = file(kEnded, ".scratch.md");  // comes before the transcript
  fs::remove(stuck);
  fs::create_directories(stuck / "more");
  const auto pruned = prune_files(*home_folder_, after(std::chrono::hours(24 * 8)));
  EXPECT_FALSE(pruned) << "and it is said";
  EXPECT_TRUE(fs::exists(stuck));
  EXPECT_FALSE(fs::exists(file(kEnded, ".transcript.json")));
  EXPECT_FALSE(fs::exists(of_ended));
}

}  // namespace
}  // namespace deputy
