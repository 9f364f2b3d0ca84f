#include "store/transcript_files.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace deputy {
namespace {

class TranscriptFilesTest : public testing::Test {
 protected:
  TranscriptFilesTest() {
    session_.id = session_.tree = SessionId("sess_1_aaaaaa");
    session_.uuid = Uuid("u");
    session_.label = "one";
    add(SessionCreated{session_});
    add(RunStarted{});
    add(InputGiven{Source::parent, "do it"});
    add(NoteTaken{"noted"});
  }
  void add(Fact fact) {
    Event event;
    event.tree = session_.tree;
    event.run = {session_.id, 1};
    event.fact = std::move(fact);
    events_.push_back(std::move(event));
  }
  std::unique_ptr<TranscriptFiles> files() {
    return std::make_unique<TranscriptFiles>(*disk_.open("/home", IfAbsent::create));
  }
  EventRefs refs() const { return EventRefs(events_.begin(), events_.end()); }

  ManualClock clock_;
  MemoryDisk disk_{clock_};
  Session session_;
  std::vector<Event> events_;
};

TEST_F(TranscriptFilesTest, GrowByLinesAndAreSealedWhole) {
  const auto written = files();
  written->write(refs());
  EXPECT_EQ(disk_.files()["/home/one-u.transcript.jsonl"],
            "{\"role\":\"user\",\"content\":\"do it\",\"source\":\"parent\"}\n");
  events_.clear();
  add(RunEnded{});
  written->write(refs());
  EXPECT_FALSE(disk_.files().contains("/home/one-u.transcript.jsonl"));
  const auto sealed = parse_json_object(disk_.files()["/home/one-u.transcript.json"]);
  ASSERT_TRUE(sealed);
  EXPECT_EQ(array_at(*sealed, "messages")->size(), 1u);
  EXPECT_EQ(string_or(*sealed, "outcome", ""), "success");
}

TEST_F(TranscriptFilesTest, AreOpenedOnceForAllThatACommitAdds) {
  add(InputGiven{Source::parent, "and that"});
  add(NoteTaken{"noted too"});
  int lines = 0;
  int notes = 0;
  disk_.set_fault([&](std::string_view path) -> Result<void> {
    lines += path.contains(".transcript.jsonl") ? 1 : 0;
    notes += path.contains(".scratch.md") ? 1 : 0;
    return {};
  });
  files()->write(refs());
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(notes, 1);
  disk_.set_fault({});
  EXPECT_EQ(disk_.files()["/home/one-u.scratch.md"], "noted\nnoted too\n");
  EXPECT_TRUE(disk_.files()["/home/one-u.transcript.jsonl"].ends_with(
      "{\"role\":\"user\",\"content\":\"and that\",\"source\":\"parent\"}\n"));
}

TEST_F(TranscriptFilesTest, AnEndInTheSameCommitSealsAllBeforeIt) {
  add(RunEnded{});
  files()->write(refs());
  EXPECT_FALSE(disk_.files().contains("/home/one-u.transcript.jsonl"));
  const auto sealed = parse_json_object(disk_.files()["/home/one-u.transcript.json"]);
  ASSERT_TRUE(sealed);
  EXPECT_EQ(array_at(*sealed, "messages")->size(), 1u);
}

TEST_F(TranscriptFilesTest, WhatCannotBeSealedKeepsItsLastLines) {
  add(RunEnded{});
  disk_.set_fault([](std::string_view path) -> Result<void> {
    if (!path.contains("jsonl") && path.contains("transcript.json"))
      return fail(ErrorCode::exhausted, "the disk is full");
    return {};
  });
  const auto written = files();
  written->write(refs());
  ASSERT_TRUE(written->failure());
  EXPECT_TRUE(disk_.files()["/home/one-u.transcript.jsonl"].contains("do it"));
  EXPECT_EQ(disk_.files()["/home/one-u.scratch.md"], "noted\n");
}

TEST_F(TranscriptFilesTest, WhatACrashTookFromTheFilesIsMadeAnewFromTheJournal) {
  // Committed, but the process died before the export of the second half, in the middle of a line.
  ASSERT_TRUE(
      (*disk_.open("/home", IfAbsent::create))->append_to("one-u.transcript.jsonl", "{\"role\":\"us"));
  const auto written = files();
  written->rebuild(session_, refs());
  EXPECT_EQ(disk_.files()["/home/one-u.transcript.jsonl"],
            "{\"role\":\"user\",\"content\":\"do it\",\"source\":\"parent\"}\n");
  EXPECT_EQ(disk_.files()["/home/one-u.scratch.md"], "noted\n");
}

TEST_F(TranscriptFilesTest, WhatACrashLeftWholeIsNotWrittenAgain) {
  files()->write(refs());
  const auto before = disk_.files();
  int writes = 0;
  disk_.set_fault([&writes](std::string_view) -> Result<void> {
    ++writes;
    return {};
  });
  const auto next = files();
  next->rebuild(session_, refs());
  EXPECT_EQ(writes, 0);
  EXPECT_EQ(disk_.files(), before);
  next->write({events_.back()});  // it goes on where it was
  EXPECT_EQ(disk_.files()["/home/one-u.scratch.md"], "noted\nnoted\n");
}

TEST_F(TranscriptFilesTest, WhatTheFilesHaveBeyondTheJournalIsTakenOut) {
  files()->write(refs());
  const auto before = disk_.files();
  ASSERT_TRUE((*disk_.open("/home", IfAbsent::create))->append_to("one-u.transcript.jsonl", "{"));
  files()->rebuild(session_, refs());
  EXPECT_EQ(disk_.files(), before);
}

TEST_F(TranscriptFilesTest, AnEndThatWasCommittedIsSealedByTheNextProcess) {
  add(RunEnded{});
  session_.state = SessionState::completed;
  files()->rebuild(session_, refs());
  EXPECT_TRUE(disk_.files().contains("/home/one-u.transcript.json"));
}

TEST_F(TranscriptFilesTest, TwoProcessesThatSealTheSameSessionDoNoHarm) {
  const auto first = files();
  first->write(refs());
  add(RunEnded{});
  session_.state = SessionState::completed;
  files()->rebuild(session_, refs());
  const auto sealed = disk_.files()["/home/one-u.transcript.json"];
  first->write({events_.back()});
  EXPECT_EQ(disk_.files()["/home/one-u.transcript.json"], sealed);
  EXPECT_FALSE(first->failure());
}

TEST_F(TranscriptFilesTest, AFileThatCannotBeWrittenIsSaidAndHarmsNothing) {
  disk_.set_fault([](std::string_view path) -> Result<void> {
    if (path.contains("jsonl")) return fail(ErrorCode::exhausted, "the disk is full");
    return {};
  });
  const auto written = files();
  written->write(refs());
  ASSERT_TRUE(written->failure());
  EXPECT_EQ(written->failure()->code, ErrorCode::exhausted);
  EXPECT_EQ(disk_.files()["/home/one-u.scratch.md"], "noted\n");
}

}  // namespace
}  // namespace deputy
