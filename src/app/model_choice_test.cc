#include "app/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "async/sim_loop.h"
#include "net/sim_network.h"
#include "support/run.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Variables = std::map<std::string, std::string, std::less<>>;

ModelOffer offer_with(Variables variables = {}, const Settings& settings = {}) {
  return model_offer(settings, MapEnvironment(std::move(variables)));
}

std::string named(std::string_view text, const ModelOffer& offer = offer_with()) {
  const auto model = named_model(text, offer, "/here");
  return model ? model->value : "error: " + to_text(model.error());
}

TEST(NamedModel, AScriptIsNamedByItsWholePath) {
  EXPECT_EQ(named("scripted/x/y.json"), "scripted//here/x/y.json");
  EXPECT_EQ(named("scripted//abs.json"), "scripted//abs.json");
  EXPECT_THAT(named("scripted"), HasSubstr("scripted/FILE"));
}

TEST(NamedModel, ThereIsOneRehearsal) {
  EXPECT_EQ(named("rehearsal"), "rehearsal");
  EXPECT_THAT(named("rehearsal/yyy"),
              AllOf(HasSubstr("none called 'yyy'"), HasSubstr("write rehearsal alone")));
  EXPECT_THAT(named("rehearsal/"), HasSubstr("write rehearsal alone"));
}

TEST(NamedModel, AKnownNameNeedsNoProvider) {
  EXPECT_EQ(named("claude-sonnet-4-5"), "anthropic/claude-sonnet-4-5");
  EXPECT_EQ(named("gpt-4.1"), "openai/gpt-4.1");
  EXPECT_EQ(named("gemini-2.5-pro"), "gemini/gemini-2.5-pro");
  Settings settings;
  settings.models["compatible/mine"] = {};
  EXPECT_EQ(named("mine", offer_with({}, settings)), "compatible/mine");
}

TEST(NamedModel, AProviderMayKnowMoreThanTheCatalogue) {
  EXPECT_EQ(named("anthropic/claude-of-tomorrow"), "anthropic/claude-of-tomorrow");
  EXPECT_EQ(named("compatible/org/model:free"), "compatible/org/model:free");
  EXPECT_EQ(named("ollama/qwen3:8b"), "ollama/qwen3:8b");
}

TEST(NamedModel, AProviderAloneMeansItsDefault) {
  for (const std::string provider : {"anthropic", "openai", "openai-chat", "gemini"}) {
    const std::string model = named(provider);
    EXPECT_TRUE(model.starts_with(provider + "/")) << model;
    EXPECT_TRUE(Catalog().facts(ModelName(model)).price) << model << " is not in the catalogue";
  }
  EXPECT_THAT(named("ollama"), HasSubstr("write ollama/NAME"));
  EXPECT_THAT(named("compatible/"), HasSubstr("write compatible/NAME"));
}

TEST(NamedModel, AnUnknownOneIsRefusedWithThoseThatAreNear) {
  EXPECT_THAT(named("rehersal"), AllOf(HasSubstr("'rehersal'"), HasSubstr("did you mean rehearsal")));
  EXPECT_THAT(named("claude-sonet-4-5"), HasSubstr("did you mean claude-sonnet-4-5"));
  EXPECT_THAT(named("antropic/opus"), AllOf(HasSubstr("'antropic'"), HasSubstr("did you mean anthropic")));
  // It plays commands; it is not for people.
  EXPECT_THAT(named("command"), HasSubstr("unknown model"));
  EXPECT_THAT(named(""), HasSubstr("unknown model"));
  EXPECT_THAT(named("openai/a b"), HasSubstr("no spaces"));
  EXPECT_THAT(named("openai/a\x1b[0m"), HasSubstr("invisible"));
}

TEST(ModelClocks, EachIsWhatIsSet) {
  using namespace std::chrono_literals;
  const Clocks usual = clocks_of({});
  EXPECT_EQ(usual.connect, 10s);
  EXPECT_EQ(usual.first_event, 60s);
  EXPECT_EQ(usual.no_event, 120s);
  EXPECT_EQ(clocks_of({.connect = 3s}).connect, 3s);
  EXPECT_EQ(clocks_of({.first_event = 7s}).first_event, 7s);
  EXPECT_EQ(clocks_of({.no_event = 11s}).no_event, 11s);
  EXPECT_EQ(clocks_of({.no_event = 11s}).connect, 10s);
}

