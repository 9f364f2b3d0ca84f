#include "net/sim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "async/sleep.h"
#include "async/waiter.h"
#include "net/curl_url.h"
#include "net/ip_address.h"

namespace deputy {

namespace {

// How a scripted fault ends the exchange.
Task<Result<HttpEnd>> play_fault(Loop& loop, SimFault fault, HttpRequest request, StopToken stop) {
  if (fault == SimFault::silence) {  // not a timer far away: a test's clock would jump there
    const Waiter<bool> stopped;
    const auto on_stop = stop.on_stop([stopped] { stopped.resume(true); });
    co_await stopped.wait();
    co_return std::unexpected(Error::cancelled());
  }
  const Duration lasts = fault == SimFault::unreachable ? Duration(request.connect_timeout) : Duration{};
  if (co_await sleep_for(loop, lasts, stop) == Slept::stopped) co_return std::unexpected(Error::cancelled());
  switch (fault) {
    case SimFault::refused:
      co_return fail(ErrorCode::unavailable, fmt::format("cannot reach {}: connection refused", request.url),
                     "check that the server runs");
    case SimFault::unreachable:
      co_return fail(ErrorCode::timeout, fmt::format("cannot reach {}: no connection in time", request.url),
                     "check the network");
    default:
      co_return fail(ErrorCode::io, fmt::format("the exchange with {} was cut", request.url), "try again");
  }
}

// Where a lookup leads: what was defined, or the address in the URL, or somewhere public.
std::optional<SocketAddress> peer_of(const std::string& url, const std::string& defined) {
  CurlUrl parsed;
  if (!parsed.take(url)) return std::nullopt;
  std::string host = defined.empty() ? parsed.part(CURLUPART_HOST) : defined;
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const IpAddress somewhere(IpAddress::V4{93, 184, 216, 34});
  return SocketAddress{parse_ip_address(host).value_or(somewhere),
                       std::uint16_t(std::stoi(parsed.part(CURLUPART_PORT)))};
}

}  // namespace

void SimNetwork::define(std::string url_prefix, Server server, std::vector<std::string> addresses) {
  hosts_.insert_or_assign(std::move(url_prefix), Host{std::move(server), std::move(addresses)});
}

SimNetwork::Host* SimNetwork::host_for(const std::string& url) {
  Host* longest = nullptr;  // of prefixes of one text, the longest sorts last
  for (auto& [prefix, host] : hosts_) {
    if (url.starts_with(prefix)) longest = &host;
  }
  return longest;
}

Task<Result<HttpEnd>> SimNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  Host* const host = host_for(request.url);
  if (!host) {
    co_return fail(ErrorCode::unavailable, fmt::format("cannot reach {}: no such host", request.url),
                   "check the name");
  }
  if (request.reach == Reach::public_only) {
    const auto& all = host->addresses;
    const std::string found = all.empty() ? "" : all[std::min(host->lookups++, all.size() - 1)];
    const auto peer = peer_of(request.url, found);
    if (!peer || !is_public_web(*peer)) {
      co_return fail(ErrorCode::denied, fmt::format("cannot reach {}: not of the open internet", request.url),
                     "only public addresses are reached, at the ports 80 and 443");
    }
  }
  const SimExchange script = host->server(request);
  if (co_await sleep_for(loop_, script.delay, stop) == Slept::stopped) {
    co_return std::unexpected(Error::cancelled());
  }
  const bool later =
      script.fault == SimFault::none ||
      (script.fault_after && (script.fault == SimFault::cut || script.fault == SimFault::silence));
  if (!later) co_return co_await play_fault(loop_, script.fault, std::move(request), stop);

  if (sink.start) sink.start({script.status, script.headers});
  HttpEnd end{script.status, script.headers, 0};
  for (const SimChunk& chunk : script.chunks) {
    if (co_await sleep_for(loop_, chunk.after, stop) == Slept::stopped) {
      co_return std::unexpected(Error::cancelled());
    }
    std::string_view bytes = chunk.bytes;
    if (script.fault != SimFault::none) bytes = bytes.substr(0, *script.fault_after - end.bytes);
    end.bytes += bytes.size();
    if (sink.bytes && !bytes.empty()) sink.bytes(bytes);
    if (sink.drain && !stop.stopped()) co_await sink.drain();
    if (script.fault != SimFault::none && end.bytes == *script.fault_after) break;
  }
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());  // the sink stopped it
  if (script.fault != SimFault::none) {
    co_return co_await play_fault(loop_, script.fault, std::move(request), stop);
  }
  co_return end;
}

}  // namespace deputy
