#include "async/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <optional>

#include "async/sleep.h"
#include "async/waiter.h"

namespace deputy {

namespace {

// Asks the system from time to time: for when the reactor cannot take the descriptor.
Task<Readiness> look_until_readable(SystemLoop& loop, int descriptor, StopToken stop) {
  for (;;) {
    pollfd asked{descriptor, POLLIN, 0};
    if (::poll(&asked, 1, 0) > 0) co_return Readiness::ready;
    if (co_await sleep_for(loop, std::chrono::milliseconds(10), stop) == Slept::stopped)
      co_return Readiness::stopped;
  }
}

}  // namespace

Task<Readiness> wait_readable(SystemLoop& loop, int descriptor, StopToken stop) {
  if (stop.stopped()) co_return Readiness::stopped;
  // A duplicate: the owner may close the original, and this frame may die with the loop, without one closing
  // the other's.
  const int flags = ::fcntl(descriptor, F_GETFL);
  const int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) co_return co_await look_until_readable(loop, descriptor, stop);

  boost::asio::posix::stream_descriptor stream(loop.executor());
  boost::system::error_code refused;
  stream.assign(duplicate, refused);
  if (refused) {
    ::close(duplicate);
    co_return co_await look_until_readable(loop, descriptor, stop);
  }
  const Waiter<std::optional<Readiness>> waiter;  // nothing: the reactor failed
  stream.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [waiter](const boost::system::error_code& error) {
                      waiter.resume(error ? std::nullopt : std::optional(Readiness::ready));
                    });
  // The reactor made it non-blocking for all who share it, and needs that for nothing: a shell may have the
  // terminal at any time from here on.
  if (flags >= 0) ::fcntl(duplicate, F_SETFL, flags);
  const auto on_stop = stop.on_stop([waiter] { waiter.resume(Readiness::stopped); });
  const auto readiness = co_await waiter.wait();
  if (!readiness) co_return co_await look_until_readable(loop, descriptor, stop);
  co_return *readiness;
}

}  // namespace deputy
