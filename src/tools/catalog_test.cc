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

TEST(Catalog, DefinitionsAreShort) {
  std::size_t sum = 0;
  for (const auto& tool : builtin_tools()) {
    const ToolText& text = tool->text();
    const std::size_t bytes = text.name.size() + text.description.size() + text.schema.size();
    RecordProperty(text.name, static_cast<int>(bytes));
    sum += bytes;
  }
  RecordProperty("sum", static_cast<int>(sum));
  EXPECT_LT(sum, 2500u);
}

TEST(Catalog, ReadingToolsAreAllowedByDefault) {
  for (const auto& tool : builtin_tools())
    EXPECT_EQ(tool->by_default(), Decision::allow) << tool->text().name;
}

}  // namespace
}  // namespace deputy
