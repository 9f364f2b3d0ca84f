#include "sandbox/background.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace deputy {
namespace {

constexpr std::size_t kMostAnnounced = 4096;

std::unexpected<Error> cannot(const char* what) {
  return std::unexpected(error_from_errno(errno, std::string(what) + " for a process in the background"));
}

std::string read_to_end(int descriptor, std::size_t most) {
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < most) {
    const ssize_t size = ::read(descriptor, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::string kept(const OwnedFd& file) {
  ::lseek(file.get(), 0, SEEK_SET);
  return read_to_end(file.get(), std::size_t{16} * 1024 * 1024);
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void Announcer::announce(const std::string& text) {
  if (!pipe_) return;
  // Before it is heard: who hears it may look at once for what this process holds of theirs.
  const OwnedFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), stream);
  (void)!::write(pipe_.get(), text.data(), std::min(text.size(), kMostAnnounced));
  pipe_.reset();
}

Result<std::variant<Announcer, Announced, EndedEarly>> go_on_in_background() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("make a pipe");
  OwnedFd heard(ends[0]);
  OwnedFd said(ends[1]);
  const OwnedFd out(::memfd_create("out", MFD_CLOEXEC));
  const OwnedFd err(::memfd_create("err", MFD_CLOEXEC));
  if (!out || !err) return cannot("keep the output");
  const pid_t copy = ::fork();
  if (copy < 0) return cannot("start a copy");
  if (copy == 0) {
    ::setsid();
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(err.get(), STDERR_FILENO);
    return Announcer(std::move(said));
  }
  said.reset();
  if (auto text = read_to_end(heard.get(), kMostAnnounced); !text.empty()) return Announced{std::move(text)};
  const int status = status_of(copy);
  return EndedEarly{status, kept(out), kept(err)};
}

}  // namespace deputy
