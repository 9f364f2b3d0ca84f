#include "tools/rg_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace deputy {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message(std::string_view type, std::string_view path, std::string_view line, int number,
                    std::size_t start = 0) {
  return fmt::format(
      R"({{"type":"{}","data":{{"path":{{"text":"{}"}},"lines":{{"text":"{}\n"}},"line_number":{},"submatches":[{{"start":{}}}]}}}})"
      "\n",
      type, path, line, number, start);
}

TEST(RgOutput, LinesBelongToTheirFiles) {
  const auto files =
      parse_rg_json(R"({"type":"begin","data":{"path":{"text":"./a"}}})"
                    "\n" +
                    message("context", "./a", "before", 1) + message("match", "./a", "hit", 2) +
                    message("match", "./b", "hit", 7) + R"({"type":"summary","data":{}})");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "a");
  EXPECT_EQ(files[0].matches, 1u);
  ASSERT_EQ(files[0].lines.size(), 2u);
  EXPECT_FALSE(files[0].lines[0].is_match);
  EXPECT_EQ(files[0].lines[1].text, "hit");
  EXPECT_EQ(files[1].lines[0].number, 7);
}

TEST(RgOutput, BytesAreDecodedAndMended) {
  const auto files = parse_rg_json(
      R"({"type":"match","data":{"path":{"bytes":"Li9h/w=="},"lines":{"bytes":"aGVsbG8g/yBiYWQK"},"line_number":1,"submatches":[]}})");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, "a\xff");
  EXPECT_EQ(files[0].lines[0].text, "hello \uFFFD bad");
}

TEST(RgOutput, WhatIsCutOffOrNoMessageIsLeftOut) {
  const std::string whole = message("match", "a", "hit", 1);
  EXPECT_EQ(parse_rg_json(whole + whole.substr(0, 30)).at(0).lines.size(), 1u);
  EXPECT_THAT(parse_rg_json(""), IsEmpty());
  EXPECT_THAT(parse_rg_json("a:1:hit\n[]\n1\n{}\n"), IsEmpty());
  EXPECT_THAT(
      parse_rg_json(R"({"type":"match","data":{"path":{"bytes":"*"},"lines":{"text":"x"},"line_number":1}})"),
      IsEmpty());
}

TEST(RgOutput, ALongLineIsShownWhereItMatches) {
  const std::string at_limit(kMaxFoundCharacters, 'a');
  EXPECT_EQ(parse_rg_json(message("match", "a", at_limit, 1))[0].lines[0].text, at_limit);
  const std::string longer = std::string(5000, 'a') + "needle" + std::string(5000, 'b');
  const std::string text = parse_rg_json(message("match", "a", longer, 1, 5000))[0].lines[0].text;
  EXPECT_EQ(utf8_length(text), kMaxFoundCharacters);
  EXPECT_THAT(text, HasSubstr("needle"));
  EXPECT_TRUE(text.starts_with("…a") && text.ends_with("b…"));
  EXPECT_EQ(utf8_length(parse_rg_json(message("match", "a", longer, 1, 0))[0].lines[0].text),
            kMaxFoundCharacters);
}

TEST(RgOutput, PathsEndWithNul) {
  EXPECT_THAT(parse_rg_paths("./a\0./b\nc\0./cut"sv), ElementsAre("a", "b\nc"));
  EXPECT_THAT(parse_rg_paths(""), IsEmpty());
}

TEST(RgOutput, CountsFollowTheirPaths) {
  const auto files = parse_rg_counts(
      "./a\0"
      "3\n./b\nc\0"
      "12\n./d\0x\n./e\0"
      "4"sv);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "a");
  EXPECT_EQ(files[0].matches, 3u);
  EXPECT_EQ(files[1].path, "b\nc");
  EXPECT_EQ(files[1].matches, 12u);
}

}  // namespace
}  // namespace deputy
