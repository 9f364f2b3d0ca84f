#include "net/sim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "async/sleep.h"
#include "async/waiter.h"

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

}  // namespace

void SimNetwork::define(std::string url_prefix, Handler handler) {
  handlers_.insert_or_assign(std::move(url_prefix), std::move(handler));
}

const SimNetwork::Handler* SimNetwork::handler_for(const std::string& url) const {
  const Handler* longest = nullptr;  // of prefixes of one text, the longest sorts last
  for (const auto& [prefix, handler] : handlers_) {
    if (url.starts_with(prefix)) longest = &handler;
  }
  return longest;
}

Task<Result<HttpEnd>> SimNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  const Handler* const handler = handler_for(request.url);
  if (!handler) {
    co_return fail(ErrorCode::unavailable, fmt::format("cannot reach {}: no such host", request.url),
                   "check the name");
  }
  const SimExchange script = (*handler)(request);
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
    if (script.fault != SimFault::none && end.bytes == *script.fault_after) break;
  }
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());  // the sink stopped it
  if (script.fault != SimFault::none) {
    co_return co_await play_fault(loop_, script.fault, std::move(request), stop);
  }
  co_return end;
}

}  // namespace deputy
