// The one place where secrets are taken out of what is kept, and of what follows from it: events that
// listeners get, transcripts, and what models are told of results, notes, briefs and reports. A store behind
// it never sees one. Reads pass through.
#pragma once

#include <memory>

#include "base/redaction.h"
#include "store/store.h"

namespace deputy {

// A fact without secrets. Values that must be hidden are hidden everywhere; what only looks like a key stays
// in a model's own reply, because its calls must run as it wrote them, and what it never saw it cannot
// betray.
Fact redacted(Fact fact, const Redactor& redactor);

class RedactingStore final : public Store {
 public:
  // `redactor` outlives the store.
  RedactingStore(std::unique_ptr<Store> inner, const Redactor& redactor)
      : inner_(std::move(inner)), redactor_(redactor) {}

  Task<Result<void>> record(std::vector<Event> events) override;
  void ride_along(std::vector<Event> events) override;
  Fact as_kept(Fact fact) const override { return redacted(std::move(fact), redactor_); }
  std::size_t settled(std::string_view text) const override { return redactor_.settled(text, text.size()); }

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
  Result<std::int64_t> post(const Letter& letter) override;
  Result<std::vector<Letter>> letters(const SessionId& tree) const override { return inner_->letters(tree); }
  Result<void> discard(std::int64_t letter) override { return inner_->discard(letter); }
  void carry(Riders riders) override {
    inner_->carry([this, riders = std::move(riders)] { return clean(riders()); });
  }
  void subscribe(Listener listener) override { inner_->subscribe(std::move(listener)); }
  Counts counts() const override { return inner_->counts(); }
  std::optional<Error> export_failure() const override { return inner_->export_failure(); }

 private:
  std::vector<Event> clean(std::vector<Event> events) const;

  std::unique_ptr<Store> inner_;
  const Redactor& redactor_;
};

}  // namespace deputy
