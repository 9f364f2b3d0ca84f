#include "base/json_schema.h"

#include <gtest/gtest.h>

#include "base/json_schema_keywords.h"

namespace deputy {
namespace {

using Lines = std::vector<std::string>;

Lines mistakes(std::string_view schema, std::string_view value) {
  const auto compiled = JsonSchema::compile(json::parse(schema));
  EXPECT_TRUE(compiled) << compiled.error().message;
  return compiled->mistakes_in(json::parse(value));
}

std::string refusal(std::string_view schema) {
  const auto compiled = JsonSchema::compile(json::parse(schema));
  return compiled ? "" : compiled.error().message;
}

constexpr std::string_view kTasks = R"({
  "$schema": "http://json-schema.org/draft-07/schema#", "title": "Tasks", "type": "object",
  "properties": {
    "tasks": {"type": "array", "minItems": 1, "maxItems": 3, "items": {
      "type": "object", "required": ["label", "prompt"], "additionalProperties": false,
      "properties": {"label": {"type": "string", "minLength": 2, "maxLength": 32, "description": "short"},
                     "prompt": {"type": "string"},
                     "effort": {"enum": ["low", "high"]},
                     "tries": {"type": "integer", "minimum": 1, "maximum": 5}}}}},
  "required": ["tasks"]})";

std::string one_task(std::string_view members) {
  return R"({"tasks": [{"label": "ab", "prompt": "do")" + std::string(members) + "}]}";
}

TEST(JsonSchema, AcceptsWhatIsValid) {
  EXPECT_EQ(mistakes(kTasks, one_task("")), Lines{});
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "effort": "low", "tries": 5)")), Lines{});
  EXPECT_EQ(mistakes("true", "[1]"), Lines{});
  EXPECT_EQ(mistakes("{}", "null"), Lines{});
}

TEST(JsonSchema, NamesMissingProperties) {
  EXPECT_EQ(mistakes(kTasks, "{}"), Lines{R"(the property "tasks" is required)"});
  EXPECT_EQ(mistakes(kTasks, R"({"tasks": [{}]})"),
            (Lines{R"(tasks[0]: the property "label" is required)",
                   R"(tasks[0]: the property "prompt" is required)"}));
}

TEST(JsonSchema, NamesUnknownPropertiesAndTheAllowedOnes) {
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "efort": "low")")),
            Lines{R"(tasks[0]: the property "efort" is unknown; did you mean effort? )"
                  "allowed are label, prompt, effort, tries"});
  EXPECT_EQ(mistakes(R"({"additionalProperties": false})", R"({"a": 1})"),
            Lines{R"(the property "a" is unknown; none are allowed)"});
}

TEST(JsonSchema, SaysWhichTypeIsExpectedAndWhichWasFound) {
  EXPECT_EQ(mistakes(kTasks, "[]"), Lines{"must be an object, not an array"});
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "tries": "3")")),
            Lines{"tasks[0].tries: must be an integer, not a string"});
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "tries": 2.5)")),
            Lines{"tasks[0].tries: must be an integer, not the number 2.5E0"});
  EXPECT_EQ(mistakes(R"({"type": ["string", "null"]})", "true"),
            Lines{"must be a string or null, not a boolean"});
}

TEST(JsonSchema, TakesAWholeNumberForAnInteger) {
  EXPECT_EQ(mistakes(R"({"type": "integer"})", "3.0"), Lines{});
  EXPECT_EQ(mistakes(R"({"properties": {"a": {"items": {"enum": [3]}}}})", R"({"a": [3.0, 3]})"), Lines{});
  EXPECT_EQ(mistakes(R"({"type": "integer"})", "3.5"), Lines{"must be an integer, not the number 3.5E0"});
}

TEST(JsonSchema, ListsTheAllowedValues) {
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "effort": "medium")")),
            Lines{R"(tasks[0].effort: must be one of "low", "high", not "medium")"});
  EXPECT_EQ(mistakes(R"({"const": 1})", "2"), Lines{"must be 1, not 2"});
}

