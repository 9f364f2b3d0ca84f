#include "agent/shortened.h"

#include <gtest/gtest.h>

#include <string>

#include "model/context_estimate.h"

namespace deputy {
namespace {

const ModelName kModel("m/x");

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word\n";
  return text;
}

// An input, and so many steps that each read a thousand lines.
std::vector<Message> with_reads(int count) {
  std::vector<Message> messages{{.role = Role::user, .text = words(1000)}};
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i);
    messages.push_back({.role = Role::assistant, .calls = {{id, "Read", "{}"}}});
    messages.push_back({.role = Role::tool, .results = {{id, ToolStatus::ok, words(1000)}}});
  }
  return messages;
}

std::int64_t tokens_of(const std::vector<Message>& messages) { return estimated_tokens(kModel, messages); }

TEST(Shortened, WhatFitsStaysAsItWas) {
  auto messages = with_reads(3);
  const auto before = messages;
  const auto shortened = shorten_results(messages, std::nullopt, {tokens_of(messages), 0, kModel});
  EXPECT_TRUE(shortened.messages.empty());
  EXPECT_EQ(messages, before);
}

TEST(Shortened, OneTokenPastTheRoomTheOldestResultIsToldInPart) {
  auto messages = with_reads(3);
  const auto before = messages;
  const std::int64_t room = tokens_of(messages) - 1;
  const auto shortened = shorten_results(messages, std::nullopt, {room, 0, kModel});
  EXPECT_EQ(shortened.messages, std::set<std::size_t>{2});
  EXPECT_LE(messages[2].results[0].content.size(), 2048u);
  EXPECT_TRUE(messages[2].results[0].content.contains("left out"));
  EXPECT_EQ(messages[0], before[0]) << "what the person said is told whole";
  EXPECT_EQ(messages[4], before[4]);
  EXPECT_LE(tokens_of(messages), room);
}

TEST(Shortened, SystemPromptAndToolsTakeOfTheRoom) {
  auto messages = with_reads(1);
  const std::int64_t all = tokens_of(messages) + 500;
  EXPECT_TRUE(shorten_results(messages, std::nullopt, {all, 500, kModel}).messages.empty());
  EXPECT_FALSE(shorten_results(messages, std::nullopt, {all, 501, kModel}).messages.empty());
}

TEST(Shortened, WhatAProviderCountsForMoreIsShortenedSooner) {
  auto messages = with_reads(4);
  const Measured measured{.messages = messages.size(), .tokens = tokens_of(messages) * 2};
  const std::int64_t room = tokens_of(messages);
  const auto shortened = shorten_results(messages, measured, {room, 0, kModel});
  EXPECT_GE(shortened.messages.size(), 2u);
  ASSERT_TRUE(shortened.measured);
  EXPECT_LE(shortened.measured->tokens, room);
  EXPECT_LE(estimated_input(0, kModel, messages, shortened.measured), room);
}

TEST(Shortened, ManyResultsAreCutFurther) {
  auto messages = with_reads(50);
  const std::int64_t room = 12'000;
  shorten_results(messages, std::nullopt, {room, 0, kModel});
  EXPECT_LE(tokens_of(messages), room);
}

TEST(Shortened, LeavesRoomForTheSummary) {
  EXPECT_EQ(room_to_sum_up(102'048, 32'000), 95'000);
  EXPECT_EQ(room_to_sum_up(101'000, 1000), 95'000);
  EXPECT_EQ(room_to_sum_up(100, 4096), 0);
}

}  // namespace
}  // namespace deputy
