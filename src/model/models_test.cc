#include "model/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/command.h"
#include "model/rehearsal.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Answers to a name and to nothing else.
class NamedProvider final : public Provider {
 public:
  explicit NamedProvider(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string encode(const Message&) const override { return {}; }
  Task<Reply> ask(Request, DeltaSink, StopToken) override { co_return Reply{}; }
  std::int64_t window(const ModelName&) const override { return 1; }
  std::optional<Price> price(const ModelName&) const override { return std::nullopt; }

 private:
  std::string name_;
};

Models some_models() {
  Models models;
  models.add(std::make_unique<NamedProvider>("anthropic"));
  models.add(std::make_unique<RehearsalProvider>());
  models.add_driver(std::make_unique<CommandProvider>());
  return models;
}

std::string found(std::string_view model) {
  const auto models = some_models();
  const auto provider = models.find(ModelName(std::string(model)));
  if (provider) return std::string((*provider)->name());
  return provider.error().message + "; " + provider.error().advice;
}

TEST(Models, AreFoundByTheirProvider) {
  EXPECT_EQ(found("anthropic/whatever/it-is"), "anthropic");
  EXPECT_EQ(found("rehearsal"), "rehearsal");
}

TEST(Models, AKnownNameAloneIsEnough) { EXPECT_EQ(found("claude-haiku-4-5"), "anthropic"); }

TEST(Models, AKnownNameOfAProviderThatIsNotHereIsNone) {
  EXPECT_THAT(found("gpt-4.1"), HasSubstr("unknown model 'gpt-4.1'"));
}

TEST(Models, AnUnknownOneIsRefusedWithTheNearest) {
  EXPECT_THAT(found("antropic/x"),
              AllOf(HasSubstr("no provider 'antropic'"), HasSubstr("did you mean anthropic")));
  EXPECT_THAT(found("claude-haiku-45"), HasSubstr("did you mean claude-haiku-4-5"));
  EXPECT_THAT(found("zzz"), HasSubstr("PROVIDER/NAME with one of: anthropic, rehearsal"));
  EXPECT_THAT(found(""), HasSubstr("unknown model ''"));
}

TEST(Models, EachModelOfAMakerIsOneOfItsOwnAndMadeOnce) {
  auto models = some_models();
  std::vector<std::string> asked;
  bool is_there = false;
  models.add_maker("scripted", [&](std::string_view rest) -> Result<std::unique_ptr<Provider>> {
    asked.emplace_back(rest);
    if (!is_there) return fail(ErrorCode::not_found, "no such script");
    return std::make_unique<NamedProvider>("scripted");
  });
  EXPECT_FALSE(models.find(ModelName("scripted//a/b.json")));
  is_there = true;
  const auto one = models.find(ModelName("scripted//a/b.json"));
  const auto other = models.find(ModelName("scripted/c.json"));
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
  EXPECT_EQ(*models.find(ModelName("scripted//a/b.json")), *one);
  EXPECT_THAT(asked, ElementsAre("/a/b.json", "/a/b.json", "c.json"));
  EXPECT_THAT(models.provider_names(), ElementsAre("anthropic", "rehearsal", "scripted"));
}

TEST(Models, NoModelNameLeadsToADriver) {
  EXPECT_THAT(found("command"), HasSubstr("unknown model 'command'"));
  EXPECT_THAT(found("command/x"), HasSubstr("unknown model 'command/x'"));
  const auto models = some_models();
  ASSERT_TRUE(models.driver("command"));
  EXPECT_FALSE(models.driver("rehearsal"));
  EXPECT_THAT(models.provider_names(), ElementsAre("anthropic", "rehearsal"));
}

}  // namespace
}  // namespace deputy