TEST(ModelByKey, TheFirstProviderThatHasOne) {
  const auto by_key = [](Variables variables) {
    const auto model = model_by_key(offer_with(std::move(variables)));
    return model ? model->value.substr(0, model->value.find('/')) : "";
  };
  EXPECT_EQ(by_key({}), "");
  EXPECT_EQ(by_key({{"OLLAMA_API_KEY", "k"}}), "");
  EXPECT_EQ(by_key({{"GOOGLE_API_KEY", "k"}}), "gemini");
  EXPECT_EQ(by_key({{"GEMINI_API_KEY", "k"}, {"OPENAI_API_KEY", "k"}}), "openai");
  EXPECT_EQ(by_key({{"GEMINI_API_KEY", "k"}, {"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "k"}}),
            "anthropic");
}

std::string access_to(std::string model, Variables variables = {}) {
  const auto access = check_access(ModelName(std::move(model)), offer_with(std::move(variables)));
  return access ? "" : to_text(access.error());
}

TEST(CheckAccess, WithoutAKeyItSaysWhatToSetAndWhoHasOne) {
  EXPECT_EQ(access_to("anthropic/x"),
            "no API key for provider anthropic (set ANTHROPIC_API_KEY; no provider "
            "has a key here; --model rehearsal needs none)");
  EXPECT_EQ(access_to("gemini/x", {{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "k"}}),
            "no API key for provider gemini (set GEMINI_API_KEY; providers with a key "
            "here: anthropic, openai, openai-chat)");
  EXPECT_EQ(access_to("gemini/x", {{"GOOGLE_API_KEY", "k"}}), "");
}

TEST(CheckAccess, WhoNeedsNoneNeedsAnAddress) {
  EXPECT_EQ(access_to("ollama/x"), "");
  EXPECT_EQ(access_to("rehearsal"), "");
  EXPECT_EQ(access_to("scripted//x"), "");
  EXPECT_THAT(access_to("compatible/x"),
              AllOf(HasSubstr("no address for provider compatible"), HasSubstr("DEPUTY_BASE_URL")));
  EXPECT_EQ(access_to("compatible/x", {{"DEPUTY_BASE_URL", "http://h/v1"}}), "");
  EXPECT_THAT(access_to("openai/x", {{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "localhost:1"}}),
              HasSubstr("OPENAI_BASE_URL is no address"));
}

TEST(OllamaModelNames, AreThoseThatCanBeUsed) {
  EXPECT_THAT(ollama_model_names(R"({"models":[{"name":"a:1"},{"name":"b"}]})"), ElementsAre("a:1", "b"));
  EXPECT_THAT(
      ollama_model_names(R"({"models":[{"nam":"a"},1,{"name":""},{"name":"x y"},{"name":"\u001b"}]})"),
      IsEmpty());
  EXPECT_THAT(ollama_model_names(R"({"models":{}})"), IsEmpty());
  EXPECT_THAT(ollama_model_names("<html>"), IsEmpty());
  const auto named_long = [](std::size_t size) {
    return ollama_model_names(R"({"models":[{"name":")" + std::string(size, 'x') + R"("}]})").size();
  };
  EXPECT_EQ(named_long(200), 1U);
  EXPECT_EQ(named_long(201), 0U);
}

class OllamaProbe : public ::testing::Test {
 protected:
  std::string probe() {
    const auto found = run(loop_, model_of_ollama(network_, loop_, offer_with()));
    return found ? found->value : "";
  }
  void answer(SimExchange exchange) {
    network_.define("http://127.0.0.1:11434/api/tags", [exchange](const HttpRequest&) { return exchange; });
  }
  SimLoop loop_{1};
  SimNetwork network_{loop_};
};

TEST_F(OllamaProbe, TakesTheFirstModelThatIsThere) {
  answer({.chunks = {{R"({"models":[{"name":"qwen3:8b"},)"}, {R"({"name":"z"}]})"}}});
  EXPECT_EQ(probe(), "ollama/qwen3:8b");
}

TEST_F(OllamaProbe, NobodyThereIsOrdinary) {
  EXPECT_EQ(probe(), "");
  answer({.status = 404, .chunks = {{R"({"models":[{"name":"a"}]})"}}});
  EXPECT_EQ(probe(), "");
  answer({.chunks = {{R"({"models":[]})"}}});
  EXPECT_EQ(probe(), "");
}

TEST_F(OllamaProbe, WhoIsSlowIsNotWaitedFor) {
  const auto before = loop_.clock().now();
  answer({.fault = SimFault::silence});
  EXPECT_EQ(probe(), "");
  EXPECT_EQ(loop_.clock().now() - before, std::chrono::seconds(1));
  answer({.chunks = {{std::string(1024 * 1024 + 1, ' ')}},
          .fault = SimFault::silence,
          .fault_after = 1024 * 1024 + 1});
  EXPECT_EQ(probe(), "");
  EXPECT_EQ(loop_.clock().now() - before, std::chrono::seconds(1));
}

class ModelsForTest : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) {
    const auto folder = disk_.open("/scripts", IfAbsent::create);
    ASSERT_TRUE(folder);
    ASSERT_TRUE((*folder)->replace(name, text));
  }
  Result<Models> models(std::string model, const ModelOffer& offer = offer_with()) {
    return models_for(ModelName(std::move(model)), offer, connections_, system_loop_, disk_);
  }
  SystemLoop system_loop_;
  Connections connections_{system_loop_};
  MemoryDisk disk_{system_loop_.clock()};
};

TEST_F(ModelsForTest, AScriptIsLoaded) {
  put("s.json", R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})");
  EXPECT_TRUE(models("scripted//scripts/s.json"));
}