TEST(JsonSchema, EnforcesNumbersAtTheirLimits) {
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "tries": 1)")), Lines{});
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "tries": 0)")),
            Lines{"tasks[0].tries: must be at least 1, not 0"});
  EXPECT_EQ(mistakes(kTasks, one_task(R"(, "tries": 6)")), Lines{"tasks[0].tries: must be at most 5, not 6"});
  EXPECT_EQ(mistakes(R"({"exclusiveMinimum": 1})", "1"), Lines{"must be more than 1, not 1"});
  EXPECT_EQ(mistakes(R"({"exclusiveMaximum": 1})", "1"), Lines{"must be less than 1, not 1"});
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "4"), Lines{"must be a multiple of 3, not 4"});
  EXPECT_EQ(mistakes(R"({"type": "number", "maximum": 10})", "18446744073709551615"),
            Lines{"must be at most 10, not 18446744073709551615"});
}

TEST(JsonSchema, EnforcesMultiples) {
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "6"), Lines{});
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "6.0"), Lines{});
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "0"), Lines{});
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "\"6.5\""), Lines{});
  EXPECT_EQ(mistakes(R"({"multipleOf": 3})", "6.5"), Lines{"must be a multiple of 3, not 6.5E0"});
  EXPECT_EQ(mistakes(R"({"multipleOf": 0.1})", "0.3"), Lines{});
  EXPECT_EQ(mistakes(R"({"not": {"multipleOf": 3}})", "6"),
            Lines{"Target should not validate against schema specified in 'not' constraint."});
  EXPECT_EQ(mistakes(R"({"multipleOf": 1e-300})", "1e300"), Lines{});
  EXPECT_EQ(refusal(R"({"multipleOf": 0})"), "JSON schema #/multipleOf: expected a number above 0, found 0");
  EXPECT_NE(refusal(R"({"items": {"multipleOf": -2}})"), "");
  EXPECT_NE(refusal(R"({"multipleOf": "3"})"), "");
}

TEST(JsonSchema, EnforcesLengthsAtTheirLimits) {
  const auto labelled = [](std::size_t length) {
    return R"({"tasks": [{"prompt": "x", "label": ")" + std::string(length, 'x') + "\"}]}";
  };
  EXPECT_EQ(mistakes(kTasks, labelled(2)), Lines{});
  EXPECT_EQ(mistakes(kTasks, labelled(32)), Lines{});
  EXPECT_EQ(mistakes(kTasks, labelled(33)),
            Lines{"tasks[0].label: must be at most 32 characters (it has 33)"});
  EXPECT_EQ(mistakes(kTasks, labelled(1)), Lines{"tasks[0].label: must be at least 2 characters (it has 1)"});
  EXPECT_EQ(mistakes(R"({"maxLength": 2})", "\"äöü\""), Lines{"must be at most 2 characters (it has 3)"});
  EXPECT_EQ(mistakes(R"({"maxLength": 3})", "\"äöü\""), Lines{});
}

TEST(JsonSchema, EnforcesCountsAtTheirLimits) {
  EXPECT_EQ(mistakes(kTasks, R"({"tasks": []})"), Lines{"tasks: must have at least 1 item (it has 0)"});
  EXPECT_EQ(mistakes(R"({"maxItems": 2})", "[1, 2]"), Lines{});
  EXPECT_EQ(mistakes(R"({"maxItems": 2})", "[1, 2, 3]"), Lines{"must have at most 2 items (it has 3)"});
  EXPECT_EQ(mistakes(R"({"minProperties": 2})", R"({"a": 1})"),
            Lines{"must have at least 2 properties (it has 1)"});
  EXPECT_EQ(mistakes(R"({"uniqueItems": true})", "[1, 2, 1]"),
            Lines{"must not repeat an item (0 and 2 are equal)"});
}

TEST(JsonSchema, ReportsAtMostTenMistakes) {
  const auto compiled = JsonSchema::compile(json::parse(R"({"items": {"type": "string"}})"));
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->mistakes_in(json::array(10, 1)).size(), 10U);
  EXPECT_EQ(compiled->mistakes_in(json::array(11, 1)).size(), 10U);
}

