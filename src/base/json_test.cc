#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/text.h"

namespace deputy {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsValues) {
  EXPECT_EQ(parse_json(" {\"a\": [1, 2.5, true, null, \"x\"]} ").value(),
            json::parse(R"({"a":[1,2.5,true,null,"x"]})"));
}

TEST(ParseJson, SaysWhereTheMistakeIs) {
  const auto parsed = parse_json("{\n  \"ä\": oops}");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid);
  EXPECT_NE(parsed.error().message.find("line 2, column "), std::string::npos) << parsed.error().message;
}

TEST(ParseJson, RefusesWhatIsCutOffOrGoesOn) {
  EXPECT_NE(parse_json("{\"a\":").error().message.find("ends too early"), std::string::npos);
  EXPECT_NE(parse_json("").error().message.find("ends too early"), std::string::npos);
  EXPECT_NE(parse_json("{} {}").error().message.find("something follows"), std::string::npos);
  for (const char* text : {"{a:1}", "[1,]", "'a'", "NaN", "01", "\"\x01\"", "// no\n1"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(ParseJson, RefusesTextThatIsNotUtf8) {
  EXPECT_FALSE(parse_json("\"\xff\""));
  EXPECT_FALSE(parse_json("{\"\xc3\": 1}"));
}

TEST(ParseJson, ReadsNumbersBeyondAllDoublesAsTheLargest) {
  const json::array read = parse_json("[1e400, -1e400, 0e400, 1e-400]").value().as_array();
  EXPECT_EQ(read[0], std::numeric_limits<double>::max());
  EXPECT_EQ(read[1], std::numeric_limits<double>::lowest());
  EXPECT_EQ(read[2], 0.0);
  EXPECT_EQ(read[3], 0.0);
}

TEST(ParseJson, GoesDownSixtyFourLevels) {
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)));
  const auto deeper = parse_json(nested(kMaxJsonDepth + 1));
  ASSERT_FALSE(deeper);
  EXPECT_NE(deeper.error().message.find("nested more than 64 deep"), std::string::npos)
      << deeper.error().message;
}

TEST(ParseJson, ReadsUpToItsMostBytes) {
  std::string text = "\"" + std::string(kMaxJsonBytes - 2, 'x') + "\"";
  EXPECT_TRUE(parse_json(text));
  text += ' ';
  EXPECT_EQ(parse_json(text).error().code, ErrorCode::exhausted);
}

TEST(ParseJsonObject, InsistsOnAnObject) {
  EXPECT_EQ(parse_json_object("{\"a\":1}")->size(), 1U);
  EXPECT_EQ(parse_json_object("[1]").error().message, "expected a JSON object, found an array");
}

TEST(ToJsonText, IsCompactAndReadsBack) {
  const json::value value = json::parse(R"({"a": [1, "x\n\"", {"ü": null}], "b": 1.5})");
  EXPECT_EQ(to_json_text(value), R"({"a":[1,"x\n\"",{"ü":null}],"b":1.5E0})");
  EXPECT_EQ(parse_json(to_json_text(value)).value(), value);
}

TEST(ToJsonText, MendsWhatIsNotUtf8) {
  const json::value value{{"key\xff", "cut \xe2\x82"}};
  EXPECT_EQ(to_json_text(value), "{\"key\uFFFD\":\"cut \uFFFD\uFFFD\"}");
  EXPECT_TRUE(parse_json(to_json_text(value)));
}

TEST(ToJsonText, WritesNumbersThatJsonCanSpell) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const json::value value{1.5, kInfinity, {{"a", -kInfinity}}, std::nan(""), "Infinity and NaN"};
  for (const std::string& text : {to_json_text(value), to_pretty_json(value)}) {
    const json::array read = parse_json(text).value().as_array();
    EXPECT_GT(read[1].as_double(), 1e308);
    EXPECT_LT(read[2].at("a").as_double(), -1e308);
    EXPECT_TRUE(read[3].is_null());
    EXPECT_EQ(read[4], "Infinity and NaN");
  }
}

TEST(ToPrettyJson, PutsEachMemberOnItsLine) {
  EXPECT_EQ(to_pretty_json(json::parse(R"({"a":[1,{}],"b":{"c":[]},"d\n":"x"})")),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": []\n  },\n  \"d\\n\": \"x\"\n}");
  EXPECT_TRUE(is_utf8(to_pretty_json(json::string("\xff"))));
}

TEST(Members, AreFoundByNameAndType) {
  const json::object object = json::parse(R"({"s":"x","i":3,"d":2.5,"w":3.0,"b":true,"o":{},"a":[],"n":null,
      "big":18446744073709551615,"huge":1e300})")
                                  .as_object();
  EXPECT_EQ(string_at(object, "s"), "x");
  EXPECT_EQ(string_at(object, "i"), std::nullopt);
  EXPECT_EQ(integer_at(object, "i"), 3);
  EXPECT_EQ(integer_at(object, "w"), 3);
  EXPECT_EQ(integer_at(object, "d"), std::nullopt);
  EXPECT_EQ(integer_at(object, "big"), std::nullopt);
  EXPECT_EQ(integer_at(object, "huge"), std::nullopt);
  EXPECT_EQ(number_at(object, "i"), 3.0);
  EXPECT_EQ(number_at(object, "d"), 2.5);
  EXPECT_EQ(number_at(object, "s"), std::nullopt);
  EXPECT_EQ(bool_at(object, "b"), true);
  EXPECT_EQ(bool_at(object, "i"), std::nullopt);
  EXPECT_NE(object_at(object, "o"), nullptr);
  EXPECT_EQ(object_at(object, "a"), nullptr);
  EXPECT_NE(array_at(object, "a"), nullptr);
  EXPECT_EQ(array_at(object, "o"), nullptr);
  EXPECT_TRUE(find(object, "n")->is_null());
  EXPECT_EQ(find(object, "missing"), nullptr);
  EXPECT_EQ(string_or(object, "s", "y"), "x");
  EXPECT_EQ(string_or(object, "missing", "y"), "y");
  EXPECT_EQ(integer_or(object, "i", 7), 3);
  EXPECT_EQ(integer_or(object, "s", 7), 7);
}

}  // namespace
}  // namespace deputy
