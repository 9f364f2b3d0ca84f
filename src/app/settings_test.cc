#include "app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

Settings parsed(std::string_view text) {
  auto settings = parse_settings(text, "config.toml");
  EXPECT_TRUE(settings) << settings.error().message;
  return settings.value_or(Settings{});
}

std::string refused(std::string_view text) {
  const auto settings = parse_settings(text, "config.toml");
  return settings ? "" : to_text(settings.error());
}

TEST(Settings, SayHowMuchOfALongReportIsShown) {
  const auto settings = parse_settings("[reports]\nreport_bytes = 1024\nbatch_bytes = 16777216\n", "f");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->reports, (ReportSettings{1024, 16777216}));
}

TEST(Settings, SayHowLargeContextFilesMayBe) {
  const auto settings = parse_settings("[context]\nfile_bytes = 1024\ntask_bytes = 16777216\n", "f");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->context, (ContextSettings{1024, 16777216}));
}

TEST(Settings, EveryKeyIsRead) {
  const auto settings = parsed(R"toml(model = "anthropic/claude-sonnet-5"
base_url = "http://127.0.0.1:8080/v1"
[providers.openai]
base_url = "https://proxy.example/v1"
key_env = "WORK_KEY"
[models."compatible/qwen"]
window = 8192
max_output = 1024
input = 0
output = 2.5
cache_read = 0.1
cache_write = 1
[network]
proxy = "http://user:secret@proxy.example:3128"
no_proxy = "localhost,.example"
ca_file = "/etc/company.pem"
[clocks]
connect = "5s"
first_event = "90s"
no_event = "2m"
[limits]
max_depth = 0
max_delegations = 5
max_children = "none"
max_live = 3
max_steps = 70
max_tokens = "none"
max_cost = 0.25
timeout = "5m"
[permissions]
allow = ["Read"]
ask = ["Delegate"]
deny = ["Read(secrets/**)", "Grep"]
)toml");
  EXPECT_EQ(settings.model, "anthropic/claude-sonnet-5");
  EXPECT_EQ(settings.base_url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(settings.providers.at("openai"), (ProviderSettings{"https://proxy.example/v1", "WORK_KEY"}));
  EXPECT_EQ(settings.models.at("compatible/qwen"), (FactsOverride{8192, 1024, 0, 2.5, 0.1, 1}));
  EXPECT_EQ(settings.network, (NetworkSettings{"http://user:secret@proxy.example:3128", "localhost,.example",
                                               "/etc/company.pem"}));
  EXPECT_EQ(settings.clocks, (ClockSettings{5s, 90s, 2min}));
  EXPECT_EQ(settings.limits, (LimitSettings{0, 5, std::numeric_limits<int>::max(), 3, 70,
                                            std::numeric_limits<std::int64_t>::max(), 250'000, 5min}));
  ASSERT_EQ(settings.rules.size(), 4U);
  EXPECT_EQ(to_text(settings.rules[2]), "Read(secrets/**)");
  EXPECT_EQ(settings.rules[2].decision, Decision::deny);
}

TEST(Settings, NothingWrittenIsNothingSet) {
  EXPECT_EQ(parsed(""), Settings{});
  EXPECT_EQ(parsed("# a comment\n[network]\n"), Settings{});
}

TEST(Settings, AnUnknownKeyIsRefusedWithFileLineAndTheNearest) {
  EXPECT_THAT(refused("\nmodle = \"x\"\n"),
              AllOf(StartsWith("config.toml:2: unknown key modle"), HasSubstr("did you mean model?")));
  EXPECT_THAT(refused("[clocks]\nconnect = \"1s\"\nfirst_evnt = \"1s\"\n"),
              AllOf(StartsWith("config.toml:3: unknown key clocks.first_evnt"),
                    HasSubstr("did you mean first_event?")));
  EXPECT_THAT(refused("[zzzzzz]\n"), HasSubstr("known here: model, base_url"));
  EXPECT_THAT(refused("[providers.antropic]\n"), HasSubstr("did you mean anthropic?"));
  EXPECT_THAT(refused("[models.\"openai/x\"]\nwindwo = 1\n"), HasSubstr("did you mean window?"));
  EXPECT_THAT(refused("\"\\u001b[2J\" = 1\n"), Not(HasSubstr("\x1b")));
}

TEST(Settings, AWrongTypeIsRefusedWithFileLineAndWhatItMustBe) {
  EXPECT_THAT(refused("model = 3\n"), AllOf(StartsWith("config.toml:1: model is 3"), HasSubstr("a text")));
  EXPECT_THAT(refused("model = \"\"\n"), HasSubstr("model is \"\""));
  EXPECT_THAT(refused("model = \"a\\nb\"\n"), HasSubstr("a text on one line"));
  EXPECT_THAT(refused("clocks = 1\n"), HasSubstr("clocks is 1 (it must be a table)"));
  EXPECT_THAT(refused("[clocks]\nconnect = 10\n"), HasSubstr("a time such as \"10s\""));
  EXPECT_THAT(refused("[clocks]\nconnect = \"0s\"\n"), HasSubstr("a time such as"));
  EXPECT_THAT(refused("base_url = \"ftp://x\"\n"), HasSubstr("an address such as"));
  EXPECT_THAT(refused("[reports]\nreport_bytes = 1023\n"), HasSubstr("from 1024 to 16777216"));
  EXPECT_THAT(refused("[reports]\nbatch_bytes = 16777217\n"), HasSubstr("from 1024 to 16777216"));
  EXPECT_THAT(refused("[context]\nfile_bytes = 1023\n"), HasSubstr("from 1024 to 16777216"));
  EXPECT_THAT(refused("[context]\ntask_bytes = 16777217\n"), HasSubstr("from 1024 to 16777216"));
  EXPECT_THAT(refused("[limits]\nmax_live = -1\n"), HasSubstr("from 0 on"));
  EXPECT_THAT(refused("[limits]\nmax_tokens = 1.5\n"), HasSubstr("from 0 on"));
  EXPECT_THAT(refused("[limits]\nmax_cost = -1\n"), HasSubstr("US dollars"));
  EXPECT_THAT(refused("[limits]\ntimeout = 5\n"), HasSubstr("a time above 0 such as"));
  EXPECT_THAT(refused("[limits]\ntimeout = \"0s\"\n"), HasSubstr("a time above 0 such as"));
  EXPECT_THAT(refused("[permissions]\ndeny = \"Read\"\n"), HasSubstr("a list of rules"));
  EXPECT_THAT(refused("[permissions]\ndeny = [1]\n"), HasSubstr("a list of rules"));
  EXPECT_THAT(refused("[permissions]\ndeny = [\n\"Read\",\n\"Raed(x\"]\n"), StartsWith("config.toml:4: "));
  EXPECT_THAT(refused("[models.\"x\"]\n"), HasSubstr("no model's name"));
  EXPECT_THAT(refused("[models.\"openai/\"]\n"), HasSubstr("no model's name"));
  EXPECT_THAT(refused("model = 1979-05-27\n"), HasSubstr("a date or time"));
  EXPECT_THAT(refused("model = [1]\n"), HasSubstr("a list"));
  EXPECT_THAT(refused("model = true\n"), HasSubstr("a yes or no"));
}

TEST(Settings, FiguresHaveBounds) {
  const auto model = [](std::string_view line) {
    return refused("[models.\"openai/x\"]\n" + std::string(line) + "\n");
  };
  EXPECT_EQ(model("window = 1"), "");
  EXPECT_EQ(model("window = 1_000_000_000"), "");
  EXPECT_THAT(model("window = 0"), HasSubstr("a whole number of tokens"));
  EXPECT_THAT(model("window = 1_000_000_001"), HasSubstr("a whole number of tokens"));
  EXPECT_THAT(model("window = 1.5"), HasSubstr("a whole number of tokens"));
  EXPECT_EQ(model("input = 1_000_000"), "");
  EXPECT_THAT(model("input = 1_000_001"), HasSubstr("dollars"));
  EXPECT_THAT(model("input = -0.1"), HasSubstr("dollars"));
  EXPECT_THAT(model("input = nan"), HasSubstr("dollars"));
  EXPECT_THAT(model("input = true"), HasSubstr("dollars"));
  EXPECT_EQ(refused("[clocks]\nconnect = \"24h\"\n"), "");
  EXPECT_THAT(refused("[clocks]\nconnect = \"25h\"\n"), HasSubstr("at most 24h"));
}

TEST(Settings, AKeyInPlaceOfAVariableIsNotRepeated) {
  EXPECT_THAT(refused("[providers.openai]\nkey_env = \"sk-proj-abc\"\n"),
              AllOf(HasSubstr("not a variable's name"), Not(HasSubstr("sk-proj"))));
  EXPECT_THAT(refused("[network]\nproxy = \"user:secret@host\"\n"), Not(HasSubstr("secret")));
}

TEST(Settings, WhatIsNotTomlIsRefusedWithItsLine) {
  EXPECT_THAT(refused("model = \"a\"\nmodel = \"b\"\n"), StartsWith("config.toml:2: this is not TOML"));
  EXPECT_THAT(refused("\nmodel\n"), StartsWith("config.toml:2: "));
  EXPECT_THAT(refused("model = \"\xff\"\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(refused("x = " + std::string(100'000, '[')), StartsWith("config.toml:1: "));
  EXPECT_THAT(refused("[[["), StartsWith("config.toml is not TOML"));
}

TEST(Settings, LettersBeyondAsciiStandInTextsAndComments) {
  EXPECT_EQ(parsed("\xef\xbb\xbfmodel = \"openai/é~~7E\" # é\n").model, "openai/é~~7E");
  EXPECT_EQ(parsed("model = 'openai/~41é'\n").model, "openai/~41é");
  EXPECT_EQ(parsed("model = \"\"\"a\\\n  é\\u00e9\"\"\"\n").model, "aéé");
  EXPECT_EQ(parsed("[models.\"openai/é\"]\nwindow = 5\n").models.at("openai/é").window, 5);
  EXPECT_EQ(to_text(parsed("[permissions]\ndeny = [\"Read(~/é)\"]\n").rules.at(0)), "Read(~/é)");
  for (const auto* wrong : {"é = 1", "model = é", "model = 1é", "model = 1'é'", "model = \"x\" é", "[é]",
                            "model.é = 1", "model =+[\"é\"]", "model = 'é\n'", "\xe2\x80\xa8", "~ = 1"}) {
    EXPECT_THAT(refused(wrong), StartsWith("config.toml")) << wrong;
  }
  EXPECT_THAT(refused("\"é\" = 1\n"), HasSubstr("unknown key \"é\""));
  EXPECT_THAT(refused("model = \"\\u007E41\"\n"), HasSubstr("write it as it is"));
}

TEST(Settings, AKeyOfTooManyPartsIsRefusedBeforeItIsBuilt) {
  std::string key = "a";
  for (int i = 0; i < 4'000; ++i) key += ".a";
  EXPECT_THAT(refused(key + " = 1\n"), HasSubstr("unknown key a"));
  EXPECT_THAT(refused("[" + key + "]\n"), HasSubstr("unknown key a"));
  EXPECT_THAT(refused(key + ".a = 1\n"), HasSubstr("more than 4,000 dots"));
}

TEST(Settings, AProjectOnlyNarrows) {
  const auto project = parsed(
      "model = \"openai/x\"\n[permissions]\nallow = [\"Edit\"]\nask = [\"Read\"]\ndeny = [\"Grep\"]\n");
  const auto part = narrowing_part(project);
  EXPECT_FALSE(part.model);
  ASSERT_EQ(part.rules.size(), 2U);
  EXPECT_EQ(part.rules[0].decision, Decision::ask);
  EXPECT_EQ(part.rules[1].decision, Decision::deny);
}

TEST(Settings, ALimitOfMoneyIsDollarsToTheMillionth) {
  EXPECT_EQ(dollar_limit("0"), 0);
  EXPECT_EQ(dollar_limit("0.5"), 500'000);
  EXPECT_EQ(dollar_limit("0.000001"), 1);
  EXPECT_EQ(dollar_limit("1000000"), 1'000'000'000'000);
  EXPECT_EQ(dollar_limit("none"), std::numeric_limits<std::int64_t>::max());
  for (const auto* wrong : {"", "-1", "-0.5", "1000001", "1e3", "nan", "inf", "$1", "1 ", "one"})
    EXPECT_EQ(dollar_limit(wrong), std::nullopt) << wrong;
}

TEST(Settings, EveryLimitCanStandInTheEnvironment) {
  const MapEnvironment environment({{"DEPUTY_MAX_STEPS", "1"},
                                    {"DEPUTY_MAX_TOKENS", "2"},
                                    {"DEPUTY_MAX_COST", "3"},
                                    {"DEPUTY_TIMEOUT", "4s"}});
  const auto settings = with_environment({}, environment);
  ASSERT_TRUE(settings);
  const TreeLimits limits = changed_by(changed_by({}, settings->limits), {.max_tokens = 9});
  EXPECT_EQ(limits.steps, 1);
  EXPECT_EQ(limits.tokens, 9) << "a flag comes first";
  EXPECT_EQ(limits.cost_micros, 3'000'000);
  EXPECT_EQ(limits.time, 4s);
  EXPECT_EQ(changed_by({}, {}), TreeLimits{}) << "absent is the default";
}

TEST(Settings, TheEnvironmentComesAfterTheFile) {
  const MapEnvironment environment(
      {{"DEPUTY_MODEL", "rehearsal"}, {"DEPUTY_MAX_DEPTH", "none"}, {"DEPUTY_MAX_LIVE", "0"}});
  auto settings =
      with_environment(parsed("model = \"a/b\"\n[limits]\nmax_depth = 1\nmax_children = 2\n"), environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->model, "rehearsal");
  EXPECT_EQ(settings->limits, (LimitSettings{std::numeric_limits<int>::max(), std::nullopt, 2, 0}));
  for (const auto* bad : {"x", "-1", "1x", "99999999999"}) {
    const auto refused = with_environment({}, MapEnvironment({{"DEPUTY_MAX_LIVE", bad}}));
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("DEPUTY_MAX_LIVE"));
  }
}

class LoadSettingsTest : public ::testing::Test {
 protected:
  void put(const std::string& folder, const std::string& name, std::string_view text) {
    const auto opened = disk_.open(folder, IfAbsent::create);
    ASSERT_TRUE(opened);
    ASSERT_TRUE((*opened)->replace(name, text));
  }
  Result<LoadedSettings> load(std::map<std::string, std::string, std::less<>> environment,
                              std::optional<std::string> chosen = std::nullopt) {
    return load_settings(disk_, MapEnvironment(std::move(environment)), chosen, "/project");
  }
  ManualClock clock_;
  MemoryDisk disk_{clock_};
};

TEST_F(LoadSettingsTest, NoFileIsNoSettings) {
  const auto loaded = load({{"HOME", "/home/me"}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->settings, Settings{});
  EXPECT_THAT(loaded->file, IsEmpty());
  EXPECT_TRUE(load({}));
}

TEST_F(LoadSettingsTest, TheFileIsFoundWhereItBelongs) {
  put("/home/me/.config/deputy", "config.toml", "model = \"home\"");
  put("/xdg/deputy", "config.toml", "model = \"xdg\"");
  put("/else", "c.toml", "model = \"else\"");
  put("/flag", "c.toml", "model = \"flag\"");
  EXPECT_EQ(load({{"HOME", "/home/me"}})->settings.model, "home");
  EXPECT_EQ(load({{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "relative"}})->settings.model, "home");
  EXPECT_EQ(load({{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "/xdg"}})->settings.model, "xdg");
  EXPECT_EQ(load({{"XDG_CONFIG_HOME", "/xdg"}, {"DEPUTY_CONFIG", "/else/c.toml"}})->settings.model, "else");
  EXPECT_EQ(load({{"DEPUTY_CONFIG", "/else/c.toml"}}, "/flag/c.toml")->settings.model, "flag");
  EXPECT_EQ(load({}, "/flag/c.toml")->file, "/flag/c.toml");
}

TEST_F(LoadSettingsTest, AFileThatWasNamedMustBeThere) {
  const auto loaded = load({}, "/none.toml");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_text(loaded.error()), AllOf(HasSubstr("none.toml"), HasSubstr("--config")));
}

TEST_F(LoadSettingsTest, AProjectAddsWhatItForbidsAndNothingElse) {
  put("/home/me/.config/deputy", "config.toml", "model = \"mine\"\n[permissions]\nallow = [\"Edit\"]");
  put("/project/.deputy", "config.toml",
      "model = \"theirs\"\n[permissions]\ndeny = [\"Read(x)\"]\nallow = [\"Bash\"]\n[network]\nproxy = "
      "\"http://evil.example\"");
  const auto loaded = load({{"HOME", "/home/me"}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->settings.model, "mine");
  EXPECT_FALSE(loaded->settings.network.proxy);
  ASSERT_EQ(loaded->settings.rules.size(), 2U);
  EXPECT_EQ(to_text(loaded->settings.rules[1]), "Read(x)");
  EXPECT_THAT(loaded->ignored_notice, HasSubstr("/project/.deputy/config.toml"));
}

TEST_F(LoadSettingsTest, AProjectThatOnlyForbidsIsNotSpokenOf) {
  put("/project/.deputy", "config.toml", "[permissions]\ndeny = [\"Read(x)\"]\n");
  EXPECT_THAT(load({})->ignored_notice, IsEmpty());
}

TEST_F(LoadSettingsTest, AMistakeInAProjectsFileNamesIt) {
  put("/project/.deputy", "config.toml", "modle = 1\n");
  const auto loaded = load({});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, StartsWith("/project/.deputy/config.toml:1: "));
}

TEST_F(LoadSettingsTest, AFileMayBeOneMebibyte) {
  put("/flag", "c.toml", "#" + std::string(kMostSettingsBytes - 1, 'x'));
  EXPECT_TRUE(load({}, "/flag/c.toml"));
  put("/flag", "c.toml", "#" + std::string(kMostSettingsBytes, 'x'));
  EXPECT_FALSE(load({}, "/flag/c.toml"));
  put("/project/.deputy", "config.toml", "#" + std::string(kMostSettingsBytes - 1, 'x'));
  EXPECT_TRUE(load({}));
  put("/project/.deputy", "config.toml", "#" + std::string(kMostSettingsBytes, 'x'));
  EXPECT_FALSE(load({}));
}

}  // namespace
}  // namespace deputy
