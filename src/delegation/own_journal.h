// A run's way to the journal, until its end is recorded in its place: what it says after that is not taken.
// What it records is heard.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "delegation/deadlines.h"
#include "store/journal.h"

namespace deputy {

class OwnJournal final : public Journal {
 public:
  OwnJournal(Journal& journal, Deadlines& deadlines, SessionId id)
      : journal_(journal), deadlines_(deadlines), id_(std::move(id)) {}

  Task<Result<void>> record(std::vector<Event> events) override {
    if (is_closed_) co_return std::unexpected(Error::cancelled());
    deadlines_.heard(id_);
    co_return co_await journal_.record(std::move(events));
  }
  void ride_along(std::vector<Event> events) override {
    if (is_closed_) return;
    deadlines_.heard(id_);
    journal_.ride_along(std::move(events));
  }
  Fact as_kept(Fact fact) const override { return journal_.as_kept(std::move(fact)); }
  std::size_t settled(std::string_view text) const override {
    return is_closed_ ? 0 : journal_.settled(text);
  }

  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

 private:
  Journal& journal_;
  Deadlines& deadlines_;
  SessionId id_;
  bool is_closed_ = false;
};

}  // namespace deputy
