// The guard's reading of plain commands beside that of bash: the words a command gets must be the same, for
// everything that the guard believes it can take apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/random.h"
#include "base/text.h"
#include "guard/shell.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

constexpr int kTries = 30'000;

std::string random_command(Random& random) {
  static constexpr std::string_view kPieces[] = {
      "a",       "b",  " ", " ",     " ",      "  ",     "'",         "\"",          "\\",
      "&&",      "||", ";", "\n",    "\t",     ">",      "2>",        "2>&1",        "x=",
      "{}",      "{",  "}", "[",     "]",      "#",      "!",         "é",           "/",
      "-f",      "0",  "2", "'b c'", "\"d'\"", "\\ ",    "\\'",       "\"\\\"\"",    "''",
      " \\\n",   ",",  "=", "%",     "^",      "~",      "/dev/null", "> /dev/null", "\"\\\\\"",
      "\"\\a\"", "@",  "+", ":",     ".",      " show ", "; show ",   " && show "};
  std::string out = "show ";
  for (std::size_t count = 1 + random.below(10); count-- > 0;)
    out += kPieces[random.below(std::size(kPieces))];
  return out;
}

bool can_be_compared(const std::vector<SimpleCommand>& commands) {
  for (const SimpleCommand& command : commands) {
    if (command.words[0].text != "show" || command.joint == Joint::pipe) return false;
    for (const ShellWord& word : command.words) {
      if (word.varies) return false;
    }
    for (const Redirection& to : command.redirections) {
      if (to.kind != Redirection::Kind::duplicate && to.target != "/dev/null") return false;
      if (to.descriptor != 1 && to.descriptor != 2) return false;
      if (to.kind == Redirection::Kind::duplicate && to.target != "1" && to.target != "2") return false;
    }
  }
  return true;
}

// What `show` is called with, word by word; everything succeeds, so what follows || does not run.
std::string expected(const std::vector<SimpleCommand>& commands) {
  std::string out;
  for (const SimpleCommand& command : commands) {
    if (command.joint == Joint::if_failed) continue;
    out += "<";
    for (const ShellWord& word : std::span(command.words).subspan(1)) out += word.text + "|";
    out += ">";
  }
  return out;
}

std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

std::string said_by_bash(const std::string& script) {
  const std::unique_ptr<FILE, int (*)(FILE*)> bash(
      popen(fmt::format("bash --norc --noprofile {} 3>&1 1>/dev/null 2>&1", script).c_str(), "r"), &pclose);
  std::string out;
  char buffer[4096];
  for (std::size_t size = 0; (size = fread(buffer, 1, sizeof buffer, bash.get())) > 0;)
    out.append(buffer, size);
  return out;
}

TEST(ShellWords, AreThoseOfBash) {
  constexpr std::uint64_t kSeed = 20270117;
  SeededRandom random(kSeed);
  const TempFolder folder;
  std::vector<std::string> commands;
  std::vector<std::string> answers;
  std::ofstream script(folder.file("script"));
  script << "show() { { printf '<'; [ $# = 0 ] || printf '%s|' \"$@\"; printf '>'; } >&3; }\n";
  for (int tries = 0; tries < kTries; ++tries) {
    const std::string command = random_command(random);
    const ShellReading reading = read_shell(command);
    if (!reading || !can_be_compared(*reading)) continue;
    commands.push_back(command);
    answers.push_back(expected(*reading));
    script << "eval " << in_single_quotes(command) << "\nprintf '\\0' >&3\n";
  }
  script.close();
  EXPECT_GT(commands.size(), 500U);  // or nothing was tried
  const std::string said = said_by_bash(folder.file("script"));
  const auto lines = split(said, '\0');
  ASSERT_EQ(lines.size(), commands.size() + 1);
  for (std::size_t at = 0; at < commands.size(); ++at) {
    ASSERT_EQ(lines[at], answers[at]) << "seed " << kSeed << ": " << commands[at];
  }
}

}  // namespace
}  // namespace deputy
