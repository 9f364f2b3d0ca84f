#include "delegation/report_desk.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "async/sim_loop.h"
#include "base/redaction.h"
#include "store/redacting_store.h"
#include "support/run.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Keeps nothing, and knows one secret.
class Secretive final : public Journal {
 public:
  Secretive() { redactor_.hide("hunter2hunter2"); }
  Task<Result<void>> record(std::vector<Event>) override { co_return Result<void>{}; }
  void ride_along(std::vector<Event>) override {}
  Fact as_kept(Fact fact) const override { return redacted(std::move(fact), redactor_); }

 private:
  Redactor redactor_;
};

class TheReportDesk : public testing::Test {
 protected:
  TheReportDesk() {
    report.session = SessionId("sess_1_bbbbbb");
    report.label = "../a b";
    report.body = "the password is hunter2hunter2, and more";
    report.errors = {{"t", "C", "hunter2hunter2 was refused", true, "change hunter2hunter2"}};
  }

  SimLoop loop{1};
  InlinePool pool;
  Secretive journal;
  MemoryDisk disk{loop.clock()};
  std::shared_ptr<const Folder> home = *disk.open("/home", IfAbsent::create);
  Report report;
};

TEST_F(TheReportDesk, WritesNoSecretToTheErrorsLogAndAppends) {
  ReportDesk desk({loop, pool, journal, home});
  run(loop, desk.log(report, "run"));
  run(loop, desk.log(report, "run"));
  const std::string log = disk.files()["/home/errors.jsonl"];
  EXPECT_EQ(std::ranges::count(log, '\n'), 2);
  EXPECT_THAT(log, AllOf(HasSubstr("was refused"), Not(HasSubstr("hunter2hunter2"))));
}

TEST_F(TheReportDesk, WritesNoSecretToASpilledReportAndNamesItSafely) {
  ReportDesk desk({loop, pool, journal, home, {.report_bytes = 10, .batch_bytes = 10}});
  const std::string told = run(loop, desk.told(SessionId("sess_1_aaaaaa"), report));
  for (const auto& [name, content] : disk.files())
    EXPECT_THAT(content, Not(HasSubstr("hunter2hunter2"))) << name;
  EXPECT_EQ(disk.files().size(), 1u);
  EXPECT_TRUE(disk.files().begin()->first.starts_with("/home/reports/sess_1_aaaaaa/"))
      << disk.files().begin()->first;
  EXPECT_THAT(told, HasSubstr(disk.files().begin()->first));
  EXPECT_EQ(desk.roots_of(SessionId("sess_1_aaaaaa")).size(), 1u);
  EXPECT_TRUE(desk.roots_of(SessionId("sess_1_bbbbbb")).empty()) << "it is its reader's alone";
}

TEST_F(TheReportDesk, KeepsALongTextWithoutSecretsForItsReader) {
  ReportDesk desk({loop, pool, journal, home});
  const auto path =
      run(loop, desk.keep(SessionId("sess_1_aaaaaa"), "../out.txt", "so long, hunter2hunter2\xff\n"));
  ASSERT_TRUE(path);
  EXPECT_TRUE(path->starts_with("/home/reports/sess_1_aaaaaa/")) << *path;
  EXPECT_EQ(disk.files()[*path], "so long, [redacted]\uFFFD\n");
  EXPECT_EQ(desk.roots_of(SessionId("sess_1_aaaaaa")).size(), 1u);
  EXPECT_FALSE(
      run(loop, ReportDesk({loop, pool, journal, nullptr}).keep(SessionId("sess_1_aaaaaa"), "x", "text")));
}

TEST_F(TheReportDesk, KeepsAsMuchForOneReaderAsThereIsRoomForAndNotOneByteMore) {
  const SessionId reader("sess_1_aaaaaa");
  ReportDesk desk(
      {.loop = loop, .pool = pool, .journal = journal, .state = home, .bounds = {}, .most_kept = 10});
  EXPECT_TRUE(run(loop, desk.keep(reader, "a.txt", "123456")));
  EXPECT_FALSE(run(loop, desk.keep(reader, "b.txt", "12345")));
  EXPECT_TRUE(run(loop, desk.keep(reader, "b.txt", "1234")));
  EXPECT_TRUE(run(loop, desk.keep(reader, "b.txt", "4321"))) << "in its own place";
  EXPECT_FALSE(run(loop, desk.keep(reader, "c.txt", "1")));
  EXPECT_TRUE(run(loop, desk.keep(SessionId("sess_1_bbbbbb"), "c.txt", "1234567890"))) << "another reader's";
  EXPECT_EQ(disk.files().size(), 3u);
}

