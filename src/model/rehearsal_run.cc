#include "model/rehearsal_run.h"

#include <algorithm>

#include "base/text.h"
#include "model/rehearsal_report.h"
#include "transcript/event.h"

namespace deputy {
namespace {

class Reader {
 public:
  void read(const Message& message) {
    switch (message.role) {
      case Role::user:
        return heard(message);
      case Role::assistant:
        return said(message);
      case Role::tool:
        return got(message);
    }
  }
  RunSoFar run() && { return std::move(run_); }

 private:
  void heard(const Message& message) {
    if (const auto summary = summary_told_by(message)) {  // what is asked behind it begins anew
      run_ = RunSoFar();
      run_.prompt = last_asked_in(*summary);
      run_.last_text = *summary;
      ended_ = true;
      return;
    }
    if (ended_ && message.source == Source::runtime && message.text.contains("task_completion")) {
      run_.wants_completion = true;
    } else if (ended_) {
      run_ = RunSoFar();
      run_.prompt = message.text;
    } else if (!replied_) {
      // Several messages before the first reply are one brief.
      if (!run_.prompt.empty()) run_.prompt += "\n\n";
      run_.prompt += message.text;
      return;
    } else if (message.source == Source::runtime) {
      run_.report_now = run_.report_now || lowered(message.text).contains("report");
    } else if (message.source != Source::child) {
      run_.nudges.push_back(message.text);
    }
    if (ended_) replied_ = run_.wants_completion;
    ended_ = false;
  }

  void said(const Message& message) {
    replied_ = true;
    ended_ = message.calls.empty();
    run_.report_now = false;
    run_.last_text = message.text;
    calls_ = message.calls;
  }

  void got(const Message& message) {
    for (std::size_t i = 0; i < message.results.size(); ++i) {
      const ToolResult& result = message.results[i];
      auto call = std::ranges::find(calls_, result.call_id, &Call::id);
      if (call == calls_.end() && i < calls_.size()) call = calls_.begin() + static_cast<std::ptrdiff_t>(i);
      if (call != calls_.end()) run_.answered.push_back({*call, result});
    }
  }

  RunSoFar run_;
  std::vector<Call> calls_;  // of the last reply
  bool replied_ = false;     // since the run began
  bool ended_ = false;       // the last reply had no calls
};

}  // namespace

const Answered* RunSoFar::first_call_of(std::string_view tool) const {
  const auto found =
      std::ranges::find_if(answered, [tool](const Answered& one) { return one.call.name == tool; });
  return found == answered.end() ? nullptr : &*found;
}

RunSoFar run_so_far(std::span<const Message> messages) {
  Reader reader;
  for (const Message& message : messages) reader.read(message);
  return std::move(reader).run();
}

}  // namespace deputy
