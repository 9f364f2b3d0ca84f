// Who does the store's writing: a thread of its own, or in simulation the loop itself. wake() asks for one
// more call of `drain` soon; calls of drain never overlap.
#pragma once

#include <functional>
#include <memory>

#include "async/loop.h"

namespace deputy {

class StoreWriter {
 public:
  virtual ~StoreWriter() = default;  // a last drain, then no more
  virtual void start(std::function<void()> drain) = 0;
  virtual void wake() = 0;  // from any thread
  // For `drain`, which may have more to do that has time: whether another is asked for before then.
  virtual bool is_woken_before(TimePoint) { return false; }
  virtual void stop() = 0;
};

class ThreadWriter final : public StoreWriter {
 public:
  ThreadWriter();
  ~ThreadWriter() override;
  void start(std::function<void()> drain) override;
  void wake() override;
  bool is_woken_before(TimePoint latest) override;
  void stop() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class InlineWriter final : public StoreWriter {
 public:
  explicit InlineWriter(Loop& loop) : loop_(loop) {}
  void start(std::function<void()> drain) override;
  void wake() override;
  void stop() override;

 private:
  Loop& loop_;
  std::shared_ptr<std::function<void()>> drain_;
};

}  // namespace deputy
