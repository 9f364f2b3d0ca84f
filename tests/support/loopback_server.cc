#include "support/loopback_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace deputy {

namespace {

constexpr int kBound = 30;  // seconds that a read or write may take

sockaddr_in loopback(const std::string& ip, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, ip.c_str(), &address.sin_addr), 1) << ip;
  address.sin_port = htons(std::uint16_t(port));
  return address;
}

void bound_waits(int socket) {
  const timeval bound{kBound, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
}

}  // namespace

bool Peer::shake_hands(SSL_CTX* context) {
  tls_.reset(SSL_new(context));
  SSL_set_fd(tls_.get(), socket_);
  return SSL_accept(tls_.get()) == 1;
}

std::string Peer::read_some() {
  if (!ahead_.empty()) return std::exchange(ahead_, {});
  std::array<char, 16384> buffer;
  const auto got = tls_ ? SSL_read(tls_.get(), buffer.data(), int(buffer.size()))
                        : ::recv(socket_, buffer.data(), buffer.size(), 0);
  return {buffer.data(), got > 0 ? std::size_t(got) : 0};
}

std::string Peer::read_exactly(std::size_t size) {
  std::string got = std::exchange(ahead_, {});
  while (got.size() < size) {
    const std::string more = read_some();
    if (more.empty()) return got;
    got += more;
  }
  ahead_ = got.substr(size);
  got.resize(size);
  return got;
}

std::string Peer::read_request() {
  std::string got;
  for (;;) {
    if (const auto head = got.find("\r\n\r\n"); head != std::string::npos) {
      const auto at = got.find("Content-Length: ");
      const auto size = head + 4 + (at < head ? std::stoul(got.substr(at + 16)) : 0);
      if (got.size() >= size) {
        ahead_ = got.substr(size);
        got.resize(size);
        return got;
      }
    }
    const std::string more = read_some();
    if (more.empty()) return {};
    got += more;
  }
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent =
        tls_ ? SSL_write(tls_.get(), bytes.data(), int(std::min<std::size_t>(bytes.size(), 1 << 20)))
             : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(std::size_t(sent));
  }
  return true;
}

bool Peer::closes_within(std::chrono::milliseconds time) {
  pollfd asked{socket_, POLLIN, 0};
  while (::poll(&asked, 1, int(time.count())) > 0) {
    std::array<char, 16384> passed_over;
    if (::recv(socket_, passed_over.data(), passed_over.size(), 0) <= 0) return true;
  }
  return false;
}

void Peer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  // The descriptor stays ours until the play has ended; what is put in its place closes the connection.
  const int spare = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::dup3(spare, socket_, O_CLOEXEC);
  ::close(spare);
}

void Peer::join(int other_port) {
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback("127.0.0.1", other_port);
  bound_waits(other);
  if (::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string first = std::exchange(ahead_, {});
    ::send(other, first.data(), first.size(), MSG_NOSIGNAL);
    std::array<pollfd, 2> both{{{socket_, POLLIN, 0}, {other, POLLIN, 0}}};
    std::array<char, 16384> buffer;
    for (bool open = true; open && ::poll(both.data(), both.size(), kBound * 1000) > 0;) {
      for (const int from : {0, 1}) {
        if (!both[from].revents) continue;
        const auto got = ::recv(both[from].fd, buffer.data(), buffer.size(), 0);
        open = got > 0 && ::send(both[1 - from].fd, buffer.data(), std::size_t(got), MSG_NOSIGNAL) == got;
        if (!open) break;
      }
    }
  }
  ::close(other);
}

LoopbackServer::LoopbackServer(const Place& place)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), ip_(place.ip) {
  sockaddr_in address = loopback(place.ip, place.port);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
}

LoopbackServer::LoopbackServer(Play play, std::shared_ptr<SSL_CTX> tls, const Place& place)
    : LoopbackServer(place) {
  tls_ = std::move(tls);
  EXPECT_EQ(::listen(listener_, 1024), 0);
  acceptor_ = std::jthread([this, played = std::move(play)] { accept_all(played, tls_.get()); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_, SHUT_RDWR);
  if (acceptor_.joinable()) acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [socket, player] : players_) ::shutdown(socket, SHUT_RDWR);
  }
  wait_for_players();
  ::close(listener_);
}

void LoopbackServer::finish() {
  ::shutdown(listener_, SHUT_RDWR);
  if (acceptor_.joinable()) acceptor_.join();
  wait_for_players();
}

// Once no more connections are taken. Those who end meanwhile find themselves gone from the map.
void LoopbackServer::wait_for_players() {
  std::map<int, std::jthread> playing;
  {
    const std::lock_guard lock(mutex_);
    playing.swap(players_);
  }
  playing.clear();
  ended_.clear();
}

void LoopbackServer::accept_all(const Play& play, SSL_CTX* tls) {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && errno == EMFILE) {  // until the test gives some back
      std::this_thread::yield();
      continue;
    }
    if (socket < 0) return;
    ++connections_;
    bound_waits(socket);
    const std::lock_guard lock(mutex_);
    ended_.clear();  // a thread that nobody joins keeps its stack: a server that lives long would run out
    players_.emplace(socket, [this, socket, play, tls] { serve(socket, play, tls); });
  }
}

void LoopbackServer::serve(int socket, const Play& play, SSL_CTX* tls) {
  sigset_t pipe;  // SSL_write cannot be told MSG_NOSIGNAL
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  {
    Peer peer(socket);
    if (!tls || peer.shake_hands(tls)) play(peer);
  }
  const std::lock_guard lock(mutex_);
  if (auto self = players_.extract(socket)) ended_.push_back(std::move(self.mapped()));
  ::close(socket);
}

}  // namespace deputy
