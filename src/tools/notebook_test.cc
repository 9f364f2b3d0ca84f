#include "tools/notebook.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "tools/json_spans.h"

namespace deputy {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNotebook = R"({
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "calc",
   "metadata": {"x": 1.0},
   "outputs": [{"data": 1e5}],
   "source": "a = 1.50"
  }
 ],
 "metadata": {"version": 3.10},
 "nbformat": 4,
 "nbformat_minor": 5
}
)";

std::string edited(std::string_view text, const CellEdit& edit) {
  const auto result = edit_notebook(text, edit);
  EXPECT_TRUE(result) << result.error();
  if (!result) return {};
  EXPECT_TRUE(parse_json_object(result->text)) << result->text;
  return result->text;
}

TEST(Notebook, ReplacesOneCellAndNothingElse) {
  const std::string text = edited(kNotebook, {.cell = "intro", .source = "# New\nline"});
  EXPECT_EQ(text, std::string(kNotebook).replace(kNotebook.find("# Title"), 21, "# New\\n\",\n    \"line"));
}

TEST(Notebook, AReplacedCodeCellLosesItsOutputsAndKeepsTheFormOfItsSource) {
  const std::string text = edited(kNotebook, {.cell = "calc", .source = "b = 2\nc"});
  EXPECT_THAT(text, HasSubstr(R"("execution_count": null)"));
  EXPECT_THAT(text, HasSubstr(R"("outputs": [])"));
  EXPECT_THAT(text, HasSubstr(R"("source": "b = 2\nc")"));
  EXPECT_THAT(text, HasSubstr(R"("metadata": {"version": 3.10})"));
}

TEST(Notebook, ChangesTheKindOfACell) {
  const std::string text =
      edited(kNotebook, {.cell = "calc", .kind = CellEdit::Kind::markdown, .source = "words"});
  const auto root = parse_json_object(text).value();
  const auto& cell = array_at(root, "cells")->at(1).as_object();
  EXPECT_EQ(string_or(cell, "cell_type", ""), "markdown");
  EXPECT_FALSE(cell.contains("outputs"));
  EXPECT_FALSE(cell.contains("execution_count"));
}

TEST(Notebook, InsertsAfterACellOrFirst) {
  const CellEdit after{.mode = CellEdit::Mode::insert, .cell = "intro", .source = "x"};
  const std::string text = edited(kNotebook, after);
  const auto root = parse_json_object(text).value();
  const auto& cells = *array_at(root, "cells");
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(string_or(cells[1].as_object(), "cell_type", ""), "code");
  EXPECT_EQ(string_or(cells[1].as_object(), "id", "").size(), 8U);
  EXPECT_EQ(edited(kNotebook, after), text) << "the same again, for a restart";
  EXPECT_THAT(text, HasSubstr("  },\n  {\n   \"cell_type\": \"code\",\n   \"id\""));

  const std::string first =
      edited(kNotebook, {.mode = CellEdit::Mode::insert, .kind = CellEdit::Kind::markdown, .source = "x"});
  EXPECT_TRUE(first.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",")) << first;
}

TEST(Notebook, InsertsIntoAnEmptyOneAndIntoOneOnOneLine) {
  const CellEdit insert{.mode = CellEdit::Mode::insert, .source = "x"};
  EXPECT_EQ(
      edited(R"({"cells":[],"nbformat":4,"nbformat_minor":2})", insert),
      R"({"cells":[{"cell_type":"code","metadata":{},"source":["x"],"execution_count":null,"outputs":[]}],"nbformat":4,"nbformat_minor":2})");
  edited("{\n \"cells\": [],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n", insert);
}

TEST(Notebook, DeletesTheFirstTheLastAndTheOnlyCell) {
  for (const char* cell : {"intro", "calc", "cell-0", "cell-1"}) {
    const auto root =
        parse_json_object(edited(kNotebook, {.mode = CellEdit::Mode::remove, .cell = cell})).value();
    EXPECT_EQ(array_at(root, "cells")->size(), 1U) << cell;
  }
  const std::string one = edited(kNotebook, {.mode = CellEdit::Mode::remove, .cell = "calc"});
  edited(one, {.mode = CellEdit::Mode::remove, .cell = "intro"});
}

TEST(Notebook, AnUnknownCellIsToldWithThoseThatAreThere) {
  EXPECT_THAT(edit_notebook(kNotebook, {.cell = "clac"}).error(), HasSubstr("There are: intro, calc"));
  EXPECT_THAT(edit_notebook(kNotebook, {}).error(), HasSubstr("name the cell"));
  EXPECT_FALSE(edit_notebook(kNotebook, {.cell = "cell-2"}));
}

TEST(Notebook, WhatIsNoNotebookIsRefused) {
  for (const char* text : {"", "[]", "{", "{}", R"({"cells":[],"nbformat":3})",
                           R"({"cells":{},"nbformat":4})", R"({"cells":[1],"nbformat":4})"}) {
    EXPECT_FALSE(edit_notebook(text, {.mode = CellEdit::Mode::insert})) << text;
  }
}

TEST(JsonSpans, FindElementsAmongStringsThatLookLikeBrackets) {
  constexpr std::string_view text = R"({"a]":"[\"", "cells" : [ {"s":"}]\\\""} , [1,[2]],"x,y" ,1.5 ] })";
  const auto spans = array_member(text, "cells").value();
  std::vector<std::string> elements;
  for (const auto& [begin, end] : spans.elements) elements.emplace_back(text.substr(begin, end - begin));
  EXPECT_THAT(elements, testing::ElementsAre(R"({"s":"}]\\\""})", "[1,[2]]", R"("x,y")", "1.5"));
  EXPECT_FALSE(array_member(text, "none"));
  EXPECT_FALSE(array_member(R"({"cells":1})", "cells"));
}

}  // namespace
}  // namespace deputy
