#include "store/sqlite/prune.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/disk_mark.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/sqlite_store.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PruneTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open(loop_, *folder_, std::make_unique<InlineWriter>(loop_));
    EXPECT_TRUE(store) << to_text(store.error());
    return *std::move(store);
  }
  Pruning pruning() { return *Pruning::open(*folder_); }

  static SessionId id_of(char name) { return SessionId("sess_1_" + std::string(6, name)); }
  static Session session_of(char name, std::optional<char> parent = {}) {
    Session session;
    session.id = id_of(name);
    session.tree = id_of(parent.value_or(name));
    session.uuid = Uuid(std::string(8, name) + "-1111-4111-8111-111111111111");
    session.label = "one";
    if (parent) {
      session.parent = id_of(*parent);
      session.delegation = DelegationKey{.call = {.run = {id_of(*parent), 1}}};
    }
    return session;
  }
  void record(SqliteStore& store, const Session& session, bool ends) {
    Event event;
    event.tree = session.tree;
    event.run = {session.id, 1};
    std::vector<Event> events;
    for (Fact fact : {Fact(SessionCreated{session}), Fact(RunStarted{}), Fact(NoteTaken{"a note"}),
                      Fact(InputGiven{Source::person, "do it"}), Fact(RunEnded{})}) {
      event.fact = std::move(fact);
      events.push_back(event);
    }
    if (!ends) events.pop_back();
    ASSERT_TRUE(run(loop_, store.record(events)));
  }
  // A tree of a root and a child, `child` being the letter after.
  void add_tree(SqliteStore& store, char root, bool ends = true) {
    ASSERT_TRUE(store.claim(id_of(root)));
    record(store, session_of(root), true);
    record(store, session_of(static_cast<char>(root + 1), root), ends);
  }
  void add_tree(char root, bool ends = true) { add_tree(*open(), root, ends); }
  std::int64_t how_far() {
    return *Database::open(home_.file("deputy.db"), Database::Mode::read_only)->integer(kHowFar);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const char* name : {"subagent", "reports", "commands"}) {
      if (!fs::exists(home_.file(name))) continue;
      for (const auto& each : fs::recursive_directory_iterator(home_.file(name)))
        names.push_back(each.path().filename());
    }
    return names;
  }
  void write(const std::string& name, std::string_view text) {
    fs::create_directories(fs::path(home_.file(name)).parent_path());
    std::ofstream(home_.file(name)) << text;
  }

  TempFolder home_;
  std::unique_ptr<Folder> folder_ = *SystemDisk().open(home_.path(), IfAbsent::fail);
  SimLoop loop_{1};
};

TEST_F(PruneTest, ATreeGoesWithAllItsRowsAndFilesAndNothingElseDoes) {
  add_tree('a');
  add_tree('m');
  write("reports/" + id_of('a').value + "/long.md", "a long report");
  write("commands/" + id_of('b').value + ".1.1.0", "begun");
  write("commands/" + id_of('n').value + ".1.1.0", "begun");
  const auto letter = open()->post({.tree = id_of('a'), .session = id_of('a'), .text = "hello"});
  ASSERT_TRUE(letter);

  const auto would = pruning().size_of(id_of('a'));
  ASSERT_TRUE(would) << to_text(would.error());
  EXPECT_EQ(would->sessions, 2u);
  EXPECT_EQ(would->files, 6u) << "two transcripts, two scratchpads, a report, what a command left";
  EXPECT_GT(would->bytes, 500u);
  EXPECT_TRUE(open()->session(id_of('a'))->has_value()) << "only looked at";

  const auto gone = pruning().remove(id_of('a'));
  ASSERT_TRUE(gone) << to_text(gone.error());
  EXPECT_EQ(*gone, *would);
  const auto store = open();
  EXPECT_FALSE(store->session(id_of('a'))->has_value());
  EXPECT_FALSE(store->session(id_of('b'))->has_value());
  EXPECT_THAT(*store->events_of_tree(id_of('a')), IsEmpty());
  EXPECT_THAT(*store->letters(id_of('a')), IsEmpty());
  EXPECT_EQ(store->events_of_tree(id_of('m'))->size(), 10u);
  EXPECT_EQ(files().size(), 5u) << "those of the other tree";
  EXPECT_EQ(store->claim(id_of('m'))->size(), 10u);
}

