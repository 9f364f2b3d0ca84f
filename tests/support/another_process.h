// For tests of what another user meets.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

namespace deputy {

// Runs `work` in a process that has made something else of itself, and returns what that says.
inline std::string in_another_process(const std::function<bool()>& become,
                                      const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto text = become() ? work() : std::string("cannot be had here");
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text(16384, '\0');
  std::size_t length = 0;
  for (ssize_t count = 1; count > 0; length += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = ::read(ends[0], text.data() + length, text.size() - length);
  text.resize(length);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

inline constexpr uid_t kNobody = 65534;

inline bool become_nobody() {
  return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
}

// Root becomes one; others are.
inline bool become_ordinary() { return ::getuid() != 0 || become_nobody(); }

}  // namespace deputy
