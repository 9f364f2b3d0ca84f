#include "tools/read.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/content_kind.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Read : public testing::Test {
 protected:
  std::string ok(std::string_view arguments) { return content(arguments, ToolStatus::ok); }
  std::string error(std::string_view arguments) { return content(arguments, ToolStatus::error); }

  static std::string numbers(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += fmt::format("line {}\n", i);
    return text;
  }

  ToolBench bench;
  ReadTool read;

 private:
  std::string content(std::string_view arguments, ToolStatus status) {
    const ToolResult result = bench.call(read, arguments);
    EXPECT_EQ(result.status, status) << result.content;
    return result.content;
  }
};

TEST_F(Read, NumbersTheLines) {
  bench.write("src/a.cc", "int a;\n\nint b;\n");
  EXPECT_EQ(ok(R"({"file_path":"src/a.cc"})"), "     1\tint a;\n     2\t\n     3\tint b;\n");
  EXPECT_EQ(ok(R"({"file_path":"/work/src/../src/a.cc"})"), ok(R"({"file_path":"src/a.cc"})"));
}

TEST_F(Read, SaysHowToReadOn) {
  bench.write("a", numbers(10));
  EXPECT_THAT(ok(R"({"file_path":"a","limit":4})"),
              EndsWith("     4\tline 4\n[lines 1–4 of 10; read on with offset 5]\n"));
  EXPECT_THAT(ok(R"({"file_path":"a","offset":5,"limit":2})"),
              AllOf(StartsWith("     5\tline 5\n"), EndsWith("[lines 5–6 of 10; read on with offset 7]\n")));
  EXPECT_THAT(ok(R"({"file_path":"a","offset":9})"), EndsWith("    10\tline 10\n[lines 9–10 of 10]\n"));
}

TEST_F(Read, ShowsTwoThousandLinesUnlessToldOtherwise) {
  bench.write("a", numbers(2000));
  EXPECT_THAT(ok(R"({"file_path":"a"})"), EndsWith("  2000\tline 2000\n"));
  bench.write("a", numbers(2001));
  EXPECT_THAT(ok(R"({"file_path":"a"})"), EndsWith("[lines 1–2000 of 2001; read on with offset 2001]\n"));
}

TEST_F(Read, AnOffsetPastTheEndIsAnError) {
  bench.write("a", numbers(3));
  EXPECT_EQ(error(R"({"file_path":"a","offset":4})"), "a has only 3 lines: offset 4 lies past its end.");
  EXPECT_THAT(ok(R"({"file_path":"a","offset":3})"), StartsWith("     3\tline 3\n"));
}

TEST_F(Read, ShowsNoMoreThanItsBoundAndSaysWhereToReadOn) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += std::string(300, 'a') + "\n";
  bench.write("a", text);
  const std::string shown = ok(R"({"file_path":"a"})");
  EXPECT_LE(shown.size(), read.most_result_bytes());
  EXPECT_GT(shown.size(), ReadTool::kMaxTextBytes - 400);
  EXPECT_THAT(shown, HasSubstr("[lines 1–851 of 1500; read on with offset 852]"));
}

TEST_F(Read, ReachesLinesFarIntoALargeFile) {
  std::string text = numbers(200'000);
  bench.write("a", text);
  EXPECT_THAT(ok(R"({"file_path":"a","offset":199999})"),
              StartsWith("199999\tline 199999\n200000\tline 200000\n[lines"));
}

TEST_F(Read, AFileTooLargeToCountIsReadInItsBeginning) {
  std::string text(ReadTool::kMaxScanned + 1, 'a');
  for (std::size_t at = 99; at < text.size(); at += 100) text[at] = '\n';
  bench.write("a", text);
  EXPECT_THAT(ok(R"({"file_path":"a","limit":1})"),
              HasSubstr("[lines 1–1 of more than 671088; read on with offset 2]"));
  EXPECT_THAT(error(R"({"file_path":"a","offset":700000})"), HasSubstr("only its first 64 MiB"));
}

TEST_F(Read, AnEmptyFileIsSaidToBeEmpty) {
  bench.write("a", "");
  EXPECT_EQ(ok(R"({"file_path":"a"})"), "[a is empty]");
}

TEST_F(Read, MendedBytesAndCarriageReturnsAreSaid) {
  bench.write("a", "x\xff\r\n");
  EXPECT_EQ(ok(R"({"file_path":"a"})"),
            "     1\tx\uFFFD\n[bytes that are not UTF-8 are shown as \uFFFD]\n[its lines end with CRLF]\n");
}

TEST_F(Read, WhatIsNotTextIsNamedPolitely) {
  bench.write("a.png", "\x89PNG\r\n\x1a\n0000"sv);
  EXPECT_EQ(error(R"({"file_path":"a.png"})"),
            "a.png is a PNG image of 12 bytes, not text, so it cannot be shown.");
  bench.write("a.o", "abc\0def"sv);
  EXPECT_EQ(error(R"({"file_path":"a.o"})"),
            "a.o is a binary file of 7 bytes, not text, so it cannot be shown.");
}

TEST_F(Read, AFolderLeadsToList) {
  bench.write("src/a", "");
  EXPECT_EQ(error(R"({"file_path":"src"})"), "src is a folder. Use List to see what is in it.");
}

TEST_F(Read, MissingAndOutsideAreToldApart) {
  bench.write("src/main.cc", "");
  EXPECT_THAT(error(R"({"file_path":"src/mian.cc"})"), HasSubstr("Did you mean src/main.cc?"));
  EXPECT_THAT(error(R"({"file_path":"/etc/passwd"})"), HasSubstr("outside the workspace /work"));
  EXPECT_THAT(error(R"({"file_path":"../x"})"), HasSubstr("outside the workspace /work"));
}

TEST_F(Read, IsShownByItsPathOnOneLine) {
  EXPECT_EQ(read.shown(*parse_json_object(R"({"file_path":"src/a.cc"})")), "src/a.cc");
  EXPECT_THAT(read.shown(*parse_json_object(R"({"file_path":"a\nb"})")), Not(HasSubstr("\n")));
  EXPECT_EQ(read.path(*parse_json_object(R"({"file_path":"a\nb"})")), "a\nb");
}

TEST(ContentKind, KnowsCommonFilesByTheirBeginning) {
  EXPECT_EQ(kind_unless_text("\xff\xd8\xff\xe0"sv), "a JPEG image");
  EXPECT_EQ(kind_unless_text("RIFF\1\2\3\4WEBPVP8 "sv), "a WebP image");
  EXPECT_EQ(kind_unless_text("RIFF\1\2\3\4WEBP"sv), "a WebP image");
  EXPECT_EQ(kind_unless_text("RIFF, WEBP"sv), std::nullopt) << "its size stands between them";
  EXPECT_EQ(kind_unless_text("%PDF-1.7"sv), "a PDF document");
  EXPECT_EQ(kind_unless_text("\x7f"
                             "ELF\2"sv),
            "a compiled program");
  EXPECT_EQ(kind_unless_text("\xff\xfe"
                             "a\0"sv),
            "UTF-16 text");
  EXPECT_EQ(kind_unless_text("BMW builds cars"sv), std::nullopt);
  EXPECT_EQ(kind_unless_text("text \xff"sv), std::nullopt);
  EXPECT_EQ(kind_unless_text(""sv), std::nullopt);
}

}  // namespace
}  // namespace deputy
