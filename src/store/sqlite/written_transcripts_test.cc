// The transcripts that the store writes beside the database: whole when a tree has ended, each line once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "store/transcript_files.h"
#include "support/sqlite_store_fixture.h"

namespace deputy {
namespace {

// Who is told of it may look at once, while the writer goes on.
TEST_F(SqliteStoreTest, AtTheEndOfATreeItsTranscriptsAreWholeBeforeAnybodyIsTold) {
  constexpr int kTrees = 200;
  constexpr int kSessions = 4;
  SystemLoop loop;
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto store = *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>());
  std::vector<Session> sessions;  // of the tree that runs, its root first
  int ended = 0;
  store->subscribe([&](const Event& event) {
    if (event.run.session != event.tree || !std::holds_alternative<RunEnded>(event.fact)) return;
    ++ended;
    for (const Session& session : sessions) {
      const auto sealed = home_.file("subagent/" + TranscriptFiles::stem_of(session) + ".transcript.json");
      EXPECT_TRUE(bytes_of(sealed).ends_with("]}\n")) << sealed;
      EXPECT_FALSE(std::filesystem::exists(sealed + "l")) << sealed;
    }
  });
  for (int tree = 0; tree < kTrees && !HasFailure(); ++tree) {
    sessions.clear();
    std::vector<Event> begin;
    std::vector<Event> end;
    for (int i = 0; i < kSessions; ++i) {
      Session session;
      session.id = SessionId(fmt::format("sess_{}_{}", tree, i));
      session.uuid = Uuid(fmt::format("{}-{}", tree, i));
      session.tree = i == 0 ? session.id : sessions.front().id;
      if (i > 0) session.parent = session.tree;
      sessions.push_back(session);
      Event event;
      event.tree = session.tree;
      event.run = {session.id, 1};
      for (Fact fact : {Fact(SessionCreated{session}), Fact(RunStarted{}),
                        Fact(InputGiven{Source::person, "do it"}), Fact(RunEnded{})}) {
        event.fact = std::move(fact);
        begin.push_back(event);
      }
      end.insert(end.begin(), std::move(begin.back()));  // the root's comes last
      begin.pop_back();
    }
    const SessionId root = sessions.front().id;
    ASSERT_TRUE(store->claim(root));
    ASSERT_TRUE(run(loop, store->record(std::move(begin))));
    ASSERT_TRUE(run(loop, store->record(std::move(end))));
    store->release(root);
  }
  EXPECT_EQ(ended, kTrees);
}

// The second run may begin before anything of the first has been told.
TEST_F(SqliteStoreTest, ASessionThatEndsAndBeginsAgainAtOnceHasEachLineOnce) {
  SystemLoop loop;
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  auto store = *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>());
  const Event root = creation();
  Session session;
  session.id = SessionId("sess_2_bbbbbb");
  session.uuid = Uuid("u");
  session.tree = root.tree;
  session.parent = root.tree;
  Event event = root;
  const auto record = [&](int number, std::vector<Fact> facts) {
    std::vector<Event> unit;
    event.run = {session.id, number};
    for (Fact& fact : facts) {
      event.fact = std::move(fact);
      unit.push_back(event);
    }
    EXPECT_TRUE(run(loop, store->record(std::move(unit))));
  };
  ASSERT_TRUE(store->claim(root.tree));
  ASSERT_TRUE(run(loop, store->record({root})));
  record(1, {SessionCreated{session}, RunStarted{}, InputGiven{Source::parent, "first"}});
  record(1, {NoteTaken{"noted"}, RunEnded{}});
  record(2, {RunStarted{}, InputGiven{Source::parent, "second"}});
  store.reset();
  const auto stem = home_.file("subagent/" + TranscriptFiles::stem_of(session));
  const std::string lines = bytes_of(stem + ".transcript.jsonl");
  for (const auto* text : {"first", "second"}) {
    ASSERT_TRUE(lines.contains(text)) << lines;
    EXPECT_EQ(lines.find(text), lines.rfind(text)) << lines;
  }
  EXPECT_EQ(bytes_of(stem + ".scratch.md"), "noted\n");
  EXPECT_FALSE(std::filesystem::exists(stem + ".transcript.json"));
}

// Says when something is posted to it: a commit that was made is, before its transcripts are written.
class TellingLoop final : public Loop {
 public:
  TellingLoop(Loop& loop, std::function<void()> posted) : loop_(loop), posted_(std::move(posted)) {}
  Executor executor() override { return loop_.executor(); }
  const Clock& clock() const override { return loop_.clock(); }
  Timers& timers() override { return loop_.timers(); }
  void post(std::move_only_function<void()> work) override {
    loop_.post(std::move(work));
    posted_();
  }

 private:
  Loop& loop_;
  std::function<void()> posted_;
};

TEST_F(SqliteStoreTest, ATreeThatIsClaimedAgainBeforeItsTranscriptIsWrittenHasEachLineOnce) {
  const Event created = creation();
  Event said = created;
  said.fact = InputGiven{Source::person, "do it"};
  std::unique_ptr<SqliteStore> store;
  bool is_claimed_again = false;
  TellingLoop loop(loop_, [&] {
    const auto kept = store->events_of_tree(created.tree);
    if (is_claimed_again || !kept || kept->empty()) return;
    is_claimed_again = true;
    store->release(created.tree);
    EXPECT_TRUE(store->claim(created.tree));
  });
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  store = *SqliteStore::open(loop, **folder, std::make_unique<InlineWriter>(loop_));
  ASSERT_TRUE(store->claim(created.tree));
  ASSERT_TRUE(run(loop_, store->record({created, said})));
  store.reset();
  ASSERT_TRUE(is_claimed_again);
  const Session session = std::get<SessionCreated>(created.fact).session;
  const auto file = home_.file("subagent/" + TranscriptFiles::stem_of(session) + ".transcript.jsonl");
  const std::string lines = bytes_of(file);
  ASSERT_TRUE(lines.contains("do it")) << lines;
  EXPECT_EQ(lines.find("do it"), lines.rfind("do it")) << lines;
}

