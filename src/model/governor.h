// Paces the requests that share a rate limit: one Governor for each provider, key and model in the whole
// process. They wait in one line, parents before their children and what has come far before what begins;
// who was rejected stands behind who was not: it may never fit, and must not keep the others. Who has waited
// long enough goes first, so nobody waits for ever. How fast the line moves: pace.h.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "async/waiter.h"
#include "model/pace.h"
#include "net/network.h"

namespace deputy {

class Governor {
 public:
  // Who comes first.
  struct Rank {
    int depth = 0;
    std::size_t messages = 0;
    TimePoint since{};        // when it got in line, the last time
    std::int64_t tokens = 0;  // what it weighs, for limits on tokens
    int rejections = 0;       // that it has met with
  };

  // Leave to send one request. What came of it is told to it; a turn that ends untold was neither accepted
  // nor rejected.
  class Turn {
   public:
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    void accepted(const HttpHeaders& headers);
    // Also after it was accepted: some say no only in the middle of an answer.
    void rejected(std::optional<Duration> retry_after, bool is_overload = false);

   private:
    friend class Governor;
    Turn(Governor& governor, std::uint64_t number) : governor_(&governor), number_(number) {}
    Governor* governor_;
    std::uint64_t number_;
  };

  explicit Governor(Loop& loop, Pace pace = Pace()) : loop_(loop), pace_(std::move(pace)) {}
  ~Governor();
  Governor(const Governor&) = delete;

  // Nothing when stopped, or once it is certain that nobody gets a turn for longer than `longest_wait`.
  Task<std::optional<Turn>> enter(Rank rank, Duration longest_wait, StopToken stop);

  // How long it is certain that nobody gets a turn.
  Duration shut_for() const;
  TimePoint last_accepted() const { return pace_.last_accepted(); }
  std::size_t waiting() const { return line_.size(); }

 private:
  struct Waiting {
    Rank rank;
    Duration longest_wait{};
    Waiter<std::uint64_t> turn;  // the number of its request; 0 when it gets none
  };
  using Line = std::list<Waiting>;  // in order of arrival
  struct LeavesLine;

  Line::iterator first_in_line(TimePoint now);
  void send_away();
  void give_turns();
  void wake_at(TimePoint when);
  // Gives turns on behalf of one who needs none: where memory is short, the timer does it later.
  void move_on() noexcept;

  Loop& loop_;
  Line line_;
  Pace pace_;
  std::optional<TimerId> timer_;
};

// The governors of a process.
class Governors {
 public:
  explicit Governors(Loop& loop) : loop_(loop) {}
  // `account` is whom the limit is for: an address and a key. `at_once`: see Pace.
  Governor& of(const std::string& account, const std::string& model, int at_once = 1);

 private:
  Loop& loop_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Governor>> all_;
};

}  // namespace deputy
