// For tests: the chat on a real terminal, with somebody who types.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deputy_program.h"
#include "tmux.h"

namespace deputy {

class TerminalTest : public DeputyTest {
 protected:
  TerminalTest() : tmux(root() / "tmux", 80, 24) {}
  void chat(std::string_view model, std::vector<std::string> words = {},
            std::map<std::string, std::string> besides = {}) {
    words.insert(words.begin(), {"--model", std::string(model)});
    open(std::move(words), std::move(besides));
    tmux.wait_for("❯");
  }
  void plain_chat(std::string_view model) {
    open({"--model", std::string(model), "--plain"}, {});
    tmux.wait_for(">");
  }
  void open(const std::vector<std::string>& words, std::map<std::string, std::string> environment) {
    environment.merge(usual_environment());
    tmux.run(work(), environment, words);
  }
  void open_shell() {
    tmux.run_shell(work(), usual_environment());
    tmux.wait_for("shell>");
  }
  std::map<std::string, std::string> usual_environment() const {
    return {{"PATH", "/usr/bin:/bin"},
            {"HOME", (root() / "person").string()},
            {"DEPUTY_HOME", home().string()},
            {"LC_ALL", "C.UTF-8"},
            {"TERM", "screen"},
            {"TZ", "UTC"},
            {"OLLAMA_HOST", "127.0.0.1:1"}};
  }
  void enter(std::string_view text) const {
    tmux.type(text);
    tmux.key("Enter");
  }
  void enter(std::string_view text, std::string_view answer) const {
    enter(text);
    tmux.wait_for(answer);
  }
  void expect_left(int status) const {
    tmux.wait_for("Kept as sess_");
    tmux.wait_until_ended();
    EXPECT_EQ(tmux.exit_status(), status);
  }
  Tmux tmux;
};

}  // namespace deputy
