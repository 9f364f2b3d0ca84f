// Transcripts and scratchpads as files for people: exports of the journal, written after the commit and not
// synced, since the journal is the truth. While a session runs: {label}-{uuid}.transcript.jsonl, a message a
// line; at its end the same name with .json, whole. Notes go to {label}-{uuid}.scratch.md beside it. No
// descriptor stays open.
#pragma once

#include <map>
#include <memory>
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

  // Blocking; called by the store's writer with what was just committed.
  Result<void> write(const EventRefs& events);
  // Sessions begun before this process: needed to name and seal their files.
  void know(const Session& session);

  static std::string stem_of(const Session& session);  // "{label}-{uuid}", safe as a file name

 private:
  struct Known {
    std::string stem;
    std::string label;
    Session session;
  };
  Result<void> seal(Known& known, const Event& event);

  std::unique_ptr<Folder> folder_;
  std::map<SessionId, Known> known_;
};

}  // namespace deputy
