#include "sandbox/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sandbox/init/protocol.h"

namespace deputy {
namespace {

constexpr const char* kSearched[] = {"/usr/local/bin", "/usr/bin", "/bin"};
// Descriptors from here on cannot be overwritten while the child's are put in place.
constexpr int kAboveTargets = init::kFirstFree + static_cast<int>(kMostDescriptors) + 1;

struct Pipe {
  OwnedFd reader;
  OwnedFd writer;
};

// A limit on descriptors that lies below these makes them an invalid argument to the kernel.
Result<OwnedFd> copy_above_targets(int descriptor) {
  OwnedFd copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveTargets));
  if (copy) return copy;
  return std::unexpected(error_from_errno(errno == EINVAL ? EMFILE : errno, "duplicate a descriptor"));
}

// Moved up if it stands where the child's descriptors will stand.
Result<OwnedFd> clear_of_targets(OwnedFd descriptor) {
  if (descriptor.get() >= kAboveTargets) return descriptor;
  return copy_above_targets(descriptor.get());
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(error_from_errno(errno, "make a pipe"));
  OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  TRY(reader, clear_of_targets(std::move(reader)));
  TRY(writer, clear_of_targets(std::move(writer)));
  return Pipe{std::move(reader), std::move(writer)};
}

// Like a pipe, but writing to one whose reader is gone raises no signal.
Result<Pipe> make_lifeline() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::unexpected(error_from_errno(errno, "make a pair of sockets"));
  OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  TRY(reader, clear_of_targets(std::move(reader)));
  return Pipe{std::move(reader), std::move(writer)};
}

// Not as arguments, which everybody on the machine may read, nor as bwrap's own environment, which would obey
// it outside the sandbox.
Result<OwnedFd> make_environment(const std::map<std::string, std::string>& environment) {
  OwnedFd file(::memfd_create("environment", MFD_CLOEXEC));
  if (!file) return std::unexpected(error_from_errno(errno, "make a file in memory"));
  std::string text;
  for (const auto& [name, value] : environment) {
    text += fmt::format("{}={}", name, value);
    text += '\0';
  }
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    return std::unexpected(error_from_errno(written < 0 ? errno : ENOMEM, "write to a file in memory"));
  return clear_of_targets(std::move(file));
}

