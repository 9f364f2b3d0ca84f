// Which model is used, what it may be called, and what is said where it cannot be used: before anything is
// started or written.
#include <gmock/gmock.h>

#include <atomic>

#include "base/json.h"
#include "deputy_program.h"
#include "support/loopback_server.h"
#include "support/test_authority.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

// What a server of Chat Completions answers that says just this.
std::string answer_of(std::string_view text) {
  const std::string body =
      "data: " +
      to_json_text(json::object{
          {"choices",
           {{{"index", 0}, {"delta", {{"content", std::string(text)}}}, {"finish_reason", "stop"}}}}}) +
      "\n\ndata: [DONE]\n\n";
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

class ModelsTest : public DeputyTest {
 protected:
  // What would be used without --model.
  std::string used(Variables variables = {}, std::vector<std::string> further = {}) {
    std::vector<std::string> words{"models", "--output", "json"};
    words.insert(words.end(), further.begin(), further.end());
    const auto ran =
        deputy({.words = words, .input = {}, .environment = std::move(variables), .current = {}});
    const auto shown = parse_json_object(ran.out);
    EXPECT_TRUE(shown) << ran.out << ran.err;
    return shown ? string_or(*shown, "used", "") : "";
  }
  Ran delegate(const std::string& model, Variables variables = {}) {
    return deputy({.words = {"delegate", "--task", "a=go on", "--model", model},
                   .input = {},
                   .environment = std::move(variables),
                   .current = {}});
  }
  std::filesystem::path own_settings() const {
    return root() / "person" / ".config" / "deputy" / "config.toml";
  }
};

TEST_F(ModelsTest, AreListedWithWindowPriceAndWhetherTheyCanBeUsed) {
  const auto ran = deputy({.words = {"models"},
                           .input = {},
                           .environment = {{"ANTHROPIC_API_KEY", "not-a-real-key"}},
                           .current = {}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("anthropic/claude-haiku-4-5            200,000    64,000        1        5  "
                                 "    0.1     1.25  yes\n"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("no key: set OPENAI_API_KEY"), HasSubstr("key from ANTHROPIC_API_KEY"),
                             HasSubstr("not a language model"), Not(HasSubstr("not-a-real-key"))));
}

TEST_F(ModelsTest, AreListedForPrograms) {
  write(own_settings(), "[models.\"compatible/mine\"]\nwindow = 4096\n");
  const auto shown = parse_json_object(deputy({"models", "--output", "json"}).out);
  ASSERT_TRUE(shown);
  const auto* models = array_at(*shown, "models");
  ASSERT_TRUE(models && models->size() > 60);
  const auto& mine = models->back().as_object();
  EXPECT_EQ(string_at(mine, "model"), "compatible/mine");
  EXPECT_EQ(integer_at(mine, "window"), 4096);
  EXPECT_TRUE(find(mine, "price")->is_null());  // unknown, not 0
  EXPECT_EQ(bool_at(mine, "usable"), false);
}

TEST_F(ModelsTest, AreListedAsThePersonKnowsThemAndWithAMarkForWhatNobodyKnows) {
  write(own_settings(),
        "[models.\"anthropic/claude-haiku-4-5\"]\nwindow = 100000\ninput = 2.0\n"
        "[models.\"compatible/mine\"]\nwindow = 4096\n");
  const auto ran = deputy({"models"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("anthropic/claude-haiku-4-5 +100,000 +64,000 +2 +5 +0[.]1 +1[.]25 "));
  EXPECT_THAT(ran.out, ContainsRegex("compatible/mine +4,096 +[?] +[?] +[?] +[?] +[?] "));
}

TEST_F(ModelsTest, TheDefaultIsTheFirstThatIsChosenOrHasAKey) {
  EXPECT_EQ(used(), "rehearsal");
  EXPECT_THAT(used({{"GEMINI_API_KEY", "k"}}), ::testing::StartsWith("gemini/"));
  EXPECT_THAT(used({{"GEMINI_API_KEY", "k"}, {"OPENAI_API_KEY", "k"}}), ::testing::StartsWith("openai/"));
  const Variables all{{"GEMINI_API_KEY", "k"}, {"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "k"}};
  EXPECT_THAT(used(all), ::testing::StartsWith("anthropic/"));
  write(own_settings(), "model = \"openai/of-the-settings\"\n");
  EXPECT_EQ(used(all), "openai/of-the-settings");
  EXPECT_EQ(used({{"DEPUTY_MODEL", "gemini/of-the-environment"}}), "gemini/of-the-environment");
  EXPECT_EQ(used({{"DEPUTY_MODEL", "gemini/x"}}, {"--model", "gpt-4.1"}), "openai/gpt-4.1");
  write(root() / "other.toml", "model = \"openai/of-the-flag\"\n");
  EXPECT_EQ(used({}, {"--config", root() / "other.toml"}), "openai/of-the-flag");
}

// A local Ollama that is asked which models it has.
void name_models(Peer& peer) {
  EXPECT_THAT(peer.read_request(), ::testing::StartsWith("GET /api/tags "));
  const std::string body = R"({"models":[{"name":"qwen3:8b"}]})";
  peer.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST_F(ModelsTest, ALocalOllamaComesBeforeTheRehearsal) {
  LoopbackServer server(name_models);
  EXPECT_EQ(used({{"OLLAMA_HOST", server.address()}}), "ollama/qwen3:8b");
}

TEST_F(ModelsTest, WhoHasALocalOllamaIsWelcomedWithIt) {
  const std::string hint = "/help lists keys";
  LoopbackServer server(name_models);
  const auto found = chat_on_terminal({"chat", "--color", "never"}, {{"OLLAMA_HOST", server.address()}});
  EXPECT_THAT(found->read_screen_until(hint),
              AllOf(HasSubstr("ollama/qwen3:8b"), Not(HasSubstr("No model"))));
  const LoopbackServer nobody;
  const auto absent = chat_on_terminal({"chat", "--color", "never"}, {{"OLLAMA_HOST", nobody.address()}});
  EXPECT_THAT(
      absent->read_screen_until("To set up a model"),
      AllOf(HasSubstr("No model is set up here yet."), HasSubstr("no answer at http://" + nobody.address())));
}

TEST_F(ModelsTest, WithoutAKeyNothingIsStarted) {
  const auto ran = delegate("anthropic/claude-haiku-4-5", {{"OPENAI_API_KEY", "not-a-real-key"}});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err,
            "deputy: Cannot spawn subagents: no API key for provider anthropic; set ANTHROPIC_API_KEY; "
            "providers with a key here: openai, openai-chat, compatible\n");
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(files_below(home()), IsEmpty());
  EXPECT_EQ(deputy({"run", "--model", "gpt-4.1", "hello"}).status, 1);
}

TEST_F(ModelsTest, WhatHasEndedIsShownAgainWithoutAKeyAndGoesOnOnlyWithOne) {
  LoopbackServer server([](Peer& peer) {
    while (!peer.read_request().empty()) peer.write(answer_of("said once"));
  });
  const auto ran =
      deputy({.words = {"run", "hello", "--model", "openai-chat/gpt-4.1", "--output", "json"},
              .input = {},
              .environment = {{"OPENAI_BASE_URL", server.url("/v1")}, {"OPENAI_API_KEY", "not-a-real-key"}},
              .current = {}});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto result = parse_json_object(ran.out);
  ASSERT_TRUE(result) << ran.out;
  const std::string id = string_or(*result, "session_id", "");
  const auto again = deputy({"resume", id});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("said once"));
  const auto refused = deputy({"task", "main", "more", "--resume", id});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("Cannot spawn subagents: no API key for provider openai-chat"));
}

TEST_F(ModelsTest, AnUnknownNameIsRefusedWithTheNearest) {
  const auto ran = delegate("claude-hiku-4-5");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean claude-haiku-4-5"));
  EXPECT_THAT(files_below(home()), IsEmpty());
}

TEST_F(ModelsTest, ATaskCannotNameWhatPlaysCommands) {
  write(root() / "batch.json", R"({"tasks":[{"label":"a","prompt":"go","model":"command"}]})");
  const auto ran = deputy({"delegate", "--model", "rehearsal", "--file", root() / "batch.json"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("unknown model 'command'"));
}

TEST_F(ModelsTest, ATaskWithoutAKeyFailsAlone) {
  write(
      root() / "batch.json",
      R"({"tasks":[{"label":"a","prompt":"go","model":"gpt-4.1"},{"label":"b","prompt":"What is here?"}]})");
  const auto ran = deputy({"delegate", "--model", "rehearsal", "--file", root() / "batch.json"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("complete: 1/2"), HasSubstr("OPENAI_API_KEY")));
}

TEST_F(ModelsTest, ATaskMayNameAModelOfAnotherProvider) {
  LoopbackServer server([](Peer& peer) {
    EXPECT_THAT(peer.read_request(),
                AllOf(::testing::StartsWith("POST /v1/chat/completions "), HasSubstr("\"of-the-task\"")));
    peer.write(answer_of("said by another"));
  });
  write(root() / "batch.json", R"({"tasks":[{"label":"a","prompt":"go","model":"compatible/of-the-task"}]})");
  const auto ran = deputy({.words = {"delegate", "--model", "rehearsal", "--file", root() / "batch.json"},
                           .input = {},
                           .environment = {{"DEPUTY_BASE_URL", server.url("/v1")}},
                           .current = {}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("said by another"));
}

TEST_F(ModelsTest, AreInABundleAsThePersonSetThem) {
  LoopbackServer server([](Peer& peer) {
    while (!peer.read_request().empty()) peer.write(answer_of("said"));
  });
  write(own_settings(), "[models.\"compatible/mine\"]\nwindow = 50000\ninput = 2.5\noutput = 7.5\n");
  const auto ran = delegate("compatible/mine", {{"DEPUTY_BASE_URL", server.url("/v1")}});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto made = deputy({"doctor", "--bundle", "newest"});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string text = contents(made.out.substr(0, made.out.find('\n')));
  const auto about = parse_json_object(text.substr(0, text.find('\n')));
  ASSERT_TRUE(about) << text;
  const auto* windows = object_at(*about, "windows");
  const auto* prices = object_at(*about, "prices");
  ASSERT_TRUE(windows && prices) << text;
  EXPECT_EQ(integer_at(*windows, "compatible/mine"), 50000);
  const auto* price = object_at(*prices, "compatible/mine");
  ASSERT_TRUE(price) << text;
  EXPECT_EQ(number_at(*price, "input"), 2.5);
  EXPECT_EQ(number_at(*price, "output"), 7.5);
}

TEST_F(ModelsTest, AreReachedThroughTheProxyAndTrustedByTheCertificateOfTheEnvironment) {
  const TestAuthority authority;
  write(root() / "company.pem", authority.pem());
  const LoopbackServer server(
      [](Peer& peer) {
        while (!peer.read_request().empty()) peer.write(answer_of("said inside"));
      },
      authority.server("DNS:server.test", {"http/1.1"}));
  std::atomic<int> connected = 0;
  LoopbackServer proxy([&](Peer& peer) {
    const std::string head = peer.read_request();
    if (head.empty()) return;
    EXPECT_THAT(head, ::testing::StartsWith("CONNECT server.test:443 HTTP/1.1\r\n"));
    EXPECT_THAT(head, Not(HasSubstr("inside-alone")));
    ++connected;
    if (peer.write("HTTP/1.1 200 Connection established\r\n\r\n")) peer.join(server.port());
  });
  const auto ran = delegate("compatible/m", {{"DEPUTY_BASE_URL", "https://server.test/v1"},
                                             {"COMPATIBLE_API_KEY", "key-for-inside-alone"},
                                             {"HTTPS_PROXY", proxy.url("")},
                                             {"SSL_CERT_FILE", root() / "company.pem"}});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("said inside"));
  proxy.finish();
  EXPECT_GE(connected, 1);
}

TEST_F(ModelsTest, AnOllamaThatDoesNotRunIsToldOfSoon) {
  const auto ran = delegate("ollama/qwen3:8b", {{"OLLAMA_HOST", "127.0.0.1:1"}});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("cannot reach http://127.0.0.1:1"), HasSubstr("that the server runs"),
                             HasSubstr("Tried 8 times")));
}

class SettingsTest : public ModelsTest {};

TEST_F(SettingsTest, AMistakeIsToldWithFileAndLineBeforeAnythingIsWritten) {
  write(own_settings(), "\nmodle = \"x\"\n");
  const auto ran = delegate("rehearsal");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "deputy: " + own_settings().string() + ":2: unknown key modle; did you mean model?\n");
  EXPECT_THAT(files_below(home()), IsEmpty());
  // What needs no settings does not mind them.
  EXPECT_EQ(deputy({"sessions", "ls"}).status, 0);
}

TEST_F(SettingsTest, AProjectCanForbidButNotAllowOrChoose) {
  write(work() / "secret.txt", "the secret");
  write(work() / ".deputy" / "config.toml",
        "model = \"openai/theirs\"\n[permissions]\ndeny = [\"Read(secret.txt)\"]\nallow = [\"Grep\"]\n");
  const auto model = script(R"({"v":1,"sessions":[{"match":{"label":"a"},"replies":[
      {"calls":[{"name":"Read","arguments":{"file_path":"secret.txt"}}]},{"text":"done"}]}]})");
  EXPECT_EQ(used(), "rehearsal");
  const auto ran = deputy({"delegate", "--model", model, "--task", "a=go"});
  EXPECT_THAT(ran.err, HasSubstr("a project cannot widen what is allowed"));
  std::string transcript;
  for (const auto& name : files_below(home() / "subagent")) {
    if (name.starts_with("a-")) transcript += contents(home() / "subagent" / name);
  }
  EXPECT_THAT(transcript, AllOf(HasSubstr("denied by rule Read(secret.txt)"), Not(HasSubstr("the secret"))));
}

TEST_F(SettingsTest, LimitsOfTheSettingsHoldUnlessAFlagSaysMore) {
  write(own_settings(), "[limits]\nmax_delegations = 0\n");
  EXPECT_EQ(delegate("rehearsal").status, 5);
  EXPECT_EQ(
      deputy({"delegate", "--model", "rehearsal", "--task", "a=What is here?", "--max-delegations", "1"})
          .status,
      0);
}

TEST_F(SettingsTest, TheDoctorTellsOfThem) {
  write(own_settings(), "[network]\nca_file = \"/nowhere.pem\"\n");
  const auto ran = deputy({.words = {"doctor"},
                           .input = {},
                           .environment = {{"OPENAI_API_KEY", "not-a-real-key"},
                                           {"HTTPS_PROXY", "http://user:not-a-password@127.0.0.1:1"}},
                           .current = {}});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr(own_settings().string()), HasSubstr("openai (OPENAI_API_KEY)"),
                             HasSubstr("through the proxy that is set"),
                             HasSubstr("/nowhere.pem: that file cannot be found"), Not(HasSubstr("not-a-"))));
}

}  // namespace
}  // namespace deputy