TEST(JsonSchema, ChecksPatternsEverywhere) {
  EXPECT_EQ(mistakes(R"({"pattern": "^[a-z]+$"})", "\"abc\""), Lines{});
  EXPECT_EQ(mistakes(R"({"pattern": "^[a-z]+$"})", "\"ABC\""), Lines{"must match the pattern ^[a-z]+$"});
  EXPECT_EQ(mistakes(R"({"pattern": "^[a-z]+$"})", "7"), Lines{});
  EXPECT_EQ(mistakes(R"({"not": {"pattern": "x"}})", "\"abc\""), Lines{});
  EXPECT_EQ(mistakes(R"({"not": {"pattern": "x"}})", "\"axc\"").size(), 1U);
  EXPECT_EQ(mistakes(R"({"propertyNames": {"pattern": "^a"}})", R"({"abc": 1})"), Lines{});
  EXPECT_EQ(mistakes(R"({"propertyNames": {"pattern": "^a"}})", R"({"bc": 1})").size(), 1U);
}

TEST(JsonSchema, SurvivesPatternsAndTextsThatWouldTakeForEver) {
  const std::string value = "\"" + std::string(200'000, 'a') + "b\"";
  EXPECT_EQ(mistakes(R"({"pattern": "^[a-z]+$"})", value), Lines{});
  EXPECT_EQ(mistakes(R"({"pattern": "^(a+)+$"})", value),
            Lines{"takes too long to compare with the pattern ^(a+)+$: make it shorter"});
}

TEST(JsonSchema, TreatsFormatAsANote) {
  EXPECT_EQ(mistakes(R"({"format": "date-time"})", "\"" + std::string(200'000, '1') + "\""), Lines{});
}

TEST(JsonSchema, ExplainsAlternativesByTheOneThatWasMeant) {
  constexpr std::string_view kEither = R"({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]})";
  EXPECT_EQ(mistakes(kEither, "null"), Lines{});
  EXPECT_EQ(mistakes(kEither, "\"abc\""), Lines{"must be at most 2 characters (it has 3)"});
  EXPECT_EQ(mistakes(kEither, "1"),
            Lines{"must be a string, not the number 1, or must be null, not the number 1"});
}

TEST(JsonSchema, FallsBackToTheValidatorsWords) {
  const Lines lines =
      mistakes(R"({"properties": {"a": {"items": {"not": {"type": "string"}}}}})", R"({"a": [1, "x"]})");
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.front().starts_with("a[1]: ")) << lines.front();
}

TEST(JsonSchema, FollowsReferencesWithinTheSchema) {
  constexpr std::string_view kTree = R"({"$ref": "#/definitions/node", "definitions": {"node": {
      "type": "object", "required": ["name"],
      "properties": {"name": {"type": "string"},
                     "children": {"type": "array", "items": {"$ref": "#/definitions/node"}}}}}})";
  EXPECT_EQ(mistakes(kTree, R"({"name": "a", "children": [{"name": "b"}]})"), Lines{});
  EXPECT_EQ(mistakes(kTree, R"({"name": "a", "children": [{"name": "b", "children": [{}]}]})"),
            Lines{R"(children[0].children[0]: the property "name" is required)"});
}

TEST(JsonSchema, QuotesOddNamesInPaths) {
  EXPECT_EQ(mistakes(R"({"additionalProperties": {"type": "null"}})", R"({"a b": 1})"),
            Lines{R"(["a b"]: must be null, not the number 1)"});
}

TEST(JsonSchema, RefusesKeywordsItCannotEnforce) {
  EXPECT_EQ(refusal(R"({"properties": {"a": {"prefixItems": []}}})"),
            "JSON schema #/properties/a: the keyword \"prefixItems\" is not one that can be checked");
  for (const char* keyword :
       {"patternProperties", "dependentRequired", "unevaluatedProperties", "$dynamicRef", "typo"}) {
    EXPECT_NE(refusal("{\"" + std::string(keyword) + "\": {}}"), "") << keyword;
  }
  EXPECT_EQ(refusal(R"({"x-order": 1, "format": "made-up", "default": 1, "examples": [1]})"), "");
}

TEST(JsonSchema, LooksForKeywordsOnlyWhereSchemasStand) {
  EXPECT_EQ(refusal(R"({"properties": {"prefixItems": {"type": "string"}}, "enum": [{"oops": 1}],
                        "const": {"oops": 1}, "default": {"oops": 1}})"),
            "");
}

