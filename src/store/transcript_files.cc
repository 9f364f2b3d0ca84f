#include "store/transcript_files.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "store/session_view.h"
#include "transcript/codec.h"

namespace deputy {

namespace {

constexpr std::size_t kUuidCharacters = 36;

std::string running_name(const std::string& stem) { return stem + ".transcript.jsonl"; }
std::string sealed_name(const std::string& stem) { return stem + ".transcript.json"; }
std::string scratch_name(const std::string& stem) { return stem + ".scratch.md"; }

// What a seal does not tell is not kept while the session runs: it may be long.
void forget_unsealed(Session& session) {
  for (std::string* text : {&session.prompt, &session.permissions}) {
    text->clear();
    text->shrink_to_fit();
  }
}

std::string lines_for(const Message& message) {
  std::string lines;
  for (json::object& line : to_transcript_lines(message)) lines += to_json_text(std::move(line)) + "\n";
  return lines;
}

// S0's word for how it went; one that has not ended was left.
std::string_view outcome_word(const Session& session) {
  switch (session.state) {
    case SessionState::completed:
      return "success";
    case SessionState::cancelled:
      return "cancelled";
    case SessionState::blocked:
      return "blocked";
    case SessionState::partial:
      return session.reason == Reason::context_exhausted ? "context_exhausted" : "partial";
    case SessionState::failed:
      return "error";
    case SessionState::pending:
    case SessionState::running:
    case SessionState::waiting:
    case SessionState::interrupted:
      break;
  }
  return "interrupted";
}

std::string lines_for(const Event& event) {
  if (const auto* input = std::get_if<InputGiven>(&event.fact))
    return lines_for({.role = Role::user, .source = input->source, .text = input->text});
  if (const auto* delivered = std::get_if<Delivered>(&event.fact))
    return lines_for({.role = Role::user, .source = delivered->source, .text = delivered->text});
  if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) return lines_for(reply->reply.message);
  if (const auto* compacted = std::get_if<Compacted>(&event.fact)) {
    const auto summary = summary_in(compacted->reply);
    return summary ? lines_for(summary_message(*summary)) : "";
  }
  if (const auto* stopped = std::get_if<RequestStopped>(&event.fact); stopped && !stopped->text.empty())
    return lines_for({.role = Role::assistant, .text = stopped->text});
  if (const auto* finished = std::get_if<CallFinished>(&event.fact))
    return lines_for({.role = Role::tool, .results = {finished->result}});
  return {};
}

std::string note_for(const Event& event) {
  const auto* note = std::get_if<NoteTaken>(&event.fact);
  return note ? note->content + "\n" : std::string();
}

struct Unsealed {
  Session session;
  std::string lines;
  std::string notes;
};
Unsealed unsealed_from(const EventRefs& events) {
  Unsealed whole;
  for (const Event& event : events) {
    apply_to_session(whole.session, event);
    whole.lines += lines_for(event);
    whole.notes += note_for(event);
  }
  return whole;
}

// The messages are put into the object behind it without reading them again.
std::string sealed_head(const Session& session) {
  const json::object head{{"label", session.label},
                          {"session_id", session.id.value},
                          {"agent", session.agent},
                          {"model", session.model.value},
                          {"started_at", to_iso8601(session.started_at.value_or(session.created_at))},
                          {"ended_at", to_iso8601(session.ended_at.value_or(session.last_event_at))},
                          {"outcome", outcome_word(session)},
                          {"usage", to_json(session.usage)}};
  std::string text = to_json_text(head);
  text.back() = ',';
  return text;
}

std::string sealed_text(const Session& session, std::string_view lines) {
  std::string whole = sealed_head(session) + "\n\"messages\":[\n";
  for (bool first = true; const auto line : lines_of(lines)) {
    if (!std::exchange(first, false)) whole += ",\n";
    whole += line;
  }
  return whole + "\n]}\n";
}

}  // namespace

std::string TranscriptFiles::stem_of(const Session& session) {
  return safe_file_name(session.label) + "-" + session.uuid.value;
}

std::vector<std::string> TranscriptFiles::names_for(const Session& session) {
  const std::string stem = stem_of(session);
  return {running_name(stem), sealed_name(stem), scratch_name(stem)};
}

std::optional<Uuid> TranscriptFiles::uuid_in(std::string_view file_name) {
  const std::array endings{running_name(""), sealed_name(""), scratch_name("")};
  for (const std::string& ending : endings) {
    if (!file_name.ends_with(ending)) continue;
    const std::string_view stem = file_name.substr(0, file_name.size() - ending.size());
    if (stem.size() > kUuidCharacters) return Uuid(std::string(stem.substr(stem.size() - kUuidCharacters)));
  }
  return std::nullopt;
}

