// A real terminal, driven as a person would: keys in, what the screen shows out. Each has a server of its own
// that dies with it. Waiting is polling, with an end.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

class Tmux {
 public:
  Tmux(std::filesystem::path folder, int columns, int rows);
  ~Tmux();
  Tmux(const Tmux&) = delete;

  // Starts the program in the folder `work`, in place of what ran before.
  void run(const std::filesystem::path& work, const std::map<std::string, std::string>& environment,
           const std::vector<std::string>& words);
  // The same with a shell that has job control, and that finds the program by its name.
  void run_shell(const std::filesystem::path& work, const std::map<std::string, std::string>& environment);
  void type(std::string_view text) const;   // as it is
  void key(std::string_view name) const;    // "Enter", "C-c", "Tab"
  void paste(std::string_view text) const;  // as a terminal marks a paste
  void resize(int columns, int rows) const;
  std::string screen() const;
  // With what has scrolled away.
  std::string history() const;
  // Until the screen shows it; fails the test where it never does.
  bool wait_for(std::string_view text) const;
  bool wait_until_gone(std::string_view text) const;
  // Asked of tmux itself: what it writes into a dead pane comes late, or never.
  bool wait_until_ended() const;
  // As where a connection breaks: the terminal is closed, and the program is told so. Returns when it is
  // gone.
  void hang_up() const;
  // Every byte that the program writes from now on.
  void record(const std::filesystem::path& file) const;
  int program_id() const;
  int exit_status() const;  // of one that has ended

 private:
  std::string command(const std::vector<std::string>& words) const;
  void respawn(const std::filesystem::path& work, const std::map<std::string, std::string>& environment,
               const std::vector<std::string>& words);
  std::filesystem::path folder_;
};

}  // namespace deputy