Result<OwnedFd> open_null() {
  OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return std::unexpected(error_from_errno(errno, "open /dev/null"));
  return clear_of_targets(std::move(null));
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  void put(const OwnedFd& from, int at) { ::posix_spawn_file_actions_adddup2(&actions_, from.get(), at); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// deputy-init starts with all signals blocked, so that none can end it before it watches them, and none
// ignored.
class Attributes {
 public:
  Attributes() {
    sigset_t all;
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &all);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error spawn_error(int number, const std::string& program) {
  const std::string what = fmt::format("cannot start {}: {}", program, std::strerror(number));
  switch (number) {
    case ENOENT:
    case EACCES:
    case ENOEXEC:
      return {ErrorCode::unavailable, what,
              "reinstall deputy: deputy-init belongs beside the program, executable"};
    case E2BIG:
      return {ErrorCode::invalid, what, "the arguments or the environment are too long: pass less"};
    default:
      return {ErrorCode::exhausted, what,
              "the machine has no room for another process: end some, or raise ulimit -u"};
  }
}

Result<void> check_texts(const SpawnRequest& request) {
  const auto has_nul = [](const std::string& text) { return text.contains('\0'); };
  if (std::ranges::any_of(request.arguments, has_nul)) {
    return fail(ErrorCode::invalid, "an argument of a process contains a NUL byte", "leave it out");
  }
  for (const auto& [name, value] : request.environment) {
    if (name.empty() || name.contains('=') || has_nul(name) || has_nul(value)) {
      return fail(ErrorCode::invalid,
                  fmt::format("the environment variable \"{}\" cannot be passed on", name),
                  "names must not be empty or contain '=', and neither part a NUL byte");
    }
  }
  return {};
}

// Copies of descriptors that others own, kept until the child has its own.
class Passed {
 public:
  Result<void> put(FileActions& actions, int descriptor, int at) {
    TRY(OwnedFd copy, copy_above_targets(descriptor));
    actions.put(copy, at);
    copies_.push_back(std::move(copy));
    return {};
  }

 private:
  std::vector<OwnedFd> copies_;
};

// A failed start leaves nothing to wait for but the process itself.
Result<OwnedFd> watch_process(pid_t pid, OwnedFd& lifeline) {
  OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process) return process;
  const int why = errno;
  lifeline.reset();
  ::waitpid(pid, nullptr, 0);  // not long: it has lost its life line
  return std::unexpected(error_from_errno(why, "watch a process"));
}

}  // namespace

Result<Spawned> spawn_init(const SpawnRequest& request) {
  TRY(check_texts(request));
  if (request.descriptors.size() > kMostDescriptors) {
    return fail(ErrorCode::invalid, "a process was given too many folders", "name folders that contain them");
  }
  TRY(const OwnedFd null, open_null());
  TRY(Pipe output, make_pipe());
  TRY(Pipe errors, make_pipe());
  TRY(Pipe status, make_pipe());
  // Not a pipe: bwrap would die of it if we were gone, and leave behind what it has begun.
  OwnedFd info(::memfd_create("info", MFD_CLOEXEC));
  if (!info) return std::unexpected(error_from_errno(errno, "make a file in memory"));
  TRY(info, clear_of_targets(std::move(info)));
  TRY(Pipe lifeline, make_lifeline());
  TRY(const OwnedFd environment, make_environment(request.environment));
  Passed passed;
  FileActions actions;
  actions.put(null, STDIN_FILENO);
  actions.put(output.writer, STDOUT_FILENO);
  actions.put(errors.writer, STDERR_FILENO);
  actions.put(lifeline.reader, init::kLifeline);
  actions.put(status.writer, init::kStatus);
  actions.put(environment, init::kEnvironment);
  if (request.start >= 0) TRY(passed.put(actions, request.start, init::kStart));
  int at = init::kFirstFree;
  for (const int descriptor : request.descriptors) TRY(passed.put(actions, descriptor, at++));
  if (request.info_at >= 0) actions.put(info, request.info_at);
  for (const auto* reader : {&output.reader, &errors.reader, &status.reader}) {
    ::fcntl(reader->get(), F_SETFL, O_NONBLOCK);
  }

  std::vector<std::string> arguments{request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  char* nothing[] = {nullptr};
  Spawned spawned;
  const int number = ::posix_spawn(&spawned.pid, request.program.c_str(), actions.get(), Attributes().get(),
                                   pointers_to(arguments).data(), nothing);
  if (number != 0) return std::unexpected(spawn_error(number, request.program));
  TRY(spawned.process, watch_process(spawned.pid, lifeline.writer));
  spawned.lifeline = std::move(lifeline.writer);
  spawned.output = std::move(output.reader);
  spawned.errors = std::move(errors.reader);
  spawned.status = std::move(status.reader);
  if (request.info_at >= 0) spawned.info = std::move(info);
  return spawned;
}

Result<std::string> find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.starts_with('/')) {
    if (executable(name)) return name;
  } else if (!name.empty() && !name.contains('/')) {
    for (const std::string folder : kSearched) {
      if (auto path = fmt::format("{}/{}", folder, name); executable(path)) return path;
    }
  } else {
    return fail(ErrorCode::invalid, fmt::format("\"{}\" does not name a program", name),
                "give a name to look for in /usr/local/bin, /usr/bin and /bin, or an absolute path");
  }
  return fail(ErrorCode::not_found,
              fmt::format("there is no program {} (looked in /usr/local/bin, /usr/bin and /bin)", name),
              fmt::format("install {}", name));
}

}  // namespace deputy
