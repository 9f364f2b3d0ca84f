#include "app/provider_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/connections.h"

namespace deputy {
namespace {

using ::testing::UnorderedElementsAre;
using Variables = std::map<std::string, std::string, std::less<>>;

ProviderAccess access_to(std::string_view provider, Variables variables = {}, const Settings& settings = {}) {
  for (auto& access : provider_access(settings, MapEnvironment(std::move(variables)))) {
    if (access.name == provider) return access;
  }
  ADD_FAILURE() << provider;
  return {};
}

TEST(ProviderAccess, KeysAndAddressesComeFromTheEnvironment) {
  const auto openai = access_to("openai", {{"OPENAI_API_KEY", "k1"}, {"OPENAI_BASE_URL", "http://h:1/v1/"}});
  EXPECT_EQ(openai.endpoint.key, "k1");
  EXPECT_EQ(openai.endpoint.base_url, "http://h:1/v1");
  EXPECT_TRUE(openai.is_usable());
  EXPECT_FALSE(access_to("openai").is_usable());
  EXPECT_EQ(access_to("gemini", {{"GEMINI_API_KEY", "a"}, {"GOOGLE_API_KEY", "b"}}).endpoint.key, "a");
  EXPECT_EQ(access_to("gemini", {{"GOOGLE_API_KEY", "b"}}).key_variable, "GOOGLE_API_KEY");
  EXPECT_EQ(access_to("openai-chat", {{"OPENAI_API_KEY", "k1"}}).endpoint.key, "k1");
}

TEST(ProviderAccess, TheEnvironmentComesBeforeTheSettings) {
  Settings settings;
  settings.providers["anthropic"] = {.base_url = "https://set", .key_env = "MINE"};
  settings.base_url = "http://all/v1";
  settings.providers["compatible"] = {.base_url = "http://own/v1", .key_env = std::nullopt};
  const Variables variables{{"ANTHROPIC_API_KEY", "usual"}, {"MINE", "mine"}};
  EXPECT_EQ(access_to("anthropic", variables, settings).endpoint.base_url, "https://set");
  EXPECT_EQ(access_to("anthropic", variables, settings).endpoint.key, "mine");
  EXPECT_EQ(access_to("anthropic", {{"ANTHROPIC_BASE_URL", "https://env"}}, settings).endpoint.base_url,
            "https://env");
  // Whoever names a variable means that one.
  EXPECT_FALSE(access_to("anthropic", {{"ANTHROPIC_API_KEY", "usual"}}, settings).has_key());
  EXPECT_EQ(access_to("compatible", {}, settings).endpoint.base_url, "http://all/v1");
  settings.base_url.reset();
  EXPECT_EQ(access_to("compatible", {}, settings).endpoint.base_url, "http://own/v1");
  EXPECT_EQ(access_to("compatible", {{"DEPUTY_BASE_URL", "http://env/v1"}}, settings).endpoint.base_url,
            "http://env/v1");
}

TEST(ProviderAccess, WhatIsSetForOpenAiHoldsForItsOlderApiWhichMayHaveSettingsOfItsOwn) {
  Settings settings;
  settings.providers["openai"] = {.base_url = "https://gateway/v1", .key_env = "MINE"};
  const Variables variables{{"OPENAI_API_KEY", "usual"}, {"MINE", "mine"}};
  EXPECT_EQ(access_to("openai-chat", variables, settings).endpoint.key, "mine");
  EXPECT_EQ(access_to("openai-chat", variables, settings).endpoint.base_url, "https://gateway/v1");
  EXPECT_EQ(access_to("openai-chat", {}, settings).key_variable, "MINE");
  EXPECT_EQ(access_to("gemini", variables, settings).key_variable, "GEMINI_API_KEY");

  settings.providers["openai-chat"] = {.base_url = "https://other/v1", .key_env = std::nullopt};
  EXPECT_EQ(access_to("openai-chat", variables, settings).endpoint.base_url, "https://other/v1");
  EXPECT_EQ(access_to("openai-chat", variables, settings).endpoint.key, "usual");
  EXPECT_EQ(access_to("openai", variables, settings).endpoint.key, "mine");
}

TEST(ProviderAccess, WhatIsNoAddressIsNone) {
  for (const auto* wrong : {"localhost:8080", "ftp://h", "http://a b", "http://h\x01"}) {
    const auto access = access_to("openai", {{"OPENAI_BASE_URL", wrong}, {"OPENAI_API_KEY", "k"}});
    EXPECT_FALSE(access.is_usable()) << wrong;
    EXPECT_EQ(access.wrong_address, "OPENAI_BASE_URL");
  }
}

TEST(ProviderAccess, EachSpeaksItsOwnDialect) {
  for (const auto& access : provider_access({}, MapEnvironment())) {
    EXPECT_EQ(dialect_of(access, {})->provider(), access.name);
  }
}

TEST(OllamaAddress, IsReadAsOllamaReadsIt) {
  EXPECT_EQ(ollama_address("127.0.0.1:1234"), "http://127.0.0.1:1234");
  EXPECT_EQ(ollama_address("box"), "http://box:11434");
  EXPECT_EQ(ollama_address(":1234"), "http://127.0.0.1:1234");
  EXPECT_EQ(ollama_address("0.0.0.0"), "http://127.0.0.1:11434");
  EXPECT_EQ(ollama_address("http://box"), "http://box:80");
  EXPECT_EQ(ollama_address("https://box/"), "https://box:443/");
  EXPECT_EQ(ollama_address("https://box:99/api"), "https://box:99/api");
  EXPECT_EQ(ollama_address("[::1]"), "http://[::1]:11434");
  EXPECT_EQ(ollama_address("[::1]:5"), "http://[::1]:5");
  EXPECT_EQ(ollama_address(""), "http://127.0.0.1:11434");
}

TEST(Secrets, AreKeysAndPasswordsInAddresses) {
  Settings settings;
  settings.providers["openai"].key_env = "MINE";
  settings.network.proxy = "http://user:pass1@h:1";
  const MapEnvironment environment({{"ANTHROPIC_API_KEY", "k1"},
                                    {"SOME_OTHER_API_KEY", "k2"},
                                    {"MINE", "k3"},
                                    {"HOME", "/h"},
                                    {"https_proxy", "http://token2@proxy/"},
                                    {"OLLAMA_HOST", "u:pass4@box:11434"},
                                    {"OPENAI_BASE_URL", "https://u:pass3@h/v1@x"}});
  EXPECT_THAT(secrets_of(settings, environment),
              UnorderedElementsAre("k1", "k2", "k3", "pass1", "token2", "pass3", "pass4"));
}

TEST(NetworkOptions, ComeFromTheEnvironmentThenTheSettings) {
  const NetworkSettings settings{.proxy = "http://set", .no_proxy = "set.example", .ca_file = "/set.pem"};
  auto options = network_options(settings, MapEnvironment());
  EXPECT_EQ(options.https_proxy, "http://set");
  EXPECT_EQ(options.no_proxy, "set.example,localhost,127.0.0.1,::1");
  EXPECT_EQ(options.ca_file, "/set.pem");
  options = network_options(settings, MapEnvironment({{"HTTPS_PROXY", "http://upper"},
                                                      {"NO_PROXY", "upper.example"},
                                                      {"SSL_CERT_FILE", "/env.pem"}}));
  EXPECT_EQ(options.https_proxy, "http://upper");
  EXPECT_EQ(options.no_proxy, "upper.example,localhost,127.0.0.1,::1");
  EXPECT_EQ(options.ca_file, "/env.pem");
  options =
      network_options({}, MapEnvironment({{"HTTPS_PROXY", "http://upper"}, {"https_proxy", "http://lower"}}));
  EXPECT_EQ(options.https_proxy, "http://lower");
}

TEST(NetworkOptions, KnowAProxyForServersWithoutTlsInLowerCaseOnly) {
  const auto options = network_options({}, MapEnvironment({{"http_proxy", "http://lower"}}));
  EXPECT_EQ(options.http_proxy, "http://lower");
  EXPECT_EQ(options.https_proxy, "");
  EXPECT_EQ(options.no_proxy, "localhost,127.0.0.1,::1");
  EXPECT_EQ(network_options({}, MapEnvironment({{"HTTP_PROXY", "http://upper"}})).http_proxy, "");
  EXPECT_EQ(network_options({}, MapEnvironment()).no_proxy, "") << "there is none to go round";
}

}  // namespace
}  // namespace deputy