TEST_F(PruneTest, WhatHasNotEndedStays) {
  add_tree('a', false);
  for (const auto& refused : {pruning().size_of(id_of('a')), pruning().remove(id_of('a'))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("has not ended"));
    EXPECT_THAT(refused.error().advice, HasSubstr("deputy resume"));
  }
  EXPECT_EQ(open()->events_of_tree(id_of('a'))->size(), 9u);
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(PruneTest, WhatAProcessHoldsStaysAndTheHolderIsNamed) {
  const auto holder = open();
  add_tree(*holder, 'a');
  for (const auto& refused : {pruning().size_of(id_of('a')), pruning().remove(id_of('a'))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::busy);
    EXPECT_THAT(refused.error().message, HasSubstr("process"));
  }
  holder->release(id_of('a'));
  EXPECT_TRUE(pruning().remove(id_of('a')));
}

TEST_F(PruneTest, WhatIsNotThereIsSaid) {
  (void)open();
  const auto refused = pruning().remove(id_of('a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
}

TEST_F(PruneTest, ADamagedTreeStaysAsItIs) {
  add_tree('a');
  {
    const auto raw = Database::open(home_.file("deputy.db"), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("DELETE FROM journal WHERE number=4"));
  }
  const auto refused = pruning().remove(id_of('a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_EQ(files().size(), 4u);
  const auto copy = fs::directory_iterator(home_.file("damaged"))->path();
  EXPECT_TRUE(copy.filename().string().starts_with(id_of('a').value)) << copy;
  EXPECT_TRUE(fs::exists(copy / "deputy.db"));
}

TEST_F(PruneTest, NothingIsTakenForLostAfterTheNewestTreeHasGone) {
  add_tree('a');
  add_tree('m');
  const auto far = how_far();
  ASSERT_EQ(far, 20);
  ASSERT_TRUE(pruning().remove(id_of('m')));
  EXPECT_EQ(how_far(), far);
  ASSERT_TRUE(pruning().remove(id_of('a')));
  EXPECT_EQ(how_far(), far) << "also where nothing is left";
  ASSERT_TRUE(pruning().give_back_space());
  EXPECT_EQ(how_far(), far);
  EXPECT_FALSE(open()->loss());

  add_tree('x');
  EXPECT_EQ(how_far(), far + 10) << "what comes after is counted from there";
  const auto mark = DiskMark::open(*folder_, "deputy.mark");
  EXPECT_EQ(mark->read(), static_cast<std::uint64_t>(far + 10));
  {
    const auto raw = Database::open(home_.file("deputy.db"), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("DELETE FROM journal WHERE number=10"));
  }
  EXPECT_TRUE(open()->loss()) << "a loss is noticed as before";
}

TEST_F(PruneTest, AWriterThatMovesTheMarkOnlyAfterwardsDoesNoHarm) {
  add_tree('a');
  const auto far = static_cast<std::uint64_t>(how_far());
  auto mark = DiskMark::open(*folder_, "deputy.mark");
  mark->write(0);  // it has committed and is not there yet
  ASSERT_TRUE(pruning().remove(id_of('a')));
  mark->raise(far);
  EXPECT_FALSE(open()->loss());
}

TEST_F(PruneTest, ALetterIsCountedAlsoAfterwards) {
  add_tree('a');
  ASSERT_TRUE(open()->post({.tree = id_of('a'), .session = id_of('a'), .text = "one"}));
  const auto far = how_far();
  ASSERT_TRUE(pruning().remove(id_of('a')));
  EXPECT_EQ(how_far(), far);
  add_tree('m');
  ASSERT_TRUE(open()->post({.tree = id_of('m'), .session = id_of('m'), .text = "two"}));
  EXPECT_EQ(how_far(), far + 11);
  EXPECT_FALSE(open()->loss());
}

TEST_F(PruneTest, TheSpaceIsGivenBack) {
  {
    const auto store = open();
    ASSERT_TRUE(store->claim(id_of('a')));
    Session session = session_of('a');
    session.prompt = std::string(std::size_t{2} << 20, 'p');
    record(*store, session, true);
  }
  add_tree('m');
  const auto before = fs::file_size(home_.file("deputy.db"));
  ASSERT_TRUE(pruning().remove(id_of('a')));
  ASSERT_TRUE(pruning().give_back_space());
  const auto after = fs::file_size(home_.file("deputy.db"));
  EXPECT_GT(before, std::size_t{4} << 20);
  EXPECT_LT(after, std::size_t{256} << 10);
  EXPECT_EQ(open()->events_of_tree(id_of('m'))->size(), 10u);
}

TEST_F(PruneTest, OneThatIsUsedBesideGoesOn) {
  add_tree('a');
  const auto store = open();
  ASSERT_TRUE(store->claim(id_of('m')));
  record(*store, session_of('m'), false);
  auto pruning = this->pruning();
  ASSERT_TRUE(pruning.remove(id_of('a')));
  ASSERT_TRUE(pruning.give_back_space());
  Event end;
  end.tree = id_of('m');
  end.run = {id_of('m'), 1};
  end.fact = RunEnded{};
  EXPECT_TRUE(run(loop_, store->record({end})));
  EXPECT_EQ(store->events_of_tree(id_of('m'))->size(), 5u);
}

}  // namespace
}  // namespace deputy
