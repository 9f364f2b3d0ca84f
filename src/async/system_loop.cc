#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>

#include "async/loop.h"

namespace deputy {

namespace {

// One system timer, armed for the earliest of all that are pending.
class SystemTimers final : public Timers {
 public:
  SystemTimers(boost::asio::io_context& context, const Clock& clock) : clock_(clock), timer_(context) {}
  ~SystemTimers() override { forget_all(); }

 protected:
  void earliest_changed() override { arm(); }

 private:
  // One that is armed for an earlier moment stays: it finds nothing due, and is armed again.
  void arm() {
    const auto when = earliest();
    if (!when || (armed_ && *armed_ <= *when)) return;
    armed_.reset();  // for want of memory it may not be armed at all
    timer_.expires_at(std::chrono::steady_clock::time_point(when->time_since_epoch()));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;  // re-armed for another moment
      armed_.reset();
      for (const TimerId id : due(clock_.now())) fire(id);
      arm();
    });
    armed_ = when;
  }

  const Clock& clock_;
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> armed_;
};

}  // namespace

struct SystemLoop::State {
  SystemClock clock;
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_awake{
      context.get_executor()};
  SystemTimers timers{context, clock};
};

SystemLoop::SystemLoop() : state_(std::make_unique<State>()) {}
SystemLoop::~SystemLoop() = default;

Executor SystemLoop::executor() { return state_->context.get_executor(); }
const Clock& SystemLoop::clock() const { return state_->clock; }
Timers& SystemLoop::timers() { return state_->timers; }

void SystemLoop::post(std::move_only_function<void()> work) {
  boost::asio::post(state_->context, std::move(work));
}

void SystemLoop::run() {
  state_->context.run();
  state_->context.restart();  // afterwards, not before: a stop that came early must count
}

void SystemLoop::stop() { state_->context.stop(); }

}  // namespace deputy
