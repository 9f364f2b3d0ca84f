#include "model/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace deputy {
namespace {

using ::testing::Contains;
using ::testing::SizeIs;

ModelFacts facts_of(std::string model, std::map<std::string, FactsOverride> overrides = {}) {
  return Catalog(std::move(overrides)).facts(ModelName(std::move(model)));
}

TEST(Catalog, KnowsWindowsAndPrices) {
  const auto facts = facts_of("anthropic/claude-haiku-4-5");
  EXPECT_EQ(facts.window, 200'000);
  EXPECT_EQ(facts.max_output, 64'000);
  ASSERT_TRUE(facts.price);
  EXPECT_EQ(facts.price->input, 1);
  EXPECT_EQ(facts.price->output, 5);
  EXPECT_EQ(facts.price->cache_read, 0.1);
  EXPECT_EQ(facts.price->cache_write, 1.25);
}

TEST(Catalog, EveryRowCanBeMeant) {
  std::set<std::string> seen;
  for (const CatalogRow& row : catalog_rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(seen.insert(std::string(row.provider) + "/" + std::string(row.name)).second);
    EXPECT_GE(row.window, 32'000);
    EXPECT_LE(row.max_output, row.window);
    EXPECT_GT(row.input, 0);
    EXPECT_GT(row.output, row.input);
    EXPECT_LT(row.cache_read, row.input);
  }
  EXPECT_THAT(seen, SizeIs(::testing::Ge(60U)));
}

TEST(Catalog, ADatedNameCountsAsTheUndatedOne) {
  EXPECT_EQ(facts_of("anthropic/claude-opus-4-5-20251101").window,
            facts_of("anthropic/claude-opus-4-5").window);
  EXPECT_TRUE(facts_of("openai/gpt-5-2025-08-07").price);
  EXPECT_FALSE(facts_of("openai/gpt-5-2025-08").price);
  EXPECT_FALSE(facts_of("openai/-2025-08-07").price);
}

TEST(Catalog, KnowsWhatElseTheSameProviderSellsThatHasSuchAName) {
  const auto near = [](const char* model) { return names_near(ModelName(model)); };
  EXPECT_THAT(near("anthropic/claude-hiku-4-5"), Contains("claude-haiku-4-5"));
  EXPECT_EQ(near("openai-chat/gpt-4.1-nini").at(0), "gpt-4.1-mini");
  EXPECT_THAT(near("anthropic/claude-haiku-4-5"), SizeIs(0)) << "it is sold";
  EXPECT_THAT(near("anthropic/claude-haiku-4-5-20251001"), SizeIs(0)) << "so is a dated one";
  EXPECT_THAT(near("anthropic/gpt-4.1"), SizeIs(0)) << "by somebody else";
  EXPECT_THAT(near("ollama/qwen3"), SizeIs(0));
}

TEST(Catalog, ChatCompletionsSellWhatResponsesSell) {
  EXPECT_EQ(facts_of("openai-chat/gpt-4.1").window, 1'047'576);
  EXPECT_TRUE(facts_of("openai-chat/gpt-4.1").price);
}

TEST(Catalog, AnUnknownModelHasACautiousWindowAndNoPrice) {
  EXPECT_EQ(facts_of("anthropic/claude-next").window, kUnknownWindow);
  EXPECT_EQ(facts_of("compatible/some/model").window, kUnknownWindowElsewhere);
  EXPECT_FALSE(facts_of("anthropic/claude-next").price);
  EXPECT_FALSE(facts_of("compatible/some/model").price);
  EXPECT_FALSE(facts_of("anthropic").price);
  EXPECT_FALSE(facts_of("").price);
}

TEST(Catalog, WhatOllamaRunsAtHomeIsFree) {
  ASSERT_TRUE(facts_of("ollama/qwen3:8b").price);
  EXPECT_EQ(facts_of("ollama/qwen3:8b").price->output, 0);
  EXPECT_FALSE(facts_of("ollama/gpt-oss:120b-cloud").price);
}

TEST(Catalog, APersonKnowsBetterFigureByFigure) {
  const auto facts = facts_of("anthropic/claude-haiku-4-5",
                              {{"anthropic/claude-haiku-4-5", {.window = 1000, .cache_read = 0.5}}});
  EXPECT_EQ(facts.window, 1000);
  EXPECT_EQ(facts.max_output, 64'000);
  EXPECT_EQ(facts.price->input, 1);
  EXPECT_EQ(facts.price->cache_read, 0.5);
}

TEST(Catalog, HalfAPriceIsNone) {
  EXPECT_FALSE(facts_of("compatible/m", {{"compatible/m", {.input = 1}}}).price);
  EXPECT_TRUE(facts_of("compatible/m", {{"compatible/m", {.input = 1, .output = 2}}}).price);
}

TEST(Catalog, ABareNameHasAProvider) {
  const Catalog catalog({{"compatible/mine", {.window = 8192}}});
  EXPECT_EQ(catalog.provider_of("claude-sonnet-4-5"), "anthropic");
  EXPECT_EQ(catalog.provider_of("claude-sonnet-4-5-20250929"), "anthropic");
  EXPECT_EQ(catalog.provider_of("gpt-4.1"), "openai");
  EXPECT_EQ(catalog.provider_of("gemini-2.5-pro"), "gemini");
  EXPECT_EQ(catalog.provider_of("mine"), "compatible");
  EXPECT_EQ(catalog.provider_of("gpt"), std::nullopt);
  EXPECT_EQ(catalog.provider_of(""), std::nullopt);
}

TEST(Catalog, ListsWhatThePersonAdded) {
  const Catalog catalog({{"compatible/mine", {}}, {"openai/gpt-4.1", {.window = 5}}});
  EXPECT_THAT(catalog.known(), Contains(ModelName("compatible/mine")));
  EXPECT_THAT(catalog.known(), SizeIs(catalog_rows().size() + 1));
}

}  // namespace
}  // namespace deputy
