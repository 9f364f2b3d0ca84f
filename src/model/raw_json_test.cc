#include "model/raw_json.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

using Texts = std::vector<std::string>;

TEST(RawJson, GivesAnObjectAsItStands) {
  EXPECT_EQ(raw_object(R"( {"a" : 1, "b" : { "x":1.50 , "y":"\u00e9" }  , "c":2})", "/b"),
            R"({ "x":1.50 , "y":"\u00e9" })");
  EXPECT_EQ(raw_object(R"({"list":[{"n":123456789012345678901234567890}]})", "/list/0"),
            R"({"n":123456789012345678901234567890})");
}

TEST(RawJson, GivesTheObjectsOfAnArray) {
  EXPECT_EQ(raw_objects(R"({"parts":[ {"a":1} , {"b":"]"}]})", "/parts"),
            (Texts{R"({"a":1})", R"({"b":"]"})"}));
  EXPECT_EQ(raw_objects(R"({"parts":[]})", "/parts"), Texts{});
}

TEST(RawJson, HandsOutNothingThatIsNotValid) {
  EXPECT_EQ(raw_object(R"({"b":{"x":tru}})", "/b"), std::nullopt);
  EXPECT_EQ(raw_object(R"({"b":{"x":"\ud800"}})", "/b"), std::nullopt);
  EXPECT_EQ(raw_object(R"({"b":{"x":1)", "/b"), std::nullopt);
  EXPECT_EQ(raw_object(R"({"b":7})", "/b"), std::nullopt);
  EXPECT_EQ(raw_object(R"({"b":{}})", "/c"), std::nullopt);
  EXPECT_EQ(raw_object("", "/b"), std::nullopt);
  EXPECT_EQ(raw_objects(R"({"parts":[{},7]})", "/parts"), std::nullopt);
  EXPECT_EQ(raw_objects(R"({"parts":[{},{"x":}]})", "/parts"), std::nullopt);
  EXPECT_EQ(raw_objects(R"({"parts":{}})", "/parts"), std::nullopt);
}

}  // namespace
}  // namespace deputy