TEST_F(TheReportDesk, StrikesAnArtifactThatIsNowhereInReachAndNotOneInAnotherRoot) {
  const std::shared_ptr<const Folder> workspace = *disk.open("/work", IfAbsent::create);
  const std::shared_ptr<const Folder> root = *disk.open("/extra", IfAbsent::create);
  ASSERT_TRUE(workspace->replace("a.txt", "x"));
  ASSERT_TRUE(root->replace("b.txt", "x"));
  ASSERT_TRUE(home->replace("c.txt", "x"));
  report.errors.clear();
  for (const auto* path : {"a.txt", "/extra/b.txt", "/extra/gone.txt", "/home/c.txt"})
    report.artifacts.push_back({.path = path});
  ReportDesk desk({loop, pool, journal, home});
  const Report checked = run(loop, desk.checked(report, workspace, {root.get()}));
  ASSERT_EQ(checked.artifacts.size(), 2u);
  EXPECT_EQ(checked.artifacts[0].path, "a.txt");
  EXPECT_EQ(checked.artifacts[1].path, "/extra/b.txt");
  ASSERT_EQ(checked.errors.size(), 2u);
  EXPECT_THAT(checked.errors[0].message, HasSubstr("/extra/gone.txt"));
  EXPECT_THAT(checked.errors[1].message, HasSubstr("/home/c.txt"));
}

TEST_F(TheReportDesk, KeepsEachReportOfASessionThatReportsAgain) {
  ReportDesk desk({loop, pool, journal, home, {.report_bytes = 10, .batch_bytes = 10}});
  const SessionId reader("sess_1_aaaaaa");
  const std::string first = run(loop, desk.told(reader, report));
  EXPECT_EQ(run(loop, desk.told(reader, report)), first) << "told again, it is the same file";
  EXPECT_EQ(disk.files().size(), 1u);
  report.body += " and more of it, in its second run";
  EXPECT_NE(run(loop, desk.told(reader, report)), first);
  EXPECT_EQ(disk.files().size(), 2u);
}

TEST_F(TheReportDesk, TheFolderThatACallHoldsStaysWhenAnotherReportIsSpilled) {
  ReportDesk desk({loop, pool, journal, home, {.report_bytes = 10, .batch_bytes = 10}});
  const SessionId reader("sess_1_aaaaaa");
  run(loop, desk.told(reader, report));
  const std::vector<const Folder*> held = desk.roots_of(reader);
  ASSERT_EQ(held.size(), 1u);
  report.body += " and more of it, in its second run";
  run(loop, desk.told(reader, report));
  EXPECT_EQ(desk.roots_of(reader), held);
  EXPECT_EQ(held.front()->path(), "/home/reports/sess_1_aaaaaa");
}

TEST_F(TheReportDesk, WhatAnEarlierProcessSpilledCanStillBeRead) {
  const SessionId reader("sess_1_aaaaaa");
  {
    ReportDesk desk({loop, pool, journal, home, {.report_bytes = 10, .batch_bytes = 10}});
    run(loop, desk.told(reader, report));
  }
  ReportDesk later({loop, pool, journal, home});
  EXPECT_EQ(later.roots_of(reader).size(), 1u);
  EXPECT_TRUE(later.roots_of(SessionId("sess_1_bbbbbb")).empty());
}

TEST_F(TheReportDesk, ADiskThatFailsCostsTheFileAndNotTheReport) {
  disk.set_fault([](std::string_view) -> Result<void> { return fail(ErrorCode::io, "no room"); });
  ReportDesk desk({loop, pool, journal, home, {.report_bytes = 10, .batch_bytes = 10}});
  run(loop, desk.log(report, "run"));
  const std::string told = run(loop, desk.told(SessionId("sess_1_aaaaaa"), report));
  EXPECT_THAT(told, AllOf(HasSubstr("Subagent Result"), Not(HasSubstr("The whole report"))));
}

TEST_F(TheReportDesk, WithoutAStateFolderKeepsNothing) {
  ReportDesk desk({loop, pool, journal, nullptr, {.report_bytes = 10, .batch_bytes = 10}});
  run(loop, desk.log(report, "run"));
  EXPECT_THAT(run(loop, desk.told(SessionId("sess_1_aaaaaa"), report)), Not(HasSubstr("The whole report")));
  EXPECT_TRUE(disk.files().empty());
}

}  // namespace
}  // namespace deputy
