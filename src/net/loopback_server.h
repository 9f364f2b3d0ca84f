// A tiny HTTP server for tests: a thread that plays a script on blocking sockets at a free port of 127.0.0.1.
// Every wait has a bound, so that a test that goes wrong fails instead of hanging.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace deputy {

class LoopbackServer {
 public:
  // A client that has connected.
  class Peer {
   public:
    explicit Peer(int socket) : socket_(socket) {}
    Peer(Peer&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    ~Peer() {
      if (socket_ >= 0) ::close(socket_);
    }
    // Head and body of one request; empty when the client has gone.
    std::string read_request() const {
      std::string got;
      for (;;) {
        if (const auto head = got.find("\r\n\r\n"); head != std::string::npos) {
          const auto at = got.find("Content-Length: ");
          const auto body = at < head ? std::stoul(got.substr(at + 16)) : 0;
          if (got.size() >= head + 4 + body) return got;
        }
        const std::string more = read_some();
        if (more.empty()) return {};
        got += more;
      }
    }
    void write(const std::string& text) const {
      EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
    }
    // Whether the client closes, without another word.
    bool sees_close() const {
      if (!ready(socket_)) return false;
      char byte = 0;
      return ::recv(socket_, &byte, 1, 0) <= 0;
    }

   private:
    std::string read_some() const {
      char buffer[4096];
      if (!ready(socket_)) return {};
      const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
      return {buffer, got > 0 ? std::size_t(got) : 0};
    }
    int socket_;
  };
  using Script = std::function<void(LoopbackServer&)>;

  explicit LoopbackServer(Script script) : LoopbackServer() {
    EXPECT_EQ(::listen(listener_, 16), 0);
    thread_ =
        std::jthread([this, play = std::move(script)] { play(*this); });  // seam: a peer, not the program
  }
  // One that refuses every connection: its port is taken, but nobody listens.
  LoopbackServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~LoopbackServer() {
    finish();
    ::close(listener_);
  }
  LoopbackServer(const LoopbackServer&) = delete;

  Peer accept() const {
    if (!ready(listener_)) ADD_FAILURE() << "nobody connected";
    return Peer(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url(const std::string& path = "/") const { return "http://" + address() + path; }
  // Waits for the end of the script: what it wrote to the test's variables may be read then.
  void finish() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  static bool ready(int socket) {
    pollfd asked{socket, POLLIN, 0};
    return ::poll(&asked, 1, 30'000) > 0;
  }
  int listener_;
  int port_ = 0;
  std::jthread thread_;  // seam: a peer, not the program
};

}  // namespace deputy