TEST_F(ModelsForTest, EachFileIsAScriptOfItsOwn) {
  put("s.json", R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})");
  put("t.json", R"({"v":1,"sessions":[{"replies":[{"text":"ho"}]}]})");
  const auto all = models("scripted//scripts/s.json");
  ASSERT_TRUE(all);
  const auto one = all->find(ModelName("scripted//scripts/s.json"));
  const auto other = all->find(ModelName("scripted//scripts/t.json"));
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
  const auto none = all->find(ModelName("scripted//scripts/none.json"));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("the script of the model"));
}

TEST_F(ModelsForTest, WhereThePersonPlaysNoScriptNobodyDoes) {
  put("s.json", R"({"v":1,"sessions":[{"replies":[{"text":"hi"}]}]})");
  const auto all = models("rehearsal");
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->find(ModelName("scripted//scripts/s.json")));
}

TEST_F(ModelsForTest, AMistakeInAScriptNamesTheFile) {
  put("s.json", R"({"v":1,"sesions":[]})");
  const auto refused = models("scripted//scripts/s.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("/scripts/s.json"), HasSubstr("sesions")));
  EXPECT_FALSE(models("scripted//scripts/none.json"));
}

TEST_F(ModelsForTest, ATaskMayNameAnyProviderButNoDriver) {
  const auto all = models("rehearsal", offer_with({{"DEPUTY_BASE_URL", "http://h/v1"}}));
  ASSERT_TRUE(all);
  EXPECT_THAT(all->provider_names(), ElementsAre("anthropic", "compatible", "gemini", "ollama", "openai",
                                                 "openai-chat", "rehearsal"));
  EXPECT_TRUE(all->find(ModelName("claude-haiku-4-5")));
  EXPECT_FALSE(all->find(ModelName("command")));
  EXPECT_TRUE(all->driver("command"));
}

TEST_F(ModelsForTest, TheSettingsSayWhatAModelHoldsAndCosts) {
  Settings settings;
  settings.models["anthropic/x"] = {.window = 4321, .input = 1, .output = 2};
  const auto all = models("rehearsal", offer_with({}, settings));
  ASSERT_TRUE(all);
  const auto* provider = *all->find(ModelName("anthropic/x"));
  EXPECT_EQ(provider->window(ModelName("anthropic/x")), 4321);
  EXPECT_EQ(provider->price(ModelName("anthropic/x"))->output, 2);
  EXPECT_EQ(provider->price(ModelName("anthropic/y")), std::nullopt);
  EXPECT_EQ(provider->window(ModelName("claude-haiku-4-5")), 200'000);
}

}  // namespace
}  // namespace deputy
