#include "tools/html_markdown.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

std::string markdown(std::string_view html) {
  return page_of(html, [](std::string_view address) { return std::string(address); }).markdown;
}

TEST(HtmlMarkdown, KeepsHeadingsParagraphsAndEmphasis) {
  EXPECT_EQ(markdown("<h2>A  b</h2><p>one <b>two</b>,\n three<br>four</p><div>five</div>"),
            "## A b\n\none **two**, three\nfour\n\nfive");
}

TEST(HtmlMarkdown, KeepsLinksListsAndQuotations) {
  EXPECT_EQ(markdown("<ul><li><a href='https://a.example/'>A</a><li>b<ol><li>c<li>d</ol></ul><p>e"),
            "- [A](https://a.example/)\n- b\n  1. c\n  2. d\n\ne");
  EXPECT_EQ(markdown("<blockquote><p>a<p>b</blockquote>c"), "> a\n>\n> b\n\nc");
}

TEST(HtmlMarkdown, KeepsCodeAsItStands) {
  EXPECT_EQ(markdown("<p>see <code>x</code><pre>a\n  b</pre>"), "see `x`\n\n```\na\n  b\n```");
}

TEST(HtmlMarkdown, KeepsTablesByRows) {
  EXPECT_EQ(markdown("<table><tr><th>a<th>b<tr><td>1<td>2</table>"), "| a | b |\n| 1 | 2 |");
}

TEST(HtmlMarkdown, LeavesOutWhatIsNotText) {
  EXPECT_EQ(markdown("<head><title>t</title></head><script>x</script><style>y</style><p hidden>z<p>a<a "
                     "href='u'></a><b></b>"),
            "a");
}

TEST(HtmlMarkdown, TakesTheTitle) {
  EXPECT_EQ(page_of("<title> A\n title </title>", [](std::string_view) { return std::string(); }).title,
            "A title");
}

TEST(HtmlMarkdown, DropsLinksThatLeadNowhere) {
  EXPECT_EQ(
      page_of("<a href='javascript:x'>text</a>", [](std::string_view) { return std::string(); }).markdown,
      "text");
}

TEST(HtmlMarkdown, TakesAsManyTagsAsItSaysAndCutsWhatFollows) {
  std::string at;
  for (std::size_t i = 0; i + 1 < kMaxHtmlTags; ++i) at += "<div>";
  const auto nowhere = [](std::string_view) { return std::string(); };
  const Page whole = page_of(at + "<p>end", nowhere);
  EXPECT_FALSE(whole.cut);
  EXPECT_EQ(whole.markdown, "end");
  const Page cut = page_of(at + "<div><p>end", nowhere);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.markdown, "");
}

TEST(HtmlMarkdown, StaysSmallWhereListsNestWithoutEnd) {
  std::string html;
  for (int i = 0; i < 5'000; ++i) html += "<ul><li>x";
  EXPECT_LT(markdown(html).size(), 5'000u * 40);
}

}  // namespace
}  // namespace deputy
