#include "model/event_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace deputy::api {
namespace {

TEST(EventReader, WhatOneHasReadStaysWhileOthersRead) {
  EventReader outer;
  const auto first = outer.read(R"({"name":"outer"})");
  ASSERT_TRUE(first);
  for (int i = 0; i < 3; ++i) {
    EventReader inner;
    const auto second = inner.read(R"({"name":"inner"})");
    ASSERT_TRUE(second);
    EXPECT_EQ(text_of(*second, "name"), "inner");
    EXPECT_EQ(text_of(*first, "name"), "outer");
  }
}

TEST(EventReader, ReadsAsWellAfterALargeOne) {
  for (const std::size_t size : {100'000u, 10u, 65'535u, 65'536u, 65'537u, 10u}) {
    EventReader reader;
    const auto read = reader.read(R"({"text":")" + std::string(size, 'x') + R"("})");
    ASSERT_TRUE(read);
    EXPECT_EQ(text_of(*read, "text").size(), size);
  }
}

TEST(EventReader, ReadsAgainWhereTheLastWasNoObject) {
  EventReader reader;
  EXPECT_FALSE(reader.read("{\"broken"));
  EXPECT_FALSE(reader.read("[1]"));
  const auto read = reader.read(R"({"n":7})");
  ASSERT_TRUE(read);
  EXPECT_EQ(number_of(*read, "n"), 7);
}

}  // namespace
}  // namespace deputy::api
