// A store that keeps everything in memory: the reference the others are compared with, and the store of
// simulations. Several may share one Memory, as several processes share one database; it outlives them, as a
// disk outlives a crash.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "store/commit_queue.h"
#include "store/store.h"
#include "store/transcript_files.h"

namespace deputy {

class MemoryStore final : public Store {
 public:
  struct Memory {
    std::vector<Event> journal;
    std::map<SessionId, Session> sessions;
    std::map<SessionId, std::uint64_t> epochs;
    std::map<SessionId, const void*> holders;
    std::vector<Letter> inbox;
    std::int64_t letters_so_far = 0;
  };

  // `files` may be null: then there are no transcripts.
  MemoryStore(Loop& loop, std::shared_ptr<Memory> memory, std::unique_ptr<TranscriptFiles> files = nullptr);
  ~MemoryStore() override;

  Task<Result<void>> record(std::vector<Event> events) override;
  void ride_along(std::vector<Event> events) override;
  Result<std::vector<Event>> claim(const SessionId& tree) override;
  void release(const SessionId& tree) override;
  Result<std::optional<std::string>> holder(const SessionId& tree) const override;
  Result<std::optional<Session>> session(const SessionId& id) const override;
  Result<std::vector<Session>> sessions(const SessionFilter& filter) const override;
  Result<std::vector<Event>> events_of_session(const SessionId& id) const override;
  Result<std::vector<Event>> events_of_tree(const SessionId& tree) const override;
  Result<std::optional<Session>> child_of(const DelegationKey& key) const override;
  Result<std::int64_t> post(const Letter& letter) override;
  Result<std::vector<Letter>> letters(const SessionId& tree) const override;
  Result<void> discard(std::int64_t letter) override;
  void carry(Riders riders) override { queue_.carry(std::move(riders)); }
  void subscribe(Listener listener) override;
  Counts counts() const override;
  std::optional<Error> export_failure() const override;

 private:
  Result<void> commit(const EventRefs& events);

  std::shared_ptr<Memory> memory_;
  std::unique_ptr<TranscriptFiles> files_;
  std::map<SessionId, std::uint64_t> claimed_;
  CommitQueue queue_;
};

}  // namespace deputy
