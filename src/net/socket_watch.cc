#include "net/socket_watch.h"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <utility>

namespace deputy {

namespace {

constexpr std::chrono::milliseconds kLookAgain{10};

}  // namespace

struct SocketWatch::State : std::enable_shared_from_this<State> {
  State(SystemLoop& on, curl_socket_t socket, Ready told)
      : loop(on), stream(on.executor()), ready(std::move(told)) {
    boost::system::error_code refused;
    stream.assign(socket, refused);
  }

  void arm() {
    for (const int direction : {CURL_POLL_IN, CURL_POLL_OUT}) {
      if ((wanted & direction) && !(waiting & direction)) wait(direction);
    }
  }

  void wait(int direction) {
    waiting |= direction;
    if (!stream.is_open()) {
      loop.timers().call_at(loop.clock().now() + kLookAgain, [direction, weak = weak_from_this()] {
        if (const auto alive = weak.lock()) alive->tell(direction, 0);
      });
      return;
    }
    const bool in = direction == CURL_POLL_IN;
    stream.async_wait(
        in ? boost::asio::posix::stream_descriptor::wait_read
           : boost::asio::posix::stream_descriptor::wait_write,
        [direction, in, weak = weak_from_this()](const auto& error) {
          const auto alive = weak.lock();
          if (!alive || error == boost::asio::error::operation_aborted) return;
          alive->tell(direction, error ? CURL_CSELECT_ERR : in ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
        });
  }

  void tell(int direction, int events) {
    waiting &= ~direction;
    if (!(wanted & direction)) return;  // its owner changed its mind meanwhile
    ready(events);
    arm();  // a watch that is gone wants nothing any more
  }

  SystemLoop& loop;
  boost::asio::posix::stream_descriptor stream;  // not open when the system could not take the socket
  Ready ready;
  int wanted = 0;
  int waiting = 0;  // the directions that a wait is under way for
};

SocketWatch::SocketWatch(SystemLoop& loop, curl_socket_t socket, Ready ready)
    : state_(std::make_shared<State>(loop, socket, std::move(ready))) {}

SocketWatch::~SocketWatch() {
  state_->wanted = 0;
  if (state_->stream.is_open()) state_->stream.release();
}

void SocketWatch::want(int directions) {
  state_->wanted = directions;
  state_->arm();
}

}  // namespace deputy
