// The one door to the network: one HTTP exchange. A request goes out, status and headers come back once, then
// the body in pieces as they arrive; redirects are an answer like any other, and nothing is kept between
// exchanges but connections. CurlNetwork (curl_network.h) speaks to the world, SimNetwork (sim_network.h)
// plays what a test scripted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "base/result.h"

namespace deputy {

struct HttpHeader {
  std::string name;
  std::string value;
  bool operator==(const HttpHeader&) const = default;
};
using HttpHeaders = std::vector<HttpHeader>;

// What a line of the head says, its name in lower case; nothing where it is no header.
std::optional<HttpHeader> header_in(std::string_view line);

// The first of that name, whatever its case.
std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name);

// Whom a request may reach. public_only: an address that is not of the open internet is refused at the moment
// of connecting, whatever name, redirect or lookup led to it, and no proxy is used. The web's own ports only.
enum class Reach { anywhere, public_only };

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http:// or https://
  HttpHeaders headers;
  std::string body;
  // Until the connection stands, name lookup and TLS included. How long an answer may take is the caller's to
  // decide, with a StopToken.
  std::chrono::milliseconds connect_timeout{10'000};
  Reach reach = Reach::anywhere;
};

// Of one answer's head, all lines together. More is an answer gone wrong.
inline constexpr std::size_t kMaxHeadBytes = 256 * 1024;

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // in the order they came, names in lower case
};

// Called on the loop while the exchange is under way, never after a stop. Either may be left empty.
struct HttpSink {
  std::function<void(const HttpResponse&)> start;  // once, before the first bytes
  std::function<void(std::string_view)> bytes;     // a piece of the body, valid during the call
  // For a sink that cannot do its work within the call: awaited after a piece, while no more is read and the
  // sender is held back. A few pieces that were read already may still come before it.
  std::function<Task<>()> drain;
};

struct HttpEnd {
  int status = 0;
  HttpHeaders headers;
  std::uint64_t bytes = 0;  // of the body
};

class Network {
 public:
  virtual ~Network() = default;
  // Any status is a success. Error::invalid when the request cannot be meant; Error::unavailable when no
  // connection came about (name, connection, TLS, proxy); Error::denied when it would have led where `reach`
  // forbids; Error::timeout when it did not come about in time; Error::io when the exchange was cut;
  // Error::cancelled when stopped, and then the exchange is given up at once.
  // What the sink throws is thrown on.
  virtual Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) = 0;
};

}  // namespace deputy
