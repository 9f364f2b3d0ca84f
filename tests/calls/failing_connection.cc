#include "failing_connection.h"

#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace deputy::calls {
namespace {

constinit thread_local FailingConnection* failing = nullptr;
constinit std::atomic<int> lookup_error = 0;

int reason_to_refuse(const char* name, std::initializer_list<int> reasons) {
  return failing ? failing->refuses(name, reasons) : 0;
}

bool is_refused(const char* name, std::initializer_list<int> reasons) {
  const int reason = reason_to_refuse(name, reasons);
  if (reason != 0) errno = reason;
  return reason != 0;
}

// The C library's.
template <class Call>
Call* real(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

FailingConnection::FailingConnection(std::string_view call, int at, std::size_t choice, How how)
    : call_(call), at_(at), choice_(choice), how_(how) {
  failing = this;
}

FailingConnection::~FailingConnection() { failing = nullptr; }

int FailingConnection::refuses(std::string_view call, std::initializer_list<int> reasons) {
  const bool is_first = ++made_[call] == at_ && call == call_;
  if (!is_first && (refused_.reason == 0 || how_ == How::alone)) return 0;
  const int reason = reasons.begin()[choice_ % reasons.size()];
  if (is_first) refused_ = {reason, reasons.size()};
  return reason;
}

FailingLookup::FailingLookup(int error) { lookup_error = error; }

FailingLookup::~FailingLookup() { lookup_error = 0; }

}  // namespace deputy::calls

using namespace deputy::calls;

// Each with what it can say of a socket that does not wait, the commonest first.
extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  static auto* const call = real<int(int, int, int)>("socket");
  return is_refused("socket", {EMFILE, ENOBUFS, EACCES}) ? -1 : call(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  static auto* const call = real<int(int, int, int, int*)>("socketpair");
  return is_refused("socketpair", {EMFILE, ENOMEM}) ? -1 : call(domain, type, protocol, ends);
}

int connect(int socket, const sockaddr* address, socklen_t size) {
  static auto* const call = real<int(int, const sockaddr*, socklen_t)>("connect");
  return is_refused("connect", {ECONNREFUSED, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EPERM})
             ? -1
             : call(socket, address, size);
}

// What a connection that was begun came to is asked so: the answer, not the call, is the bad one.
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) noexcept {
  static auto* const call = real<int(int, int, int, void*, socklen_t*)>("getsockopt");
  const int answered = call(socket, level, name, value, size);
  if (level != SOL_SOCKET || name != SO_ERROR || answered != 0) return answered;
  const int late = reason_to_refuse("getsockopt", {ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ECONNRESET});
  if (late != 0) std::memcpy(value, &late, sizeof late);
  return 0;
}

int setsockopt(int socket, int level, int name, const void* value, socklen_t size) noexcept {
  static auto* const call = real<int(int, int, int, const void*, socklen_t)>("setsockopt");
  return is_refused("setsockopt", {ENOMEM, ENOPROTOOPT}) ? -1 : call(socket, level, name, value, size);
}

int getsockname(int socket, sockaddr* address, socklen_t* size) noexcept {
  static auto* const call = real<int(int, sockaddr*, socklen_t*)>("getsockname");
  return is_refused("getsockname", {ENOBUFS}) ? -1 : call(socket, address, size);
}

int getpeername(int socket, sockaddr* address, socklen_t* size) noexcept {
  static auto* const call = real<int(int, sockaddr*, socklen_t*)>("getpeername");
  return is_refused("getpeername", {ENOTCONN, ENOBUFS}) ? -1 : call(socket, address, size);
}

ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  static auto* const call = real<ssize_t(int, const void*, size_t, int)>("send");
  return is_refused("send", {ECONNRESET, EPIPE, ETIMEDOUT, ENOBUFS, EAGAIN, EINTR})
             ? -1
             : call(socket, bytes, size, flags);
}

ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  static auto* const call = real<ssize_t(int, void*, size_t, int)>("recv");
  return is_refused("recv", {ECONNRESET, ETIMEDOUT, ENOMEM, EAGAIN, EINTR})
             ? -1
             : call(socket, bytes, size, flags);
}

int poll(pollfd* asked, nfds_t count, int wait) {
  static auto* const call = real<int(pollfd*, nfds_t, int)>("poll");
  return is_refused("poll", {ENOMEM, EINTR}) ? -1 : call(asked, count, wait);
}

// What is watched already can be watched otherwise, whatever there is too little of.
int epoll_ctl(int watcher, int what, int descriptor, epoll_event* event) noexcept {
  static auto* const call = real<int(int, int, int, epoll_event*)>("epoll_ctl");
  if (what == EPOLL_CTL_ADD && is_refused("epoll_ctl", {ENOSPC, ENOMEM})) return -1;
  return call(watcher, what, descriptor, event);
}

// The CA file.
FILE* fopen64(const char* path, const char* mode) {
  static auto* const call = real<FILE*(const char*, const char*)>("fopen64");
  return is_refused("fopen64", {EMFILE, ENFILE}) ? nullptr : call(path, mode);
}

int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* const call = real<int(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo");
  if (!name || std::string_view(name) != kServerName) return call(name, service, hints, found);
  return lookup_error != 0 ? lookup_error.load() : call("127.0.0.1", service, hints, found);
}

}  // extern "C"