void TranscriptFiles::rebuild(const Session& session, const EventRefs& events) {
  if (!is_terminal(session.state)) return reopen(events);
  seal_left(session, events);
}

void TranscriptFiles::seal_left(const Session& session, const EventRefs& events) {
  const std::string stem = stem_of(session);
  if (!is_sealed(session)) {
    const Unsealed whole = unsealed_from(events);
    if (!whole.notes.empty()) note_failure(put(scratch_name(stem), whole.notes));
    note_failure(put(sealed_name(stem), sealed_text(session, whole.lines)));
  }
  if (is_begun(session)) note_failure(folder_->remove(running_name(stem)));
}

bool TranscriptFiles::is_sealed(const Session& session) const {
  const std::string head = sealed_head(session);
  const auto begun = folder_->read(sealed_name(stem_of(session)), 0, head.size());
  return begun && *begun == head;
}

void TranscriptFiles::reopen(const EventRefs& events) {
  Unsealed so_far = unsealed_from(events);
  const std::string stem = stem_of(so_far.session);
  if (!so_far.notes.empty()) make_whole(scratch_name(stem), so_far.notes);
  make_whole(running_name(stem), so_far.lines);
  if (folder_->status(sealed_name(stem))) note_failure(folder_->remove(sealed_name(stem)));
  const SessionId id = so_far.session.id;
  known_.insert_or_assign(id, Known{stem, std::move(so_far.session)});
}

// A crash mostly leaves them whole, and to look costs a fraction of a file in its place.
void TranscriptFiles::make_whole(const std::string& name, std::string_view text) {
  const auto there = folder_->read(name, 0, text.size() + 1);
  if (!there || *there != text) note_failure(put(name, text));
}

bool TranscriptFiles::is_begun(const Session& session) const {
  return folder_->status(running_name(stem_of(session))).has_value();
}

bool TranscriptFiles::is_done(const Session& session) const {
  return is_terminal(session.state) && is_sealed(session) && !is_begun(session);
}

Result<std::set<Uuid>> TranscriptFiles::begun() const {
  TRY(const auto entries, folder_->list("."));
  std::set<Uuid> uuids;
  for (const Entry& entry : entries) {
    if (!entry.name.ends_with(running_name(""))) continue;
    if (auto uuid = uuid_in(entry.name)) uuids.insert(*std::move(uuid));
  }
  return uuids;
}

void TranscriptFiles::write(const EventRefs& events) {
  std::map<std::string, Additions> additions;  // by stem
  for (const Event& event : events) {
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (created) known_.insert_or_assign(event.run.session, Known{stem_of(created->session), {}});
    const auto found = known_.find(event.run.session);
    if (found == known_.end()) continue;
    Known& known = found->second;
    apply_to_session(known.session, event);
    if (created) forget_unsealed(known.session);
    if (std::holds_alternative<RunEnded>(event.fact)) {
      const Additions last = std::exchange(additions[known.stem], {});
      add(known.stem, {.lines = "", .notes = last.notes});  // nobody looks for them once it is sealed
      if (auto sealed = seal(known, last.lines); !sealed) {
        note_failure(std::move(sealed));
        add(known.stem, {.lines = last.lines, .notes = ""});
      }
      known_.erase(found);
      continue;
    }
    auto& [lines, notes] = additions[known.stem];
    lines += lines_for(event);
    notes += note_for(event);
  }
  for (const auto& [stem, added] : additions) add(stem, added);
}

void TranscriptFiles::add(const std::string& stem, const Additions& added) {
  if (!added.lines.empty()) note_failure(folder_->append_to(running_name(stem), added.lines));
  if (!added.notes.empty()) note_failure(folder_->append_to(scratch_name(stem), added.notes));
}

void TranscriptFiles::note_failure(Result<void> written) {
  if (written) return;
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(written).error();
}

std::optional<Error> TranscriptFiles::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Result<void> TranscriptFiles::seal(const Known& known, std::string_view last_lines) const {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  auto lines = folder_->read(running_name(known.stem), 0, kMostBytes);
  if (!lines && lines.error().code != ErrorCode::not_found) return std::unexpected(lines.error());
  if (!lines && folder_->status(sealed_name(known.stem)))
    return {};  // another process did it from the journal
  const std::string all = (lines ? *lines : std::string()).append(last_lines);
  TRY(put(sealed_name(known.stem), sealed_text(known.session, all)));
  if (lines) TRY(folder_->remove(running_name(known.stem)));
  return {};
}

}  // namespace deputy
