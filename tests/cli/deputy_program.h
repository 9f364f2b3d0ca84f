// Runs the real program as a person would: words in, exit status and output out. Each test has a state folder
// and a folder to work in of its own, and nothing of the caller's environment reaches the program but what
// the sanitizers need. It has a key that no output, file or command line may show, whatever the test.
#pragma once

#include <gtest/gtest.h>
#include <termios.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct Ran {
  int status = 0;  // 128 + signal where one ended it
  std::string out;
  std::string err;
};

// How it is started; what is empty is a file.
struct Start {
  std::vector<std::string> words;
  std::string input;                               // what comes on stdin
  std::map<std::string, std::string> environment;  // besides, or in place of, the usual one
  std::filesystem::path current;                   // the folder to work in, unless given
  std::vector<std::string> through = {};           // a program that starts it, with its words
  std::string typed_name = "deputy";               // what the person typed for it, where nothing is between
};

// A program that runs. Its stdout is a pipe; where it has a terminal, that is its stdin and stderr.
class Running {
 public:
  ~Running();  // killed if it still runs
  // Up to the next line break; nothing at the end.
  std::optional<std::string> read_line();
  // Lines up to one that contains the text, that one included; fails the test at the end.
  std::string read_until(std::string_view text);
  // What the terminal shows, up to and with the text.
  std::string read_screen_until(std::string_view text);
  void type(std::string_view keys);
  // As by Ctrl-S: the terminal takes nothing until it goes on.
  void stop_screen() { set_flow(TCOOFF); }
  void let_screen_go_on() { set_flow(TCOON); }
  // Whether it is in its ordinary mode, as a shell needs it.
  bool is_terminal_cooked() const;
  void cook_terminal();  // as a shell does that has it meanwhile
  void close_stdout();
  void send(int signal);
  pid_t pid() const { return pid_; }
  // The rest of the output, and how it ended.
  Ran wait();
  // How it ended while nobody read what it wrote; fails where it has not within a minute.
  int wait_for_end();

 private:
  friend class DeputyTest;
  void set_flow(int action);
  pid_t pid_ = -1;
  int out_ = -1;
  int terminal_ = -1;
  std::filesystem::path err_;
  std::string buffered_;
};

class DeputyTest : public ::testing::Test {
 protected:
  DeputyTest();
  ~DeputyTest() override;

  Ran deputy(std::vector<std::string> words) { return deputy(Start{.words = std::move(words)}); }
  Ran deputy(const Start& start);
  std::unique_ptr<Running> start(std::vector<std::string> words) {
    return start(Start{.words = std::move(words)});
  }
  std::unique_ptr<Running> start(const Start& start) const { return spawn(start, false); }
  std::unique_ptr<Running> start_on_terminal(std::vector<std::string> words) const {
    return spawn({.words = std::move(words)}, true);
  }
  // The chat: its stdout is the terminal, too.
  std::unique_ptr<Running> chat_on_terminal(std::vector<std::string> words,
                                            std::map<std::string, std::string> environment = {}) const {
    return spawn({.words = std::move(words),
                  .environment = std::move(environment),
                  .through = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >&2"}},
                 true);
  }

  std::filesystem::path home() const { return root_ / "home"; }
  std::filesystem::path work() const { return root_ / "work"; }
  std::filesystem::path root() const { return root_; }
  // Every file and folder below, as paths relative to it, sorted.
  static std::vector<std::string> files_below(const std::filesystem::path& folder);
  static std::string contents(const std::filesystem::path& file);
  static void write(const std::filesystem::path& file, std::string_view text);
  // A script of the scripted model; yields the value for --model.
  std::string script(std::string_view text, std::string_view name = "script.json") const;
  // One whose root delegates to [quick] and [slow], which takes so many milliseconds for its second reply.
  std::string delegating(std::string_view wait) const;

 private:
  std::unique_ptr<Running> spawn(const Start& start, bool on_terminal) const;
  std::filesystem::path root_;
};

}  // namespace deputy
