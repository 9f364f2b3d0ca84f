#include "tools/catalog.h"

#include <gtest/gtest.h>

#include "base/json_schema.h"
#include "guard/tool_names.h"

namespace deputy {
namespace {

TEST(Catalog, ToolsHaveCanonicalNamesAndSchemasThatRefuseUnknownArguments) {
  for (const auto& tool : builtin_tools()) {
    const ToolText& text = tool->text();
    EXPECT_TRUE(is_tool_name(text.name));
    const auto schema = JsonSchema::compile(parse_json(text.schema).value());
    ASSERT_TRUE(schema) << text.name << ": " << to_text(schema.error());
    EXPECT_FALSE(schema->mistakes_in(json::object{{"nonsense", 1}}).empty()) << text.name;
  }
}

std::size_t bytes_of(const ToolText& text) {
  return text.name.size() + text.description.size() + text.schema.size();
}

bool is_read_only(const Tool& tool) { return !tool.writes(); }

TEST(Catalog, DefinitionsAreShort) {
  std::size_t of_reader = 0;
  std::size_t of_all = 0;
  for (const auto& tool : builtin_tools()) {
    const std::size_t bytes = bytes_of(tool->text());
    RecordProperty(tool->text().name, static_cast<int>(bytes));
    of_all += bytes;
    if (is_read_only(*tool)) of_reader += bytes;
  }
  RecordProperty("read-only", static_cast<int>(of_reader));
  RecordProperty("all", static_cast<int>(of_all));
  EXPECT_LT(of_reader, 2500u);
  EXPECT_LT(of_all, 5000u);
}

TEST(Catalog, ReadingToolsAreAllowedByDefaultAndWritingOnesAreNot) {
  for (const auto& tool : builtin_tools()) {
    EXPECT_EQ(tool->by_default(), is_read_only(*tool) ? Decision::allow : Decision::ask) << tool->text().name;
  }
}

}  // namespace
}  // namespace deputy
