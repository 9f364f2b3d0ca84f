// A server for tests on the loopback, plain or with TLS: each connection is played by a function
// on a thread of its own, with blocking reads and writes. Every wait has a bound, so that a test that goes
// wrong fails instead of hanging.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace deputy {

// A client that has connected.
class Peer {
 public:
  explicit Peer(int socket) : socket_(socket) {}
  Peer(const Peer&) = delete;

  // From here on it is spoken with TLS. False when the client did not agree.
  bool shake_hands(SSL_CTX* context);
  std::string read_some();                     // empty: the client has gone
  std::string read_exactly(std::size_t size);  // less: the client has gone
  // Head and body of one HTTP/1.1 request; empty when the client has gone.
  std::string read_request();
  bool write(std::string_view bytes);  // false: the client has gone
  // Whether the client closes within the time; what it still says is passed over.
  bool closes_within(std::chrono::milliseconds time = std::chrono::seconds(30));
  // Closes with a RST instead of a FIN.
  void reset();
  // Hands on what the two say, until one has gone. For proxies.
  void join(int other_port);

 private:
  friend class LoopbackServer;
  int socket_;
  std::unique_ptr<SSL, void (*)(SSL*)> tls_{nullptr, SSL_free};
  std::string ahead_;  // read, but not asked for yet
};

class LoopbackServer {
 public:
  using Play = std::function<void(Peer&)>;
  // An address of 127.0.0.0/8; port 0 is any that is free.
  struct Place {
    std::string ip = "127.0.0.1";
    int port = 0;
  };
  explicit LoopbackServer(Play play, std::shared_ptr<SSL_CTX> tls = nullptr,
                          const Place& place = {"127.0.0.1", 0});
  // One that refuses every connection: its port is taken, but nobody listens.
  LoopbackServer() : LoopbackServer(Place{}) {}
  // Ends what is still being played.
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;

  // Takes no more connections and waits for what is being played: what it wrote to the test's variables may
  // be read then.
  void finish();
  int port() const { return port_; }
  std::string address() const { return ip_ + ":" + std::to_string(port_); }
  std::string url(const std::string& path = "/") const { return "http://" + address() + path; }
  int connections() const { return connections_; }

 private:
  explicit LoopbackServer(const Place& place);
  void accept_all(const Play& play, SSL_CTX* tls);
  void serve(int socket, const Play& play, SSL_CTX* tls);
  void wait_for_players();

  int listener_;
  std::string ip_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::shared_ptr<SSL_CTX> tls_;
  std::mutex mutex_;
  std::map<int, std::jthread> players_;  // by socket: of the connections that are open
  std::vector<std::jthread> ended_;      // of those that are over: joined when the next one comes
  std::jthread acceptor_;
};

}  // namespace deputy
