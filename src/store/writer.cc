#include "store/writer.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace deputy {

struct ThreadWriter::State {
  std::function<void()> drain;
  std::mutex mutex;
  std::condition_variable changed;
  bool wanted = false;
  bool ending = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return wanted || ending; });
      if (!wanted) return;
      wanted = false;
      lock.unlock();
      drain();
      lock.lock();
    }
  }
};

ThreadWriter::ThreadWriter() : state_(std::make_unique<State>()) {}

ThreadWriter::~ThreadWriter() { ThreadWriter::stop(); }

void ThreadWriter::start(std::function<void()> drain) {
  state_->drain = std::move(drain);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

void ThreadWriter::wake() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = true;
  }
  state_->changed.notify_one();
}

// The drain that goes on takes what it was woken for; one that ends has no time.
bool ThreadWriter::is_woken_before(TimePoint latest) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_until(lock, latest, [this] { return state_->wanted || state_->ending; });
  return std::exchange(state_->wanted, false);
}

void ThreadWriter::stop() {
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = true;  // what rode along last is written too
    state_->ending = true;
  }
  state_->changed.notify_one();
  state_->thread.join();
}

void InlineWriter::start(std::function<void()> drain) {
  drain_ = std::make_shared<std::function<void()>>(std::move(drain));
}

void InlineWriter::wake() {
  loop_.post([drain = std::weak_ptr(drain_)] {
    if (const auto alive = drain.lock()) (*alive)();
  });
}

void InlineWriter::stop() {
  if (!drain_) return;
  (*drain_)();
  drain_.reset();
}

}  // namespace deputy
