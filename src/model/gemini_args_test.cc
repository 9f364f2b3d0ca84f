#include "model/gemini_args.h"

#include <gtest/gtest.h>

namespace deputy::gemini {
namespace {

TEST(GeminiArgs, MakesThePlacesThatPathsName) {
  json::value root = json::object{};
  *place_at(root, "$.city") = "Rome";
  *place_at(root, "$.list[0].name") = 1;
  *place_at(root, "$.list[1]") = true;
  *place_at(root, "$['odd. name'][\"x\"]") = nullptr;
  EXPECT_EQ(root, *parse_json(R"({"city":"Rome","list":[{"name":1},true],"odd. name":{"x":null}})"));
  EXPECT_EQ(place_at(root, "$.city"), &root.at("city"));
  EXPECT_EQ(place_at(root, "$"), &root);
}

TEST(GeminiArgs, PathsThatCannotBeMeantNameNothing) {
  for (const char* path :
       {"", "city", "$city", "$.", "$.a..b", "$.list[1]", "$.list[-1]", "$.list[99999999999999999999]",
        "$.list[0", "$['a", "$.text.inner", "$.text[0]", "$[0]"}) {
    json::value root = *parse_json(R"({"text":"x","list":[]})");
    EXPECT_EQ(place_at(root, path), nullptr) << path;
  }
}

TEST(GeminiArgs, PathsHaveADepth) {
  std::string path = "$";
  for (int i = 0; i < 32; ++i) path += ".a";
  json::value root = json::object{};
  EXPECT_NE(place_at(root, path), nullptr);
  EXPECT_EQ(place_at(root, path + ".a"), nullptr);
}

}  // namespace
}  // namespace deputy::gemini
