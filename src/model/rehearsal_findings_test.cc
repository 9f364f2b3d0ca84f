#include "model/rehearsal_findings.h"

#include <gmock/gmock.h>

#include "base/text.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Answered answered(std::string tool, std::string arguments, std::string content,
                  ToolStatus status = ToolStatus::ok) {
  return {{"id", std::move(tool), std::move(arguments)}, {"id", status, std::move(content)}};
}

Findings one(Answered result) { return findings_of(std::vector{std::move(result)}); }

TEST(RehearsalFindings, HitsAreReadByPathAndLineWhateverTheTextHolds) {
  const auto findings = one(answered(
      "Grep", R"({"pattern":"TODO"})",
      "[3 matching lines in 2 files]\nb c.cc:7:// TODO: at 10:30: x\na:b.cc:12:TODO\nplain\nb c.cc:2:\n"));
  EXPECT_THAT(findings.hits, ElementsAre(Cite{"a:b.cc", 12, "TODO"}, Cite{"b c.cc", 2, ""},
                                         Cite{"b c.cc", 7, "// TODO: at 10:30: x"}));
  EXPECT_EQ(findings.in_hits.lines, 3U);
  EXPECT_EQ(findings.in_hits.files, 2U);
  EXPECT_FALSE(findings.cut);
}

TEST(RehearsalFindings, WhatAToolSaysOfItsResultIsNoResult) {
  EXPECT_THAT(
      one(answered("Grep", "{}",
                   "No matches for a:12:b in the workspace. Hidden and ignored files were not searched.\n"))
          .hits,
      IsEmpty());
  EXPECT_THAT(one(answered("Grep", "{}", "[not everything could be searched: rg: ./x:1: denied]\n")).hits,
              IsEmpty());
  EXPECT_THAT(one(answered("Glob", "{}", "No files match **/* in the workspace.\n")).paths, IsEmpty());
  const auto found =
      one(answered("Glob", "{}", "[1,204 files]\nb.cc\na [x].cc\n[2 files withheld by permission rules]\n"));
  EXPECT_THAT(found.paths, ElementsAre("a [x].cc", "b.cc"));
  EXPECT_EQ(found.in_paths.files, 1204U);
}

TEST(RehearsalFindings, NextToACutNothingIsBelieved) {
  const auto findings = one(answered("Grep", "{}",
                                     "[9 matching lines in 5 files]\nsrc/a.cc:1:x\nsrc/b.cc:2:half a li\n[… "
                                     "12 lines (300 bytes) left out …]\n"
                                     "c/y.cc:4:tail\nsrc/z.cc:5:x\n"));
  EXPECT_THAT(findings.hits, ElementsAre(Cite{"src/a.cc", 1, "x"}, Cite{"src/z.cc", 5, "x"}));
  EXPECT_TRUE(findings.cut);
  EXPECT_TRUE(one(answered("Grep", "{}",
                           "[900 matching lines in 5 files; the first 250 rows follow: narrow it]\na:1:x\n"))
                  .cut);
}

TEST(RehearsalFindings, BelievesWhatTheToolboxLeavesOfALongResult) {
  std::string rows;
  for (int i = 1; i < 5000; ++i)
    rows += "src/file_" + std::to_string(i) + ".cc:" + std::to_string(i) + ":text\n";
  const auto findings = one(answered("Grep", "{}", bounded(rows, 10'000).text));
  EXPECT_TRUE(findings.cut);
  EXPECT_GT(findings.hits.size(), 100U);
  for (const Cite& hit : findings.hits) EXPECT_EQ(hit.path, "src/file_" + std::to_string(hit.line) + ".cc");
}

TEST(RehearsalFindings, CountsAreTheLengthsOfFiles) {
  const auto findings =
      one(answered("Grep", R"({"pattern":"^","output_mode":"count"})",
                   "[352 matching lines in 2 files]\na.cc:340\nb:x.cc:12\nc.cc:0\nd.cc:9x\n"));
  EXPECT_THAT(findings.lengths, ElementsAre(Cite{"a.cc", 340, ""}, Cite{"b:x.cc", 12, ""}));
  EXPECT_EQ(findings.in_lengths.lines, 352U);
  EXPECT_THAT(findings.known_files(), ElementsAre("a.cc", "b:x.cc"));
}

TEST(RehearsalFindings, ReadShowsNumberedLines) {
  const auto findings = one(
      answered("Read", R"({"file_path":"a.cc"})",
               "     9\t// TODO\n    10\t\n    11\tint x;\n[lines 9–11 of 40; read on with offset 12]\n"));
  EXPECT_THAT(findings.read.at("a.cc"),
              ElementsAre(Cite{"a.cc", 9, "// TODO"}, Cite{"a.cc", 10, ""}, Cite{"a.cc", 11, "int x;"}));
  EXPECT_THAT(one(answered("Read", R"({"file_path":"a"})", "[a is empty]")).read.at("a"), IsEmpty());
}

TEST(RehearsalFindings, ListShowsFoldersAndFiles) {
  const auto findings = one(answered(
      "List", R"({"path":"."})",
      "[.: 1 folder, 3 files]\nsrc/\nREADME.md  1,204 bytes\nlink  (link)\ntwo  spaces.md  1 byte\n"));
  EXPECT_THAT(findings.top, ElementsAre("README.md", "src/", "two  spaces.md"));
  EXPECT_THAT(findings.known_files(), ElementsAre("README.md", "two  spaces.md"));
}

TEST(RehearsalFindings, ErrorsAreKeptAsTroubleOncePerTool) {
  const std::vector<Answered> results = {answered("Grep", "{}", "no rg", ToolStatus::error),
                                         answered("Grep", "{}", "again", ToolStatus::error),
                                         answered("Read", "not json", "     1\tx\n")};
  const auto findings = findings_of(results);
  EXPECT_EQ(findings.troubles.size(), 1U);
  EXPECT_EQ(findings.troubles.at("Grep"), "no rg");
  EXPECT_THAT(findings.read.at(""), ElementsAre(Cite{"", 1, "x"}));
}

TEST(RehearsalFindings, ReadsTheChildrenOutOfABatch) {
  const auto children = read_children(
      "## Subagents complete: 1/2\n\n### [survey] ✓\n**Usage**: in=45 out=2\n\n12 files.\n- a.md:1 — # "
      "A\n\n### [risks] ✗ error\n**Usage**: in=0 out=0\n\nno key\n");
  ASSERT_EQ(children.size(), 2U);
  EXPECT_EQ(children[0].label, "survey");
  EXPECT_EQ(children[0].state, "✓");
  EXPECT_THAT(children[0].lines, ElementsAre("12 files.", "- a.md:1 — # A"));
  EXPECT_EQ(children[1].state, "✗ error");
  EXPECT_THAT(children[1].lines, ElementsAre("no key"));
  EXPECT_THAT(read_children("Not permitted."), IsEmpty());
}

}  // namespace
}  // namespace deputy