// A process that is killed leaves lines untold. Who goes on does not wait for them, and adds its own behind.
TEST_F(SqliteStoreTest, WhatAKilledProcessLeftOfTranscriptsIsMadeWholeBehindTheFirstCommitOfTheNext) {
  const Event created = creation();
  const Session root = std::get<SessionCreated>(created.fact).session;
  Session child = root;
  child.id = SessionId("sess_2_bbbbbb");
  child.uuid = Uuid("u");
  child.parent = root.id;
  const auto unit = [&](const Session& session, std::vector<Fact> facts) {
    std::vector<Event> events;
    for (Fact& fact : facts) {
      Event& event = events.emplace_back(created);
      event.run = {session.id, 1};
      event.fact = std::move(fact);
    }
    return events;
  };
  SystemLoop loop;
  const auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
  const auto open = [&] { return *SqliteStore::open(loop, **folder, std::make_unique<ThreadWriter>()); };
  auto store = open();
  ASSERT_TRUE(store->claim(root.id));
  ASSERT_TRUE(run(loop, store->record(unit(root, {SessionCreated{root}, RunStarted{},
                                                  InputGiven{Source::person, "first"}}))));
  ASSERT_TRUE(run(loop, store->record(unit(
                            child, {SessionCreated{child}, RunStarted{}, InputGiven{Source::parent, "asked"},
                                    NoteTaken{"noted"}, RunEnded{}}))));
  store.reset();
  const auto of_root = home_.file("subagent/" + TranscriptFiles::stem_of(root) + ".transcript.jsonl");
  const auto of_child = home_.file("subagent/" + TranscriptFiles::stem_of(child) + ".transcript.json");
  const auto notes = home_.file("subagent/" + TranscriptFiles::stem_of(child) + ".scratch.md");
  const std::string was_said = bytes_of(of_root);
  const std::string was_asked = bytes_of(of_child);
  ASSERT_TRUE(was_said.contains("first") && was_asked.contains("asked"));
  std::filesystem::resize_file(of_root, was_said.size() / 2);
  ASSERT_TRUE(std::filesystem::remove(of_child) && std::filesystem::remove(notes));

  store = open();
  ASSERT_TRUE(store->claim(root.id));
  EXPECT_FALSE(std::filesystem::exists(of_child)) << "who claims a tree waits for no export";
  ASSERT_TRUE(run(loop, store->record(unit(root, {InputGiven{Source::person, "second"}}))));
  store.reset();
  EXPECT_EQ(bytes_of(of_child), was_asked);
  EXPECT_EQ(bytes_of(notes), "noted\n");
  const std::string lines = bytes_of(of_root);
  EXPECT_TRUE(lines.starts_with(was_said)) << lines;
  EXPECT_TRUE(lines.contains("second")) << lines;
  EXPECT_EQ(lines.find("second"), lines.rfind("second")) << lines;
}

// A process that is killed between a tree's end and its seals. Whoever resumes it is told its report, and
// records nothing.
TEST_F(SqliteStoreTest, TranscriptsOfATreeThatHasEndedAreWholeOnceItIsClaimed) {
  const Event created = creation();
  const Session root = std::get<SessionCreated>(created.fact).session;
  Event ended = created;
  ended.fact = RunEnded{};
  auto store = *open();
  ASSERT_TRUE(store->claim(root.id));
  ASSERT_TRUE(run(loop_, store->record({created, ended})));
  store.reset();
  const auto sealed = home_.file("subagent/" + TranscriptFiles::stem_of(root) + ".transcript.json");
  const auto begun = sealed + "l";
  const std::string whole = bytes_of(sealed);
  ASSERT_FALSE(whole.empty());
  std::filesystem::rename(sealed, begun);
  std::filesystem::resize_file(begun, 1);

  store = *open();
  ASSERT_TRUE(store->claim(root.id));
  EXPECT_EQ(bytes_of(sealed), whole);
  EXPECT_FALSE(std::filesystem::exists(begun));
}

// Whoever took the tree over writes to them.
TEST_F(SqliteStoreTest, TranscriptsOfATreeThatAnotherTookOverAreLeftAlone) {
  const Event created = creation();
  Event said = created;
  said.fact = InputGiven{Source::person, "first"};
  const Session root = std::get<SessionCreated>(created.fact).session;
  auto store = *open();
  ASSERT_TRUE(store->claim(root.id));
  ASSERT_TRUE(run(loop_, store->record({created, said})));
  store.reset();
  const auto file = home_.file("subagent/" + TranscriptFiles::stem_of(root) + ".transcript.jsonl");
  ASSERT_TRUE(std::filesystem::remove(file));

  store = *open();
  ASSERT_TRUE(store->claim(root.id));
  store->release(root.id);
  auto other = *open();
  ASSERT_TRUE(other->claim(root.id));
  const Event another = creation("sess_9_iiiiii");
  ASSERT_TRUE(store->claim(another.tree));
  ASSERT_TRUE(run(loop_, store->record({another})));
  store.reset();
  EXPECT_FALSE(std::filesystem::exists(file));
  said.fact = InputGiven{Source::person, "second"};
  ASSERT_TRUE(run(loop_, other->record({said})));
  other.reset();
  const std::string lines = bytes_of(file);
  EXPECT_TRUE(lines.contains("first") && lines.contains("second")) << lines;
}

}  // namespace
}  // namespace deputy
