#include "net/curl_bridge.h"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cassert>
#include <chrono>
#include <new>
#include <utility>

namespace deputy {

namespace {

constexpr std::size_t kStreamsPerConnection = 100;  // what servers usually allow, and curl's own limit
constexpr std::chrono::milliseconds kLookAgain{10};

}  // namespace

// A socket that curl waits for. The descriptor is curl's: it is given back before curl closes it.
struct CurlBridge::Watch {
  Watch(SystemLoop& loop, curl_socket_t watched) : socket(watched), stream(loop.executor()) {
    boost::system::error_code refused;
    stream.assign(watched, refused);
  }
  ~Watch() {
    if (stream.is_open()) stream.release();
  }
  const curl_socket_t socket;
  boost::asio::posix::stream_descriptor stream;  // not open when the system could not take the socket
  int wanted = 0;                                // CURL_POLL_IN | CURL_POLL_OUT
  int waiting = 0;                               // the directions that a wait is under way for
};

CurlBridge::CurlBridge(SystemLoop& loop, Connections connections)
    : loop_(loop), multi_(curl_multi_init()), connections_(connections) {
  if (!multi_) throw std::bad_alloc();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlBridge::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlBridge::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

CurlBridge::~CurlBridge() {
  assert(!inside_ && "a sink must not destroy its network");
  *alive_ = false;
  while (!under_way_.empty()) end(under_way_.begin()->first, CURLE_ABORTED_BY_CALLBACK);
  curl_multi_cleanup(multi_);
  if (timer_) loop_.timers().cancel(*timer_);
}

void CurlBridge::add(CURL* easy, Ended ended) {
  assert(!inside_);
  under_way_.emplace(easy, std::move(ended));
  limit_connections();
  if (curl_multi_add_handle(multi_, easy) != CURLM_OK) end(easy, CURLE_OUT_OF_MEMORY);
}

void CurlBridge::abort(CURL* easy) {
  if (inside_) {
    to_abort_.push_back(easy);
  } else {
    end(easy, CURLE_ABORTED_BY_CALLBACK);
  }
}

void CurlBridge::end(CURL* easy, CURLcode code) {
  auto found = under_way_.extract(easy);
  if (found.empty()) return;
  curl_multi_remove_handle(multi_, easy);
  limit_connections();
  found.mapped()(code);
}

void CurlBridge::limit_connections() {
  if (connections_ == Connections::unlimited) return;
  const auto count = under_way_.size();
  const long limit = count <= kStreamsPerConnection
                         ? 0
                         : long((count + kStreamsPerConnection - 1) / kStreamsPerConnection + 1);
  if (std::exchange(limit_, limit) != limit) {
    curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, limit);
  }
}

int CurlBridge::on_socket(CURL*, curl_socket_t socket, int what, void* bridge, void*) {
  auto& self = *static_cast<CurlBridge*>(bridge);
  if (what == CURL_POLL_REMOVE) {
    if (const auto found = self.watches_.extract(socket); !found.empty()) {
      Watch& watch = *found.mapped();
      watch.wanted = 0;
      if (watch.stream.is_open()) watch.stream.release();
    }
    return 0;
  }
  auto& watch = self.watches_[socket];
  if (!watch) watch = std::make_shared<Watch>(self.loop_, socket);
  watch->wanted = what & CURL_POLL_INOUT;
  self.arm(watch);
  return 0;
}

int CurlBridge::on_timer(CURLM*, long timeout_ms, void* bridge) {
  auto& self = *static_cast<CurlBridge*>(bridge);
  if (self.timer_) self.loop_.timers().cancel(*std::exchange(self.timer_, std::nullopt));
  if (timeout_ms < 0) return 0;
  if (timeout_ms == 0) {
    self.act_soon();
    return 0;
  }
  const auto when = self.loop_.clock().now() + std::chrono::milliseconds(timeout_ms);
  self.timer_ = self.loop_.timers().call_at(when, [&self] {
    self.timer_.reset();
    self.act(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void CurlBridge::arm(const std::shared_ptr<Watch>& watch) {
  for (const int direction : {CURL_POLL_IN, CURL_POLL_OUT}) {
    if ((watch->wanted & direction) && !(watch->waiting & direction)) wait(watch, direction);
  }
}

void CurlBridge::wait(const std::shared_ptr<Watch>& watch, int direction) {
  watch->waiting |= direction;
  // Weak: only watches_ keeps a watch, so one that is still there proves that the bridge is too.
  if (!watch->stream.is_open()) {  // curl is told to look for itself from time to time
    loop_.timers().call_at(loop_.clock().now() + kLookAgain, [this, direction, weak = std::weak_ptr(watch)] {
      if (const auto alive = weak.lock()) ready(alive, direction, 0);
    });
    return;
  }
  const bool in = direction == CURL_POLL_IN;
  watch->stream.async_wait(
      in ? boost::asio::posix::stream_descriptor::wait_read
         : boost::asio::posix::stream_descriptor::wait_write,
      [this, direction, in, weak = std::weak_ptr(watch)](const auto& error) {
        const auto alive = weak.lock();
        if (!alive || error == boost::asio::error::operation_aborted) return;
        ready(alive, direction, error ? CURL_CSELECT_ERR : in ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
      });
}

void CurlBridge::ready(const std::shared_ptr<Watch>& watch, int direction, int events) {
  watch->waiting &= ~direction;
  if (!(watch->wanted & direction)) return;  // curl changed its mind meanwhile
  act(watch->socket, events);
  arm(watch);  // a watch that was removed wants nothing any more
}

void CurlBridge::act(curl_socket_t socket, int events) {
  int running = 0;
  inside_ = true;
  curl_multi_socket_action(multi_, socket, events, &running);
  settle();
}

// As curl wishes before every request: a timer for it would cost two calls of the kernel.
void CurlBridge::act_soon() {
  if (acts_soon_) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    acts_soon_ = false;
    act(CURL_SOCKET_TIMEOUT, 0);
  });
  acts_soon_ = true;
}

void CurlBridge::go_on(CURL* easy) {
  inside_ = true;  // what curl still holds is handed out at once
  curl_easy_pause(easy, CURLPAUSE_CONT);
  settle();
}

// What is left to do when curl has returned.
void CurlBridge::settle() {
  inside_ = false;
  for (CURL* const easy : std::exchange(to_abort_, {})) end(easy, CURLE_ABORTED_BY_CALLBACK);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
  }
}

}  // namespace deputy
