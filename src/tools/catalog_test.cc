#include "tools/catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/json_schema.h"
#include "guard/tool_names.h"
#include "net/sim_network.h"
#include "tools/connected_tools.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Catalog : public testing::Test {
 protected:
  std::vector<std::shared_ptr<Tool>> all() {
    const ToolServices services{
        .background = background, .network = &network, .settings = {.search = SearchSettings{}, .bash = {}}};
    auto tools = builtin_tools();
    for (auto& tool : command_tools(services)) tools.push_back(std::move(tool));
    for (auto& tool : web_tools(services, Decision::ask)) tools.push_back(std::move(tool));
    return tools;
  }
  ToolBench bench;
  SimNetwork network{bench.loop};
  BackgroundCommands background{bench.loop};
};

TEST_F(Catalog, HoldsEveryToolOfTheContract) {
  std::vector<std::string> names;
  for (const auto& tool : all()) names.push_back(tool->text().name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("Read", "Grep", "Glob", "List", "Edit", "Write",
                                                   "NotebookEdit", "Bash", "WebFetch", "WebSearch", "Todo",
                                                   "Note", "task_status", "task_cancel", "task_message"));
}

TEST_F(Catalog, HasWebSearchOnlyWhereAServiceIsConfigured) {
  const auto has_search = [this](std::optional<SearchSettings> search) {
    const ToolServices services{
        .background = background, .network = &network, .settings = {.search = std::move(search), .bash = {}}};
    return std::ranges::any_of(web_tools(services, Decision::ask),
                               [](const auto& tool) { return tool->text().name == "WebSearch"; });
  };
  EXPECT_TRUE(has_search(SearchSettings{}));
  EXPECT_FALSE(has_search(std::nullopt));
}

TEST_F(Catalog, SaysOfEachToolWhatARestartMayDoWithItsCalls) {
  using Names = std::set<std::string>;
  std::map<Effect, Names> names;
  for (const auto& tool : all()) names[tool->effect()].insert(tool->text().name);
  EXPECT_EQ(names[Effect::pure], (Names{"Read", "Grep", "Glob", "List", "Todo", "task_status"}));
  EXPECT_EQ(names[Effect::repeatable], (Names{"WebFetch", "WebSearch"}));
  EXPECT_EQ(names[Effect::keyed],
            (Names{"Edit", "Write", "NotebookEdit", "Note", "task_cancel", "task_message"}));
  EXPECT_EQ(names[Effect::once], (Names{"Bash"}));
}

TEST_F(Catalog, WrongArgumentsAreToldByNameAndHowToPutThemRight) {
  const Toolbox box = Toolbox(all(), Rules());
  for (const auto& tool : all()) {
    const auto& [name, description, schema] = tool->text();
    const auto told = [&](const std::string& arguments) {
      const auto result = bench.call_through(box, name, arguments);
      EXPECT_EQ(result.status, ToolStatus::error) << name;
      return name + ": " + result.content;
    };
    EXPECT_THAT(told("{"), HasSubstr("JSON"));
    EXPECT_THAT(told(R"({"nonsense":1})"), AllOf(HasSubstr("nonsense"), HasSubstr("call it again")));
    const auto document = parse_json_object(schema).value();
    if (const auto* required = array_at(document, "required")) {
      for (const auto& argument : *required)
        EXPECT_THAT(told("{}"), AllOf(HasSubstr(argument.as_string().c_str()), HasSubstr("call it again")));
    }
    for (const auto& [argument, wanted] : *object_at(document, "properties")) {
      EXPECT_THAT(told(to_json_text(json::object{{argument, nullptr}})),
                  AllOf(HasSubstr(std::string(argument)), HasSubstr("must be")));
    }
  }
}

TEST_F(Catalog, ToolsHaveCanonicalNamesAndSchemasThatRefuseUnknownArguments) {
  for (const auto& tool : all()) {
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

// Line breaks are taken out when it is sent, and nothing else.
TEST_F(Catalog, SchemasHaveNoWhiteSpaceBetweenTheirTokensButLineBreaks) {
  for (const auto& tool : all()) {
    std::string sent = tool->text().schema;
    std::erase(sent, '\n');
    EXPECT_EQ(sent, to_json_text(parse_json(tool->text().schema).value())) << tool->text().name;
  }
}

TEST_F(Catalog, DefinitionsAreShort) {
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

// Beside the 4,500 that the rest of a read-only child's may take (ProfilesOnATree), six kilobytes hold.
TEST_F(Catalog, DefinitionsOfTheWebAreShort) {
  std::size_t bytes = 0;
  for (const auto& tool : all()) {
    if (tool->text().name.starts_with("Web")) bytes += bytes_of(tool->text());
  }
  RecordProperty("web", static_cast<int>(bytes));
  EXPECT_GT(bytes, 300u);
  EXPECT_LT(bytes, 1500u);
}

TEST_F(Catalog, ReadingToolsAreAllowedByDefaultAndWritingOnesAreNot) {
  for (const auto& tool : builtin_tools()) {
    EXPECT_EQ(tool->by_default(), is_read_only(*tool) ? Decision::allow : Decision::ask) << tool->text().name;
  }
}

}  // namespace
}  // namespace deputy
