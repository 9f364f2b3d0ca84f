// What a person meets of reports: long bodies kept whole in files, the log of errors, and what to do about
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportsTest : public DeputyTest {
 protected:
  // One child, which gives these replies.
  Ran task(const std::string& replies, std::vector<std::string> more = {}) {
    std::vector<std::string> words{
        "task", "general", "work", "--model",
        script(R"({"v":1,"sessions":[{"match":{"depth":1},"replies":[)" + replies + "]}]}")};
    words.insert(words.end(), more.begin(), more.end());
    return deputy(std::move(words));
  }
  static std::string completion(std::string_view status, std::string_view errors) {
    return fmt::format(
        R"({{"calls":[{{"name":"task_completion","arguments":{{"status":"{}","summary":"s","body":"b","errors":[{}]}}}}]}})",
        status, errors);
  }
  std::vector<json::object> errors_log() const {
    std::vector<json::object> lines;
    const std::string log = contents(home() / "errors.jsonl");
    for (const auto line : lines_of(log)) lines.push_back(parse_json_object(line).value_or(json::object{}));
    return lines;
  }
};

constexpr std::string_view kFlaky =
    R"({"type":"test","code":"FLAKY","message":"one test fails now and then","recoverable":true,"recommendation":"run it again"})";
constexpr std::string_view kHopeless =
    R"({"type":"disk","code":"BROKEN","message":"the disk is broken","recoverable":false,"recommendation":"replace it"})";

TEST_F(ReportsTest, ALongBodyIsShownWithHeadTailAndThePathOfTheWhole) {
  const std::string body = "HEAD" + std::string(40 * 1024, 'x') + "TAIL";
  const auto ran = task(fmt::format(R"({{"text":"{}"}})", body));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("HEAD"), HasSubstr("TAIL"), HasSubstr("left out"), Not(HasSubstr(body))));
  const std::string marker = "[The whole report: ";
  const auto at = ran.out.find(marker);
  ASSERT_NE(at, std::string::npos) << ran.out.substr(ran.out.size() - 200);
  const fs::path file = ran.out.substr(at + marker.size(), ran.out.find(']', at) - at - marker.size());
  EXPECT_EQ(file.parent_path().parent_path(), fs::canonical(home()) / "reports");
  EXPECT_THAT(contents(file), HasSubstr(body));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(ReportsTest, ABodyAtItsBoundIsShownWholeAndSpillsNothing) {
  const std::string body(32 * 1024, 'x');
  EXPECT_THAT(task(fmt::format(R"({{"text":"{}"}})", body)).out, HasSubstr(body));
  EXPECT_FALSE(fs::exists(home() / "reports"));
}

TEST_F(ReportsTest, EachErrorIsALineOfTheLog) {
  EXPECT_EQ(task(completion("failed", fmt::format("{},{}", kFlaky, kHopeless))).status, 1);
  const auto lines = errors_log();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(string_or(lines[0], "type", ""), "test");
  EXPECT_EQ(string_or(lines[0], "code", ""), "FLAKY");
  EXPECT_EQ(string_or(lines[0], "message", ""), "one test fails now and then");
  EXPECT_THAT(string_or(lines[0], "session_id", ""), HasSubstr("sess_"));
  EXPECT_EQ(string_or(lines[0], "command", ""), "task");
  EXPECT_EQ(string_or(lines[1], "code", ""), "BROKEN");
  const auto before = lines.size();
  EXPECT_EQ(task(completion("failed", kFlaky)).status, 1);
  EXPECT_GT(errors_log().size(), before) << "it is appended to";
  EXPECT_EQ(fs::status(home() / "errors.jsonl").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReportsTest, WhereAllCanBeRecoveredFromTheFirstRecommendationIsGiven) {
  const auto ran = task(completion("partial", kFlaky));
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("one test fails now and then"), HasSubstr("run it again"),
                             Not(HasSubstr("Manual intervention"))));
}

TEST_F(ReportsTest, ElseManualInterventionIsRequired) {
  const auto ran = task(completion("failed", fmt::format("{},{}", kFlaky, kHopeless)));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("Manual intervention required: the disk is broken"), HasSubstr("replace it")));
  const auto root = deputy(
      {"run", "go", "--model",
       script(
           R"({"v":1,"sessions":[{"replies":[{"error":{"kind":"no_key","message":"no key for acme"}}]}]})")});
  EXPECT_EQ(root.status, 1);
  EXPECT_THAT(root.err, HasSubstr("Manual intervention required: "));
  EXPECT_THAT(root.err, HasSubstr("no key for acme"));
}

TEST_F(ReportsTest, WhatIsOlderThanSevenDaysGoesAtTheNextStart) {
  const std::string long_text = fmt::format(R"({{"text":"{}"}})", std::string(40 * 1024, 'x'));
  ASSERT_EQ(task(long_text).status, 0);
  ASSERT_EQ(task(completion("failed", kFlaky)).status, 1);
  const auto reports = files_below(home() / "reports");
  ASSERT_EQ(reports.size(), 2u) << "a folder and a file";
  ASSERT_EQ(task(R"({"text":"done"})").status, 0);
  EXPECT_EQ(files_below(home() / "reports"), reports) << "nothing is old yet";
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::days(8);
  fs::last_write_time(home() / "reports" / reports.back(), long_ago);
  fs::last_write_time(home() / "errors.jsonl", long_ago);
  ASSERT_EQ(task(R"({"text":"done"})").status, 0);
  EXPECT_THAT(files_below(home() / "reports"), testing::IsEmpty());
  EXPECT_FALSE(fs::exists(home() / "errors.jsonl"));
}

TEST_F(ReportsTest, BlockedNamesItsBlocker) {
  const auto ran = task(completion("blocked", kHopeless));
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("blocked"), HasSubstr("the disk is broken")));
  const auto as_json = parse_json_object(task(completion("blocked", kHopeless), {"--output", "json"}).out);
  ASSERT_TRUE(as_json);
  EXPECT_EQ(string_or(*as_json, "status", ""), "blocked");
  const auto* errors = array_at(*as_json, "errors");
  ASSERT_TRUE(errors && !errors->empty());
  EXPECT_EQ(string_or(errors->front().as_object(), "code", ""), "BROKEN");
}

}  // namespace
}  // namespace deputy
