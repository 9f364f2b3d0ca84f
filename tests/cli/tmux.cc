#include "tmux.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <cctype>
#include <cstdio>
#include <fstream>

#include "app/places.h"
#include "support/paths.h"

namespace deputy {
namespace {

constexpr int kLooks = 1500;  // of 20 ms each
constexpr int kBetweenLooks = 20;

std::string output_of(const std::string& line) {
  std::string out;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (!pipe) return out;
  char bytes[4096];
  while (const std::size_t count = ::fread(bytes, 1, sizeof bytes, pipe)) out.append(bytes, count);
  ::pclose(pipe);
  return out;
}

template <class Look>
bool poll_until(Look look) {
  for (int at = 0; at < kLooks; ++at) {
    if (look()) return true;
    ::poll(nullptr, 0, kBetweenLooks);
  }
  return false;
}

}  // namespace

Tmux::Tmux(std::filesystem::path folder, int columns, int rows) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  command({"new-session", "-d", "-x", std::to_string(columns), "-y", std::to_string(rows), "cat"});
  command({"set-option", "-g", "remain-on-exit", "on"});
  command({"set-option", "-g", "history-limit", "10000"});
  command({"set-option", "-g", "status", "off"});
}

Tmux::~Tmux() { command({"kill-server"}); }

std::string Tmux::command(const std::vector<std::string>& words) const {
  std::string line = "env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 TERM=xterm tmux -f /dev/null -S " +
                     shell_quoted((folder_ / "socket").string());
  for (const auto& word : words) line += " " + shell_quoted(word);
  return output_of(line + " 2>&1");
}

void Tmux::run(const std::filesystem::path& work, const std::map<std::string, std::string>& environment,
               const std::vector<std::string>& words) {
  std::vector<std::string> all{bin_dir() + "/deputy"};
  all.insert(all.end(), words.begin(), words.end());
  respawn(work, environment, all);
}

void Tmux::run_shell(const std::filesystem::path& work,
                     const std::map<std::string, std::string>& environment) {
  auto variables = environment;
  variables["PATH"] = bin_dir() + ":/usr/bin:/bin";
  variables["PS1"] = "shell> ";
  respawn(work, variables, {"/bin/bash", "--norc", "--noprofile", "-i"});
}

void Tmux::respawn(const std::filesystem::path& work, const std::map<std::string, std::string>& environment,
                   const std::vector<std::string>& words) {
  std::string line = "exec env -i";
  for (const auto& [name, value] : environment) line += " " + shell_quoted(name + "=" + value);
  for (const auto& word : words) line += " " + shell_quoted(word);
  command({"respawn-pane", "-k", "-c", work.string(), line});
}

void Tmux::type(std::string_view text) const { command({"send-keys", "-l", std::string(text)}); }
void Tmux::key(std::string_view name) const { command({"send-keys", std::string(name)}); }

void Tmux::paste(std::string_view text) const {
  std::ofstream(folder_ / "paste") << text;
  command({"load-buffer", (folder_ / "paste").string()});
  command({"paste-buffer", "-p"});
}

void Tmux::resize(int columns, int rows) const {
  command({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
}

std::string Tmux::screen() const { return command({"capture-pane", "-p"}); }
std::string Tmux::history() const { return command({"capture-pane", "-p", "-J", "-S", "-"}); }

bool Tmux::wait_for(std::string_view text) const {
  if (poll_until([&] { return screen().contains(text); })) return true;
  ADD_FAILURE() << "the screen never showed \"" << text << "\":\n" << screen();
  return false;
}

bool Tmux::wait_until_gone(std::string_view text) const {
  if (poll_until([&] { return !screen().contains(text); })) return true;
  ADD_FAILURE() << "the screen still shows \"" << text << "\":\n" << screen();
  return false;
}

bool Tmux::wait_until_ended() const {
  if (poll_until([&] { return command({"display-message", "-p", "#{pane_dead}"}).starts_with('1'); }))
    return true;
  ADD_FAILURE() << "the program goes on:\n" << screen();
  return false;
}

void Tmux::hang_up() const {
  const int program = program_id();
  command({"respawn-pane", "-k", "cat"});
  if (poll_until([&] { return ::kill(program, 0) != 0; })) return;
  ADD_FAILURE() << "the program goes on without its terminal";
}

void Tmux::record(const std::filesystem::path& file) const {
  command({"pipe-pane", "exec cat > " + shell_quoted(file.string())});
}

int Tmux::program_id() const { return std::atoi(command({"display-message", "-p", "#{pane_pid}"}).c_str()); }

// tmux may miss the end of a program until another one that it started ends, too.
int Tmux::exit_status() const {
  std::string told;
  const auto is_told = [&] {
    command({"run-shell", "true"});
    told = command({"display-message", "-p", "#{pane_dead_status}"});
    const int number = std::atoi(command({"display-message", "-p", "#{pane_dead_signal}"}).c_str());
    if (number > 0) told = std::to_string(128 + number);  // as a shell tells it
    return !told.empty() && std::isdigit(static_cast<unsigned char>(told.front())) != 0;
  };
  if (poll_until(is_told)) return std::atoi(told.c_str());
  ADD_FAILURE() << "the program has no exit status";
  return -1;
}

}  // namespace deputy
