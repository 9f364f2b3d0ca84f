// The one loop. Parent and child run it alike: decide, then ask the model or run its calls, until there is an
// end to record. It knows nothing of trees, profiles or surfaces; whoever starts a run hands it all it may
// use.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/conversation.h"
#include "agent/mail.h"
#include "agent/next.h"
#include "async/loop.h"
#include "async/pool.h"
#include "base/disk.h"
#include "model/provider.h"
#include "sandbox/processes.h"
#include "store/session_journal.h"
#include "tools/asker.h"
#include "tools/toolbox.h"

namespace deputy {

inline constexpr Duration kGraceTime = std::chrono::seconds(60);  // for the one step that is left at a limit

// After a piece of a reply was kept, so many bytes more are heard before there is another: else every unit
// that others record would bring one.
inline constexpr std::size_t kLeastPiece = 256;

class Agent {
 public:
  struct Parts {
    const Session& session;
    int run = 1;
    RunLimits limits;
    Provider& provider;
    std::shared_ptr<const RequestPrefix> prefix;
    const Toolbox& toolbox;
    const Folder& workspace;
    Journal& journal;
    Loop& loop;
    Pool& pool;
    Processes& processes;
    Asker& asker;
    Mail* mail = nullptr;                                    // nothing: none ever comes
    StopToken above = {};                                    // what stops the run whatever its own deadline
    std::function<std::vector<const Folder*>()> roots = {};  // what may be reached beside the workspace
    std::string home = {};                                   // the person's, for rules written with ~
    std::vector<std::string> hidden = {};                    // see ToolContext
    const Folder* state = nullptr;                           // see ToolContext
    std::function<std::vector<SessionId>()> children = {};   // of this session, so far
    std::function<void(std::string_view)> output = {};       // see ToolContext
    std::function<Task<std::optional<std::string>>(std::string, std::string)> keep = {};  // the same
    DeltaSink deltas = {};  // what there is to see of a reply, as it comes
    // What whoever started the run adds to its report before it is recorded. May be empty.
    std::function<Task<Report>(Report)> complete = {};
  };
  // `so_far` is what the journal already holds of this session.
  Agent(Parts parts, Conversation so_far);

  // Runs to the terminal record and yields its report. An Error means that there is none: the run was
  // suspended, or the journal failed.
  Task<Result<Boxed<Report>>> run(StopToken stop);

  const Conversation& conversation() const { return conversation_; }
  // What was heard of a reply that is still under way and is not kept yet, for a unit that is just recorded.
  // Nothing where that is too little, behind a first piece less than `least_more` bytes.
  std::optional<Event> take_heard(std::size_t least_more = kLeastPiece);

 private:
  StopToken in_force(const StopToken& stop);
  Request next_request();
  Task<Result<void>> run_calls(StopToken stop);
  Task<Result<void>> make_durable(std::vector<Fact> facts);
  Task<Result<void>> compact(StopToken stop);
  enum class Shown { no, yes };  // to who follows the run, while it is said
  Task<Reply> ask(Request request, Shown shown, StopToken stop);
  // What was heard of a reply that did not come to its end: the attempt that came furthest counts.
  std::string said() const;
  MailState mail() const { return parts_.mail ? parts_.mail->state() : MailState::none; }
  // A fact is large: one is put together where nothing waits, or its place would stay in the run's frame.
  void take_mail();
  void take_word(const Tell& tell);
  void take_reply(Reply&& reply, const StopToken& stop);
  Task<Result<Boxed<Report>>> end(Finish finish);
  ToolContext context_for_calls(StopToken stop);

  Parts parts_;
  Conversation conversation_;
  std::vector<std::string> fragments_;  // the messages as the provider wants them; empty where none is told
  std::vector<MessageWeight> weights_;  // and what each of them weighs
  std::shared_ptr<SessionJournal> journal_;
  // Of a reply that is shown, while it is under way.
  struct Heard {
    std::string text = {};
    std::size_t kept = 0;     // how much of it a unit has taken along
    std::string before = {};  // by an attempt that failed
  };
  Heard heard_;
  std::optional<StopSource> grace_;
};

}  // namespace deputy
