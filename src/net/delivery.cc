#include "net/delivery.h"

namespace deputy {

void Delivery::stop() {
  stopped_ = true;
  if (!ended_) give_up();
}

template <class Call>
bool Delivery::tell(Call call) {
  if (stopped_ || thrown_) return false;
  try {
    call();
  } catch (...) {
    thrown_ = std::current_exception();
  }
  return !stopped_ && !thrown_;
}

bool Delivery::hand_out(const HttpResponse& head) {
  end_.status = head.status;
  end_.headers = head.headers;
  return tell([&] {
    if (sink_.start) sink_.start(head);
  });
}

bool Delivery::hand_out(std::string_view piece) {
  end_.bytes += piece.size();
  const bool goes_on = tell([&] {
    if (sink_.bytes && !piece.empty()) sink_.bytes(piece);
  });
  if (goes_on && sink_.drain && !draining_) {
    draining_ = true;
    news_.resume(true);
  }
  return goes_on;
}

void Delivery::ended() {
  ended_ = true;
  news_.resume(true);
}

Task<HttpEnd> Delivery::wait_for_end() {
  while (!ended_) {
    co_await news_.wait();
    news_ = {};
    if (ended_ || !draining_) continue;
    try {
      co_await sink_.drain();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    draining_ = false;
    if (ended_) continue;
    if (thrown_) {
      give_up();
    } else {
      go_on();
    }
  }
  if (thrown_) std::rethrow_exception(thrown_);
  co_return std::move(end_);
}

}  // namespace deputy
