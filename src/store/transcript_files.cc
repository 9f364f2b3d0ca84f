#include "store/transcript_files.h"

#include <utility>

#include "base/text.h"
#include "store/session_view.h"
#include "transcript/codec.h"

namespace deputy {

namespace {

std::string running_name(const std::string& stem) { return stem + ".transcript.jsonl"; }
std::string sealed_name(const std::string& stem) { return stem + ".transcript.json"; }
std::string scratch_name(const std::string& stem) { return stem + ".scratch.md"; }

std::string lines_for(const Message& message) {
  std::string lines;
  for (const auto& line : to_transcript_lines(message)) lines += to_json_text(line) + "\n";
  return lines;
}

// S0's word for how it went.
std::string_view outcome_word(const Report& report) {
  switch (report.status) {
    case Status::completed:
      return "success";
    case Status::cancelled:
      return "cancelled";
    case Status::blocked:
      return "blocked";
    case Status::partial:
      return report.reason == Reason::context_exhausted ? "context_exhausted" : "partial";
    case Status::failed:
      return "error";
  }
  return "error";
}

}  // namespace

std::string TranscriptFiles::stem_of(const Session& session) {
  return safe_file_name(session.label) + "-" + session.uuid.value;
}

void TranscriptFiles::rebuild(const Session& session, const std::vector<Event>& events) {
  const std::string stem = stem_of(session);
  if (folder_->status(sealed_name(stem))) return;
  for (const auto& name : {running_name(stem), scratch_name(stem)}) {
    if (folder_->status(name)) (void)folder_->remove(name);
  }
  write(EventRefs(events.begin(), events.end()));
}

void TranscriptFiles::write(const EventRefs& events) {
  for (const Event& event : events) {
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      const Session& session = created->session;
      known_.insert_or_assign(session.id, Known{stem_of(session), session.label, session});
    }
    const auto found = known_.find(event.run.session);
    if (found == known_.end()) continue;
    apply_to_session(found->second.session, event);
    if (auto written = write_one(found->second, event); !written) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::move(written).error();
    }
    if (std::holds_alternative<RunEnded>(event.fact)) known_.erase(found);
  }
}

std::optional<Error> TranscriptFiles::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Result<void> TranscriptFiles::write_one(const Known& known, const Event& event) const {
  if (std::holds_alternative<RunEnded>(event.fact)) return seal(known, event);
  if (const auto* note = std::get_if<NoteTaken>(&event.fact)) {
    return folder_->append_to(scratch_name(known.stem), note->content + "\n");
  }
  std::string lines;
  if (const auto* input = std::get_if<InputGiven>(&event.fact)) {
    lines = lines_for({.role = Role::user, .source = input->source, .text = input->text});
  } else if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) {
    lines = lines_for(reply->reply.message);
  } else if (const auto* finished = std::get_if<CallFinished>(&event.fact)) {
    lines = lines_for({.role = Role::tool, .results = {finished->result}});
  }
  if (lines.empty()) return {};
  return folder_->append_to(running_name(known.stem), lines);
}

Result<void> TranscriptFiles::seal(const Known& known, const Event& event) const {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  auto lines = folder_->read(running_name(known.stem), 0, kMostBytes);
  if (!lines && lines.error().code != ErrorCode::not_found) return std::unexpected(lines.error());
  const Session& session = known.session;
  json::object head{{"label", known.label},
                    {"session_id", session.id.value},
                    {"agent", session.agent},
                    {"model", session.model.value},
                    {"started_at", to_iso8601(session.started_at.value_or(session.created_at))},
                    {"ended_at", to_iso8601(event.at)},
                    {"outcome", outcome_word(std::get<RunEnded>(event.fact).report)},
                    {"usage", to_json(session.usage)}};
  std::string whole = to_json_text(head);
  whole.back() = ',';  // the messages are put into the object without reading them again
  whole += "\n\"messages\":[\n";
  for (bool first = true; const auto line : lines_of(lines ? *lines : std::string())) {
    if (!std::exchange(first, false)) whole += ",\n";
    whole += line;
  }
  whole += "\n]}\n";
  TRY(folder_->replace(sealed_name(known.stem), whole));
  if (lines) TRY(folder_->remove(running_name(known.stem)));
  return {};
}

}  // namespace deputy
