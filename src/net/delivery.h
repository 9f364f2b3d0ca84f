// What the ways of making an exchange share: handing the answer to its sink, until it is stopped or the sink
// has thrown, and the task that waits for the end. For this folder only.
#pragma once

#include <exception>
#include <string_view>

#include "async/task.h"
#include "async/waiter.h"
#include "net/network.h"

namespace deputy {

class Delivery {
 public:
  explicit Delivery(HttpSink sink) : sink_(std::move(sink)) {}
  Delivery(const Delivery&) = delete;
  // Nothing is handed out any more; the exchange is given up.
  void stop();

 protected:
  virtual ~Delivery() = default;
  // Ends the exchange as soon as it may be ended; ended() follows, at once or later.
  virtual void give_up() = 0;
  // The sink has worked on what it got: more may come.
  virtual void go_on() = 0;

  // False: the exchange is over for its caller.
  bool hand_out(const HttpResponse& head);
  bool hand_out(std::string_view piece);
  // After a piece: the sink works on it, and wants no more until go_on().
  bool is_draining() const { return draining_; }
  bool is_stopped() const { return stopped_; }
  bool has_ended() const { return ended_; }
  const HttpEnd& so_far() const { return end_; }

  void ended();
  // As if nothing had happened: before anything was handed out.
  void begin_again() { ended_ = false; }
  // Waits for it, with the sink's drain in between; throws what the sink has thrown.
  Task<HttpEnd> wait_for_end();

 private:
  template <class Call>
  bool tell(Call call);
  HttpSink sink_;
  HttpEnd end_;
  bool stopped_ = false;
  bool draining_ = false;
  bool ended_ = false;
  std::exception_ptr thrown_;  // by the sink: it may not pass through a C library
  Waiter<bool> news_;          // that the sink is to drain, or that it has ended
};

}  // namespace deputy
