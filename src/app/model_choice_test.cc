#include "app/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "async/sim_loop.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string wanted(const CommonArguments& common, const MapEnvironment& environment = {}) {
  const auto model = wanted_model(common, environment, "/here");
  return model ? model->value : "error: " + model.error().message + "; " + model.error().advice;
}

TEST(WantedModel, TheFlagThenTheVariableThenTheRehearsal) {
  const MapEnvironment environment({{"DEPUTY_MODEL", "rehearsal/b"}});
  EXPECT_EQ(wanted({.model = "rehearsal/a"}, environment), "rehearsal/a");
  EXPECT_EQ(wanted({}, environment), "rehearsal/b");
  EXPECT_EQ(wanted({}), "rehearsal");
}

TEST(WantedModel, AScriptIsNamedByItsWholePath) {
  EXPECT_EQ(wanted({.model = "scripted/x/y.json"}), "scripted//here/x/y.json");
  EXPECT_EQ(wanted({.model = "scripted//abs.json"}), "scripted//abs.json");
  EXPECT_THAT(wanted({.model = "scripted"}), HasSubstr("scripted/FILE"));
}

TEST(WantedModel, AnUnknownProviderIsRefusedByNameWithThoseThatThereAre) {
  EXPECT_THAT(wanted({.model = "rehersal"}),
              AllOf(HasSubstr("'rehersal'"), HasSubstr("did you mean rehearsal?")));
  EXPECT_THAT(wanted({.model = "anthropic/opus"}),
              AllOf(HasSubstr("'anthropic'"), HasSubstr("scripted/FILE")));
  // It plays commands; it is not for people.
  EXPECT_THAT(wanted({.model = "command"}), HasSubstr("unknown model"));
  EXPECT_THAT(wanted({.model = ""}), HasSubstr("unknown model"));
}

class ModelsForTest : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) {
    const auto folder = disk_.open("/scripts", IfAbsent::create);
    ASSERT_TRUE(folder);
    ASSERT_TRUE((*folder)->replace(name, text));
  }
  SimLoop loop_{1};
  MemoryDisk disk_{loop_.clock()};
};

TEST_F(ModelsForTest, AScriptIsLoaded) {
  put("s.json", R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})");
  EXPECT_TRUE(models_for(ModelName("scripted//scripts/s.json"), loop_, disk_));
}

TEST_F(ModelsForTest, AMistakeInAScriptNamesTheFile) {
  put("s.json", R"({"v":1,"sesions":[]})");
  const auto models = models_for(ModelName("scripted//scripts/s.json"), loop_, disk_);
  ASSERT_FALSE(models);
  EXPECT_THAT(models.error().message, AllOf(HasSubstr("/scripts/s.json"), HasSubstr("sesions")));
  EXPECT_FALSE(models_for(ModelName("scripted//scripts/none.json"), loop_, disk_));
}

}  // namespace
}  // namespace deputy