TEST(JsonSchema, RefusesSchemasThatAreWrong) {
  for (const char* schema :
       {"1", "[]", R"({"type": "strin"})", R"({"type": 1})", R"({"minLength": -1})", R"({"items": 1})",
        R"({"properties": []})", R"({"properties": {"a": 1}})", R"({"allOf": {}})", R"({"required": "a"})",
        R"({"required": [1]})", R"({"pattern": "("})", R"({"pattern": 1})", R"({"enum": 1})",
        R"({"exclusiveMinimum": true})", R"({"$ref": 1})"}) {
    EXPECT_NE(refusal(schema), "") << schema;
  }
}

TEST(JsonSchema, RefusesReferencesThatLeadElsewhereOrNowhere) {
  for (
      const char* schema :
      {R"({"$ref": "http://example.com/schema"})", R"({"$ref": "other.json"})",
       R"({"$ref": "#/definitions/none"})", R"({"$ref": "#/properties", "definitions": {}})",
       R"({"properties": {"a": {"$id": "b"}}})",
       R"({"properties": {"a": {"$ref": "#/definitions/b", "type": "string"}}, "definitions": {"b": {}}})"}) {
    EXPECT_NE(refusal(schema), "") << schema;
  }
}

TEST(JsonSchema, RefusesReferencesThatGoRoundInCircles) {
  for (const char* schema :
       {R"({"$ref": "#"})", R"({"allOf": [{"$ref": "#"}]})", R"({"not": {"$ref": "#"}})",
        R"({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}})",
        R"({"anyOf": [{"type": "string"}, {"if": {"$ref": "#"}}]})",
        R"({"dependencies": {"a": {"$ref": "#"}}})"}) {
    EXPECT_NE(refusal(schema).find("refers to itself without end"), std::string::npos) << schema;
  }
  EXPECT_EQ(refusal(R"({"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}})"), "");
}

TEST(JsonSchema, HasALargestSize) {
  json::object properties;
  for (std::size_t i = 0; i + 1 < kMaxSchemaNodes; ++i) properties[std::to_string(i)] = json::object();
  json::object schema{{"properties", properties}};
  EXPECT_TRUE(JsonSchema::compile(schema));
  schema["items"] = json::object();
  EXPECT_FALSE(JsonSchema::compile(schema));
}

// Definition 0 is the end; each other leads to the one before it, so `length` schemas in a row apply to the
// value.
json::object chain(std::size_t length, json::object end) {
  json::object definitions{{"0", std::move(end)}};
  for (std::size_t i = 1; i + 1 < length; ++i) {
    definitions[std::to_string(i)] = json::object{{"$ref", "#/definitions/" + std::to_string(i - 1)}};
  }
  return {{"$ref", "#/definitions/" + std::to_string(length - 2)}, {"definitions", std::move(definitions)}};
}

TEST(JsonSchema, FollowsChainsOfReferencesUpToALimit) {
  const auto longest = JsonSchema::compile(chain(kMaxSchemaChain, {{"type", "string"}}));
  ASSERT_TRUE(longest) << longest.error().message;
  EXPECT_EQ(longest->mistakes_in(1), Lines{"must be a string, not the number 1"});
  const auto longer = JsonSchema::compile(chain(kMaxSchemaChain + 1, {{"type", "string"}}));
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("more than 32 schemas in a row"), std::string::npos);
  EXPECT_FALSE(JsonSchema::compile(chain(4000, {})));
}

TEST(JsonSchema, SurvivesTheDeepestValueUnderTheLongestChain) {
  const auto schema = JsonSchema::compile(
      chain(kMaxSchemaChain - 1, {{"items", json::object{{"$ref", "#"}}}, {"type", "array"}}));
  ASSERT_TRUE(schema) << schema.error().message;
  json::value value = 1;
  std::string path;
  for (std::size_t i = 0; i < kMaxJsonDepth; ++i) {
    value = json::array(1, value);
    path += "[0]";
  }
  EXPECT_EQ(schema->mistakes_in(value), Lines{path + ": must be an array, not the number 1"});
}

TEST(JsonSchema, CanBeMoved) {
  auto first = JsonSchema::compile(json::parse(R"({"type": "string"})"));
  JsonSchema second = *std::move(first);
  EXPECT_EQ(second.mistakes_in("x"), Lines{});
  second = *JsonSchema::compile(json::parse(R"({"type": "null"})"));
  EXPECT_EQ(second.mistakes_in("x").size(), 1U);
}

}  // namespace
}  // namespace deputy
