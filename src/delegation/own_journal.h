// A run's way to the journal, until its end is recorded in its place: what it says after that is not taken.
#pragma once

#include <utility>
#include <vector>

#include "store/journal.h"

namespace deputy {

class OwnJournal final : public Journal {
 public:
  explicit OwnJournal(Journal& journal) : journal_(journal) {}

  Task<Result<void>> record(std::vector<Event> events) override {
    if (is_closed_) co_return std::unexpected(Error::cancelled());
    co_return co_await journal_.record(std::move(events));
  }
  void ride_along(std::vector<Event> events) override {
    if (!is_closed_) journal_.ride_along(std::move(events));
  }
  Fact as_kept(Fact fact) const override { return journal_.as_kept(std::move(fact)); }

  void close() { is_closed_ = true; }

 private:
  Journal& journal_;
  bool is_closed_ = false;
};

}  // namespace deputy
