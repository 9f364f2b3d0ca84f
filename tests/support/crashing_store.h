// A store that dies at a chosen record, as a process does: nothing is durable after that, nothing that rode
// along unrecorded survives, and everybody who asks is told that it failed. What rides along and asks for a
// commit counts as a record; one of nothing does not.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "store/commit_queue.h"
#include "store/store.h"

namespace deputy {

struct CrashPoint {
  int at_record = 0;      // counted from 1; 0: never
  bool committed = true;  // whether the record that it dies at still reached the disk
  // Whether the commands that run then end with it; otherwise they come to their end, which is written down.
  bool ends_commands = false;
};

class CrashingStore : public Store {
 public:
  CrashingStore(
      std::unique_ptr<Store> inner, CrashPoint point, std::function<void()> end_commands = [] {})
      : inner_(std::move(inner)), point_(point), end_commands_(std::move(end_commands)) {}

  Task<Result<void>> record(std::vector<Event> events) override {
    if (crashed_) co_return crash();
    if (events.empty() && riding_.empty()) co_return co_await inner_->record({});
    const bool dies_here = dies_at_next();
    if (dies_here && !point_.committed) co_return crash();
    late_ += events.empty() ? 1 : 0;
    std::vector<Event> unit = std::exchange(riding_, {});
    std::move(events.begin(), events.end(), std::back_inserter(unit));
    const std::size_t count = unit.size();
    auto result = co_await inner_->record(std::move(unit));
    if (result) acknowledged_ += count;
    if (dies_here) co_return crash();
    co_return result;
  }
  void ride_along(std::vector<Event> events) override {
    if (crashed_) return;
    const bool is_commit =
        std::ranges::any_of(events, [](const Event& event) { return is_spending(event.fact); });
    std::move(events.begin(), events.end(), std::back_inserter(riding_));
    if (!is_commit || (dies_at_next() && !point_.committed)) return;
    inner_->ride_along(std::exchange(riding_, {}));
  }
  Fact as_kept(Fact fact) const override { return inner_->as_kept(std::move(fact)); }
  std::size_t settled(std::string_view text) const override { return inner_->settled(text); }

  Result<std::vector<Event>> claim(const SessionId& tree) override { return inner_->claim(tree); }
  void release(const SessionId& tree) override { inner_->release(tree); }
  Result<std::optional<std::string>> holder(const SessionId& tree) const override {
    return inner_->holder(tree);
  }
  Result<std::optional<Session>> session(const SessionId& id) const override { return inner_->session(id); }
  Result<std::vector<Session>> sessions(const SessionFilter& filter) const override {
    return inner_->sessions(filter);
  }
  Result<std::vector<Event>> events_of_session(const SessionId& id) const override {
    return inner_->events_of_session(id);
  }
  Result<std::vector<Event>> events_of_tree(const SessionId& tree) const override {
    return inner_->events_of_tree(tree);
  }
  Result<std::optional<Session>> child_of(const DelegationKey& key) const override {
    return inner_->child_of(key);
  }
  Result<std::int64_t> post(const Letter& letter) override { return inner_->post(letter); }
  Result<std::vector<Letter>> letters(const SessionId& tree) const override {
    if (crashed_) return crash();
    return inner_->letters(tree);
  }
  Result<void> discard(std::int64_t letter) override {
    if (crashed_) return crash();
    return inner_->discard(letter);
  }
  void carry(Riders riders) override { inner_->carry(std::move(riders)); }
  void subscribe(Listener listener) override { inner_->subscribe(std::move(listener)); }
  Counts counts() const override { return inner_->counts(); }
  std::optional<Error> export_failure() const override { return inner_->export_failure(); }

  // What rode along last is handed on, as by a process that is not killed.
  void end() {
    if (!riding_.empty()) inner_->ride_along(std::exchange(riding_, {}));
  }

  bool crashed() const { return crashed_; }
  int records() const { return records_; }
  int late_records() const { return late_; }  // of those, the ones of nothing but what rode along
  std::size_t acknowledged() const { return acknowledged_; }  // events, of all trees

 private:
  bool dies_at_next() {
    const bool dies_here = ++records_ == point_.at_record;
    if (dies_here) crashed_ = true;
    if (dies_here && point_.ends_commands) end_commands_();
    return dies_here;
  }
  static std::unexpected<Error> crash() { return fail(ErrorCode::io, "the simulated process died here"); }

  std::unique_ptr<Store> inner_;
  CrashPoint point_;
  std::function<void()> end_commands_;
  std::vector<Event> riding_;
  int records_ = 0;
  int late_ = 0;
  std::size_t acknowledged_ = 0;
  bool crashed_ = false;
};

}  // namespace deputy
