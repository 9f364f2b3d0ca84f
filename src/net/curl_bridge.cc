#include "net/curl_bridge.h"

#include <cassert>
#include <chrono>
#include <new>
#include <utility>

namespace deputy {

CurlBridge::CurlBridge(SystemLoop& loop) : loop_(loop), multi_(curl_multi_init()) {
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

void CurlBridge::add(CURL* easy, Ended ended) { add(easy, UnderWay{std::move(ended)}); }

void CurlBridge::connect(CURL* easy, Ended connected) {
  add(easy, UnderWay{std::move(connected), /*stays_connected=*/true});
}

void CurlBridge::add(CURL* easy, UnderWay added) {
  assert(!inside_);
  under_way_.emplace(easy, std::move(added));
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
  const auto found = under_way_.find(easy);
  if (found == under_way_.end()) return;
  Ended ended = std::exchange(found->second.ended, nullptr);
  if (code != CURLE_OK || !found->second.stays_connected) {
    under_way_.erase(found);
    curl_multi_remove_handle(multi_, easy);
  }
  if (ended) ended(code);
}

int CurlBridge::on_socket(CURL*, curl_socket_t socket, int what, void* bridge, void*) {
  auto& self = *static_cast<CurlBridge*>(bridge);
  if (what == CURL_POLL_REMOVE) {
    self.watches_.erase(socket);
    return 0;
  }
  auto& watch = self.watches_[socket];
  if (!watch) {
    watch = std::make_unique<SocketWatch>(self.loop_, socket,
                                          [&self, socket](int events) { self.act(socket, events); });
  }
  watch->want(what & CURL_POLL_INOUT);
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
