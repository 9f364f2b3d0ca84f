#include "delegation/completion_tool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "agent/completion.h"
#include "base/json_schema.h"

namespace deputy {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> mistakes(std::string_view output_schema, std::string_view arguments) {
  const auto tool = CompletionTool::make(output_schema);
  if (!tool) return {tool.error().message};
  const auto schema = parse_json((*tool)->text().schema);
  const auto compiled = JsonSchema::compile(*schema);
  if (!compiled) return {compiled.error().message};
  return compiled->mistakes_in(*parse_json(arguments));
}

TEST(CompletionTool, TakesAReport) {
  EXPECT_THAT(mistakes("", R"({"status":"completed","summary":"s"})"), IsEmpty());
  EXPECT_THAT(mistakes("", R"({"status":"blocked","summary":"s","body":"b","artifacts":[{"path":"a"}],
    "errors":[{"type":"t","message":"m"}],"next_steps":["n"],"session_id":"x"})"),
              IsEmpty());
}

TEST(CompletionTool, RefusesWhatTheContractDoesNotKnow) {
  EXPECT_THAT(mistakes("", R"({"status":"cancelled","summary":"s"})"), SizeIs(1));
  EXPECT_THAT(mistakes("", R"({"status":"completed"})"), SizeIs(1));
  EXPECT_THAT(mistakes("", R"({"status":"completed","summary":""})"), SizeIs(1));
  EXPECT_THAT(mistakes("", R"({"status":"completed","summary":"s","usage":{}})"), SizeIs(1));
  EXPECT_THAT(mistakes("", R"({"status":"completed","summary":"s","errors":[{"type":"t"}]})"), SizeIs(1));
}

// deleg-15: the control is who takes what a child says without looking.
TEST(CompletionTool, ReportsOfAnyLengthAreNotTaken) {
  const std::string huge =
      fmt::format(R"({{"status":"completed","summary":"{}","artifacts":[{{"path":"/etc/shadow"}}]}})",
                  std::string(200'000, 'A'));
  EXPECT_THAT(mistakes("", huge), Contains(HasSubstr("summary")));
  EXPECT_THAT(mistakes("", R"({"status":"completed","summary":"s","artifacts":["/etc/shadow"]})"),
              Contains(HasSubstr("artifacts")));
  const Completion unchecked = completion_of(*parse_json_object(huge));
  EXPECT_EQ(unchecked.summary.size(), 200'000U) << "control";
  ASSERT_EQ(unchecked.artifacts.size(), 1U) << "control";
  EXPECT_EQ(unchecked.artifacts[0].path, "/etc/shadow") << "control";
}

constexpr auto kOutput = R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
  "properties":{"found":{"type":"array","items":{"$ref":"#/definitions/place"}}},"required":["found"],
  "definitions":{"place":{"type":"string","pattern":":[0-9]+$"}}})";

TEST(CompletionTool, ABodyMustBeWhatTheProfileWants) {
  EXPECT_THAT(mistakes(kOutput, R"({"status":"completed","summary":"s","body":{"found":["a.cc:1"]}})"),
              IsEmpty());
  EXPECT_THAT(mistakes(kOutput, R"({"status":"completed","summary":"s","body":{"found":["a.cc"]}})"),
              SizeIs(1));
  EXPECT_THAT(mistakes(kOutput, R"({"status":"completed","summary":"s","body":"a.cc:1"})"), SizeIs(1));
  EXPECT_THAT(mistakes(kOutput, R"({"status":"completed","summary":"s"})"), SizeIs(1));
}

TEST(CompletionTool, SaysWhatIsNoSchema) {
  EXPECT_FALSE(CompletionTool::make("[]"));
  EXPECT_FALSE(CompletionTool::make(R"({"type":"nonsense"})"));
}

}  // namespace
}  // namespace deputy
