// Rows of the journal and of sessions that are damaged or gone: what is damaged is named, what can be is made
// again.
#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/database.h"
#include "support/sqlite_store_fixture.h"

namespace deputy {
namespace {

TEST_F(SqliteStoreTest, NamesADamagedRecordAndReadsTheOtherSessions) {
  auto store = *open();
  std::vector<Event> events;
  for (const char* id : {"sess_1_aaaaaa", "sess_1_bbbbbb"}) {
    Session session;
    session.id = session.tree = SessionId(id);
    ASSERT_TRUE(store->claim(session.tree));
    Event event;
    event.tree = session.tree;
    event.run = {session.id, 1};
    event.fact = SessionCreated{session};
    events.push_back(event);
    event.fact = InputGiven{Source::person, "hello"};
    events.push_back(event);
  }
  ASSERT_TRUE(run(loop_, store->record(events)));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute(
        "UPDATE journal SET body=replace(body, 'hello', 'hullo') WHERE session='sess_1_aaaaaa'"));
  }
  const auto damaged = store->events_of_session(SessionId("sess_1_aaaaaa"));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(damaged.error().message.contains("record 2"));
  EXPECT_TRUE(store->events_of_session(SessionId("sess_1_bbbbbb")));
}

TEST_F(SqliteStoreTest, WhatAClaimHasReadIsNotReadAgainBeforeMoreIsRecorded) {
  const Event created = creation();
  {
    auto store = *open();
    ASSERT_TRUE(store->claim(created.tree));
    ASSERT_TRUE(run(loop_, store->record({created})));
  }
  auto store = *open();
  ASSERT_TRUE(store->claim(created.tree));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("UPDATE journal SET body=replace(body, 'sess', 'mess')"));
  }
  EXPECT_EQ(store->events_of_session(created.tree)->size(), 1u);
  Event noted = created;
  noted.fact = NoteTaken{"n"};
  ASSERT_TRUE(run(loop_, store->record({noted})));
  EXPECT_FALSE(store->events_of_session(created.tree)) << "it is read, and damaged";
}

// The transcript of a session that begins another run is made from what it recorded before.
TEST_F(SqliteStoreTest, DamageThatOnlyAnExportMeetsIsCopiedToo) {
  const auto store = *open();
  Event event = creation();
  std::vector<Event> events{event};
  ASSERT_TRUE(store->claim(event.tree));
  for (Fact fact : {Fact(InputGiven{Source::person, "hello"}), Fact(RunEnded{})}) {
    event.fact = std::move(fact);
    events.push_back(event);
  }
  ASSERT_TRUE(run(loop_, store->record(events)));
  {
    auto raw = Database::open(database(), Database::Mode::read_write);
    ASSERT_TRUE(raw->execute("UPDATE journal SET body=replace(body, 'hello', 'hullo')"));
  }
  ASSERT_FALSE(std::filesystem::exists(home_.file("damaged")));
  event.run.number = 2;
  event.fact = RunStarted{};
  ASSERT_TRUE(run(loop_, store->record({event}))) << "what is recorded does not hang on its export";
  EXPECT_TRUE(std::filesystem::exists(home_.file("damaged")));
}

TEST_F(SqliteStoreTest, ADamagedRowOfASessionIsMadeAgainFromTheJournal) {
  auto store = *open();
  Session session;
  session.id = session.tree = SessionId("sess_1_aaaaaa");
  session.label = "one";
  ASSERT_TRUE(store->claim(session.tree));
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  event.fact = SessionCreated{session};
  ASSERT_TRUE(run(loop_, store->record({event})));
  const auto whole = store->session(session.id);
  auto raw = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(raw->execute("UPDATE sessions SET fixed=replace(fixed, 'one', 'two'), result='never said'"));
  EXPECT_EQ((*store->session(session.id))->label, "one");
  EXPECT_EQ((*store->session(session.id))->result, "");
  EXPECT_EQ(store->sessions({})->front().label, "one");
}

TEST_F(SqliteStoreTest, ARowThatIsGoneIsPutAgainWithWhatIsRecordedNext) {
  const auto store = *open();
  Event event = creation();
  ASSERT_TRUE(store->claim(event.tree));
  ASSERT_TRUE(run(loop_, store->record({event})));
  const auto raw = Database::open(database(), Database::Mode::read_write);
  ASSERT_TRUE(raw->execute("DELETE FROM sessions"));
  event.fact = NoteTaken{"a"};
  ASSERT_TRUE(run(loop_, store->record({event})));
  EXPECT_EQ(raw->integer("SELECT count(*) FROM sessions WHERE id='sess_1_aaaaaa' AND events=2"), 1);
  EXPECT_TRUE(store->claim(event.tree)) << "what its row counts is what there is";
}

TEST_F(SqliteStoreTest, ATreeThatLacksARecordIsNotClaimedAndNotChanged) {
  auto store = *open();
  Session session;
  session.id = session.tree = SessionId("sess_1_aaaaaa");
  ASSERT_TRUE(store->claim(session.tree));
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  for (Fact fact : {Fact(SessionCreated{session}), Fact(NoteTaken{"a"}), Fact(NoteTaken{"b"})}) {
    event.fact = std::move(fact);
    ASSERT_TRUE(run(loop_, store->record({event})));
  }
  store.reset();
  auto raw = Database::open(database(), Database::Mode::read_write);
  for (const char* missing : {"3", "2"}) {
    ASSERT_TRUE(raw->execute("DELETE FROM journal WHERE number=" + std::string(missing)));
    store = *open();
    const auto refused = store->claim(session.tree);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_EQ(raw->integer("SELECT epoch FROM trees"), 1) << "nothing is written before all was read";
    EXPECT_EQ(store->events_of_tree(session.tree).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store->events_of_session(session.id).error().code, ErrorCode::corrupt);
    EXPECT_EQ(store->holder(session.tree), std::nullopt);
    store.reset();
  }
}

}  // namespace
}  // namespace deputy
