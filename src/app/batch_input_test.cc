#include "app/batch_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string mistake_of(const Result<json::object>& batch) { return batch ? "" : batch.error().message; }

std::string mistake_in(std::vector<std::string> tasks) {
  return mistake_of(batch_from_tasks({.tasks = std::move(tasks)}));
}

TEST(BatchInput, TasksBecomeTheToolsOwnArguments) {
  const auto batch = batch_from_tasks({.tasks = {"a=What is here?", "b=x=y"},
                                       .context = {"README.md"},
                                       .concurrency = 3,
                                       .layout = "json",
                                       .max_output_tokens = 500});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(
      to_json_text(*batch),
      R"({"tasks":[{"label":"a","prompt":"What is here?","context":["README.md"],"max_output_tokens":500},)"
      R"({"label":"b","prompt":"x=y","context":["README.md"],"max_output_tokens":500}],)"
      R"("concurrency":3,"return":"json"})");
}

TEST(BatchInput, OddAndTwinLabelsAreLegal) {
  EXPECT_EQ(mistake_in({"../../x=p", "a b=p", "a b=p", "\xe4\xb8\x96\xe7\x95\x8c=p"}), "");
}

TEST(BatchInput, ALabelHasOneTo32Characters) {
  EXPECT_EQ(mistake_in({std::string(32, 'x') + "=p"}), "");
  EXPECT_THAT(mistake_in({std::string(33, 'x') + "=p"}), AllOf(HasSubstr("tasks[0].label"), HasSubstr("32")));
  EXPECT_THAT(mistake_in({"=p"}), HasSubstr("tasks[0].label"));
}

TEST(BatchInput, WhatCannotBeMeantIsSaid) {
  EXPECT_THAT(mistake_in({"no equals sign"}), HasSubstr("has no '='"));
  EXPECT_THAT(mistake_in({"a="}), HasSubstr("[a] is empty"));
  EXPECT_THAT(mistake_in({"a= \n"}), HasSubstr("[a] is empty"));
  EXPECT_THAT(mistake_in({"a=\xff\xfe"}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(mistake_in({"\xff=p"}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(mistake_in(std::vector<std::string>(9, "a=p")),
              AllOf(HasSubstr("tasks"), HasSubstr("at most 8")));
  EXPECT_THAT(mistake_in({}), HasSubstr("tasks"));
  EXPECT_THAT(mistake_of(batch_from_tasks({.tasks = {"a=p"}, .concurrency = 5})), HasSubstr("concurrency"));
  EXPECT_THAT(mistake_of(batch_from_tasks({.tasks = {"a=p"}, .layout = "xml"})), HasSubstr("return"));
  EXPECT_THAT(mistake_of(batch_from_tasks({.tasks = {"a=p"}, .max_output_tokens = 99})),
              HasSubstr("max_output_tokens"));
}

TEST(BatchInput, APromptMayHaveAMebibyteAndNoMore) {
  EXPECT_EQ(mistake_in({"a=" + std::string(kMostPromptBytes, 'x')}), "");
  EXPECT_THAT(mistake_in({"a=" + std::string(5'000'000, 'x')}),
              AllOf(HasSubstr("5,000,000 bytes"), HasSubstr("1,048,576")));
}

TEST(BatchInput, AFileIsTheToolsOwnJson) {
  const auto batch =
      batch_from_file(R"({"tasks":[{"label":"a","prompt":"p"}],"return":"markdown"})", {.layout = "json"});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(string_or(*batch, "return", ""), "json");
}

TEST(BatchInput, AFileThatIsNoBatchIsRefused) {
  EXPECT_NE(mistake_of(batch_from_file("", {})), "");
  EXPECT_NE(mistake_of(batch_from_file("[1]", {})), "");
  EXPECT_NE(mistake_of(batch_from_file("{\"tasks\":[{\"label\":\"a\",\"prompt\":\"\xff\"}]}", {})), "");
  EXPECT_THAT(mistake_of(batch_from_file(R"({"tasks":[{"label":"a","prompt":"p","tools":[]}]})", {})),
              HasSubstr("tools"));
  EXPECT_THAT(mistake_of(batch_from_file(R"({"tasks":[]})", {.context = {"x"}})), HasSubstr("--context"));
}

}  // namespace
}  // namespace deputy
