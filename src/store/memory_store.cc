#include "store/memory_store.h"

#include <algorithm>

#include "store/session_view.h"
#include "store/unique_facts.h"

namespace deputy {

MemoryStore::MemoryStore(Loop& loop, std::shared_ptr<Memory> memory, std::unique_ptr<TranscriptFiles> files)
    : memory_(std::move(memory)),
      files_(std::move(files)),
      queue_(loop, std::make_unique<InlineWriter>(loop),
             [this](const auto& events) { return commit(events); }) {}

MemoryStore::~MemoryStore() {
  std::erase_if(memory_->holders, [this](const auto& held) { return held.second == this; });
}

Task<Result<void>> MemoryStore::record(std::vector<Event> events) { return queue_.record(std::move(events)); }
void MemoryStore::ride_along(std::vector<Event> events) { queue_.ride_along(std::move(events)); }
void MemoryStore::subscribe(Listener listener) { queue_.subscribe(std::move(listener)); }
Store::Counts MemoryStore::counts() const { return queue_.counts(); }

std::optional<Error> MemoryStore::export_failure() const { return files_ ? files_->failure() : std::nullopt; }

Result<std::vector<Event>> MemoryStore::claim(const SessionId& tree) {
  const void* held_by = memory_->holders.emplace(tree, this).first->second;
  if (held_by != this) return std::unexpected(held_elsewhere(tree, "another store"));
  claimed_[tree] = ++memory_->epochs[tree];
  if (files_) {
    for (const auto& [id, session] : memory_->sessions) {
      if (session.tree != tree) continue;
      TRY(const auto of_session, events_of_session(id));
      files_->rebuild(session, EventRefs(of_session.begin(), of_session.end()));
    }
  }
  TRY(auto events, events_of_tree(tree));
  queue_.open_tree(tree, events.empty() ? 0 : events.back().seq);
  return events;
}

void MemoryStore::release(const SessionId& tree) {
  const auto held = memory_->holders.find(tree);
  if (held != memory_->holders.end() && held->second == this) memory_->holders.erase(held);
}

Result<std::optional<std::string>> MemoryStore::holder(const SessionId& tree) const {
  const auto held = memory_->holders.find(tree);
  if (held == memory_->holders.end()) return std::nullopt;
  return held->second == this ? "this store" : "another store";
}

Result<void> MemoryStore::commit(const EventRefs& events) {
  for (const Event& event : events) {
    if (memory_->epochs[event.tree] != claimed_[event.tree]) return std::unexpected(fenced_off(event.tree));
    if (!must_be_unique(event.fact)) continue;
    const auto same = [&event](const Event& other) { return same_place_and_kind(event, other); };
    if (std::ranges::any_of(memory_->journal, same)) return std::unexpected(recorded_twice(event));
  }
  for (const Event& event : events) {
    if (files_ && begins_again(event)) {
      TRY(const auto before, events_of_session(event.run.session));
      files_->reopen(EventRefs(before.begin(), before.end()));
    }
    memory_->journal.push_back(event);
    apply_to_session(memory_->sessions[event.run.session], event);
  }
  if (files_) files_->write(events);
  return {};
}

Result<std::optional<Session>> MemoryStore::session(const SessionId& id) const {
  const auto found = memory_->sessions.find(id);
  if (found == memory_->sessions.end()) return std::nullopt;
  return found->second;
}

Result<std::vector<Session>> MemoryStore::sessions(const SessionFilter& filter) const {
  std::vector<Session> found;
  for (const auto& [id, session] : memory_->sessions) {
    if (filter.parent && session.parent != filter.parent) continue;
    if (filter.tree && session.tree != *filter.tree) continue;
    if (filter.roots_only && session.parent) continue;
    if (filter.unfinished_only && is_terminal(session.state)) continue;
    found.push_back(session);
  }
  std::ranges::sort(found, [](const Session& a, const Session& b) {
    return std::tie(b.created_at, b.id) < std::tie(a.created_at, a.id);
  });
  if (found.size() > filter.most) found.resize(filter.most);
  return found;
}

Result<std::vector<Event>> MemoryStore::events_of_session(const SessionId& id) const {
  std::vector<Event> found;
  std::ranges::copy_if(memory_->journal, std::back_inserter(found),
                       [&id](const Event& event) { return event.run.session == id; });
  return found;
}

Result<std::vector<Event>> MemoryStore::events_of_tree(const SessionId& tree) const {
  std::vector<Event> found;
  std::ranges::copy_if(memory_->journal, std::back_inserter(found),
                       [&tree](const Event& event) { return event.tree == tree; });
  return found;
}

Result<std::int64_t> MemoryStore::post(const Letter& letter) {
  memory_->inbox.push_back(letter);
  return memory_->inbox.back().id = ++memory_->letters_so_far;
}

Result<std::vector<Letter>> MemoryStore::letters(const SessionId& tree) const {
  std::vector<Letter> found;
  std::ranges::copy_if(memory_->inbox, std::back_inserter(found),
                       [&tree](const Letter& letter) { return letter.tree == tree; });
  return found;
}

Result<void> MemoryStore::discard(std::int64_t letter) {
  std::erase_if(memory_->inbox, [letter](const Letter& each) { return each.id == letter; });
  return {};
}

Result<std::optional<Session>> MemoryStore::child_of(const DelegationKey& key) const {
  for (const auto& [id, session] : memory_->sessions) {
    if (session.delegation == key) return session;
  }
  return std::nullopt;
}

}  // namespace deputy
