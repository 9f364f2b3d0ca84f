// Transcripts and scratchpads as files for people: exports of the journal, written after the commit and not
// synced, since the journal is the truth. While a session runs: {label}-{uuid}.transcript.jsonl, a message a
// line; at its end the same name with .json, whole. Notes go to {label}-{uuid}.scratch.md beside it. No
// descriptor stays open.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "store/journal.h"
#include "transcript/event.h"

namespace deputy {

class TranscriptFiles {
 public:
  // `folder` is $DEPUTY_HOME/subagent.
  explicit TranscriptFiles(std::unique_ptr<Folder> folder) : folder_(std::move(folder)) {}

  // Blocking; called by the store's writer with what was just committed. What cannot be written is left out
  // and said by failure(): a commit does not fail for want of its export.
  void write(const EventRefs& events);
  // The files of a session that an earlier process began, made anew from its events unless they are whole.
  // Each is replaced at once, so that a process which is just doing the same does no harm.
  void rebuild(const Session& session, const EventRefs& events);
  // Seals what an earlier process began: a session that has not ended as interrupted, where that was left.
  void seal_left(const Session& session, const EventRefs& events);
  // Those of a session that begins another run; `events` are all before it.
  void reopen(const EventRefs& events);
  bool is_sealed(const Session& session) const;  // as it ended, or was left
  bool is_begun(const Session& session) const;   // there is one that is not sealed
  bool is_done(const Session& session) const;    // it has ended, and rebuild() would change nothing
  // Of which sessions a transcript was begun that is not sealed. Looks at every file there is.
  Result<std::set<Uuid>> begun() const;
  // The first thing that could not be written. From any thread.
  std::optional<Error> failure() const;

  static std::string stem_of(const Session& session);                 // "{label}-{uuid}", safe as a file name
  static std::vector<std::string> names_for(const Session& session);  // those that its files may have
  // Whose file it is; nothing where it is no transcript or scratchpad.
  static std::optional<Uuid> uuid_in(std::string_view file_name);

 private:
  struct Known {
    std::string stem;
    Session session;
  };
  // What is added to the files of a session: each is opened once for it.
  struct Additions {
    std::string lines;
    std::string notes;
  };
  void note_failure(Result<void> written);
  // Not synced: the journal has all of it.
  Result<void> put(const std::string& name, std::string_view text) const {
    return folder_->replace(name, text, Durable::no);
  }
  void make_whole(const std::string& name, std::string_view text);
  void add(const std::string& stem, const Additions& added);
  Result<void> seal(const Known& known, std::string_view last_lines) const;

  std::unique_ptr<Folder> folder_;
  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;
  std::map<SessionId, Known> known_;
};

}  // namespace deputy
