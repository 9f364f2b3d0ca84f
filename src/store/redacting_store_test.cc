#include "store/redacting_store.h"

#include <gtest/gtest.h>

#include <set>

#include "async/sim_loop.h"
#include "base/json.h"
#include "store/memory_store.h"
#include "store/session_journal.h"
#include "support/run.h"

namespace deputy {
namespace {

constexpr const char* kSecret = "correct horse battery";
constexpr const char* kShape = "AKIAABCDEFGHIJKLMNOP";

// Every text of every fact that comes from a model, a file, a program or a person.
std::vector<Fact> facts_full_of(const std::string& text) {
  Session session;
  session.id = SessionId("sess_1_aaaaaa");
  session.tree = session.id;
  session.prompt = session.label = text;
  Reply reply;
  reply.message = {.text = text, .thinking = text, .calls = {{"1", "Write", text}}, .wire = text};
  reply.error = text;
  Report report;
  report.label = report.summary = report.body = text;
  report.artifacts = {{text, text, text}};
  report.errors = {{text, text, text, true, text}};
  report.next_steps = {text};
  report.commands = {{text, 0}};
  report.workspace.diff = text;
  return {SessionCreated{session},
          InputGiven{Source::parent, text},
          ReplyReceived{reply},
          RequestStopped{{}, text},
          ReplyHeard{true, text},
          CallStarted{"Read", text},
          CallFinished{{"1", ToolStatus::ok, text}},
          NoteTaken{text},
          QuestionAsked{{"q", QuestionKind::to_parent, session.id, text, "a", text, {text}}},
          QuestionAnswered{"q", {AnswerKind::text, text}},
          Retried{.reason = text},
          StateChanged{SessionState::waiting, text},
          Nudged{"n", Source::person, text},
          Delivered{"nudge/n", Source::person, text},
          Compacted{reply, 1},
          RunEnded{report}};
}

class RedactingStoreTest : public testing::Test {
 protected:
  RedactingStoreTest() { redactor.hide(kSecret); }
  SimLoop loop{1};
  Redactor redactor;
  std::shared_ptr<MemoryStore::Memory> memory = std::make_shared<MemoryStore::Memory>();
  RedactingStore store{std::make_unique<MemoryStore>(loop, memory), redactor};
};

TEST_F(RedactingStoreTest, KeepsSecretsOutOfEveryFact) {
  const SessionId tree("sess_1_aaaaaa");
  ASSERT_TRUE(store.claim(tree));
  std::vector<std::string> told;
  store.subscribe([&](const Event& event) { told.push_back(to_json_text(fact_to_json(event.fact))); });
  for (const Fact& fact : facts_full_of(kSecret)) {
    Event event;
    event.tree = tree;
    event.run = {tree, 1};
    event.fact = fact;
    store.ride_along({event});
  }
  ASSERT_TRUE(run(loop, store.record({})));
  ASSERT_EQ(memory->journal.size(), facts_full_of("").size());
  for (const Event& event : memory->journal) {
    const std::string body = to_json_text(fact_to_json(event.fact));
    EXPECT_FALSE(body.contains(kSecret)) << body;
    EXPECT_TRUE(body.contains("[redacted]")) << body;
  }
  ASSERT_EQ(told.size(), memory->journal.size());
  for (const std::string& line : told) EXPECT_FALSE(line.contains(kSecret)) << line;
  EXPECT_FALSE(store.session(tree).value()->prompt.contains(kSecret));
}

// Of these nothing is said by anybody: times, sums, ids, and the names of files and programs.
TEST_F(RedactingStoreTest, EveryOtherFactHasNoSuchText) {
  std::set<std::size_t> known;
  for (const Fact& fact : facts_full_of(kSecret)) known.insert(fact.index());
  for (const Fact& fact :
       std::vector<Fact>{RunStarted{}, FileTouched{}, BudgetReserved{}, DeadlineMoved{}, Detached{},
                         Attached{}, ProcessEnded{}, CommandEnded{}, TakenUp{}}) {
    EXPECT_TRUE(known.insert(fact.index()).second) << kind_of(fact);
  }
  EXPECT_EQ(known.size(), std::variant_size_v<Fact>) << "a new one: what does it hold that somebody said?";
}

TEST_F(RedactingStoreTest, WhatLooksLikeAKeyStaysInAReplyAlone) {
  for (const Fact& fact : facts_full_of(kShape)) {
    const std::string body = to_json_text(fact_to_json(redacted(fact, redactor)));
    const bool is_reply =
        std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<Compacted>(fact);
    EXPECT_EQ(body.contains(kShape), is_reply) << body;
  }
  const auto reply = std::get<ReplyReceived>(redacted(facts_full_of(kShape)[2], redactor)).reply;
  EXPECT_EQ(reply.message.calls[0].arguments, kShape) << "it runs as it was written";
}

TEST_F(RedactingStoreTest, ARunIsToldWhatIsKept) {
  const SessionId tree("sess_1_aaaaaa");
  ASSERT_TRUE(store.claim(tree));
  std::string told;
  SessionJournal journal(store, tree, {tree, 1}, [&](const Event& event) {
    told = std::get<CallFinished>(event.fact).result.content;
  });
  journal.ride_along({0, 0}, CallFinished{{"1", ToolStatus::ok, std::string("key: ") + kSecret}});
  EXPECT_EQ(told, "key: [redacted]");
  ASSERT_TRUE(run(loop, journal.sync()));
  EXPECT_EQ(std::get<CallFinished>(memory->journal.back().fact).result.content, told);
}

TEST_F(RedactingStoreTest, ControlAStoreWithoutItKeepsEverything) {
  const SessionId tree("sess_1_aaaaaa");
  MemoryStore bare(loop, memory);
  ASSERT_TRUE(bare.claim(tree));
  Event event;
  event.tree = tree;
  event.run = {tree, 1};
  event.fact = NoteTaken{kSecret};
  ASSERT_TRUE(run(loop, bare.record({event})));
  EXPECT_EQ(std::get<NoteTaken>(memory->journal.back().fact).content, kSecret);
}

}  // namespace
}  // namespace deputy
