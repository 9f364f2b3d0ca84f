#include "app/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"

namespace deputy {

void OutStream::write(std::string_view text) {
  while (!text.empty() && !is_closed_) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {  // somebody before us made it non-blocking
      pollfd asked{descriptor_, POLLOUT, 0};
      ::poll(&asked, 1, -1);
      continue;
    }
    is_closed_ = true;
    if (errno != EPIPE) failure_ = error_from_errno(errno, "write the output");
  }
}

void OutStream::write_line(std::string_view text) {
  std::string line(text);
  if (!line.ends_with('\n')) line += '\n';
  write(line);
}

void keep_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken, which is this one.
    if (::open("/dev/null", O_RDWR) < 0) return;  // seam: this is no file of ours
  }
}

Result<std::string> read_stdin(std::size_t most) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd asked{STDIN_FILENO, POLLIN, 0};
      ::poll(&asked, 1, -1);
      continue;
    }
    if (count < 0) return std::unexpected(error_from_errno(errno, "read stdin"));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most) {
      return fail(ErrorCode::exhausted,
                  fmt::format("what came on stdin is larger than {} bytes", with_thousands(most)),
                  "put large material into files for the agent to read");
    }
  }
}

}  // namespace deputy
