#include "model/openai_chat_decoder.h"

#include <algorithm>

#include "model/api_errors.h"
#include "model/openai_chat_turn.h"
#include "model/refusal.h"
#include "model/wire.h"

namespace deputy::api {

namespace {

constexpr std::string_view kReasoningFields[] = {"reasoning_content", "reasoning"};

// Pieces of one entry follow each other; what is encrypted comes whole.
bool continues(const json::object& last, const json::object& piece) {
  const std::string type = string_or(piece, "type", "");
  return type != "reasoning.encrypted" && type == string_or(last, "type", "") &&
         integer_or(piece, "index", -1) == integer_or(last, "index", -1);
}

void join(json::object& last, const json::object& piece) {
  for (const auto& [key, value] : piece) {
    if (value.is_null()) continue;
    json::value& held = last[key];
    if ((key == "text" || key == "summary") && held.is_string() && value.is_string()) {
      held.get_string().append(value.get_string());
    } else {
      held = value;
    }
  }
}

// Empty members and a role say nothing: some servers send them with the reason, and again after it.
bool says_something(Object delta) {
  const auto is_said = [&](std::string_view member) {
    return !text_of(delta, member).empty() || !objects_of(delta, member).empty();
  };
  return is_said("content") || is_said("tool_calls") || is_said("refusal") || is_said("reasoning_details") ||
         std::ranges::any_of(kReasoningFields, is_said);
}

// Some servers count calls from 0 in each reply, "0" or "Read:0", and the ids of a conversation must differ.
bool may_repeat(const Call& call) {
  constexpr std::size_t kShortest = 8;
  return call.id.size() < kShortest || call.id.starts_with(call.name + ":");
}

}  // namespace

bool ChatDecoder::feed(std::string_view bytes, const DeltaSink& deltas) {
  bool progress = false;
  sse_.feed(bytes, [&](const SseEvent& event) { progress = take_event(event, deltas) || progress; });
  return progress;
}

bool ChatDecoder::take_event(const SseEvent& event, const DeltaSink& deltas) {
  if (is_complete()) return false;
  if (event.data.starts_with("[DONE]")) {
    is_done_ = true;
    return true;
  }
  EventReader reader;
  const auto chunk = reader.read(event.data);
  if (!chunk) {
    failure_ = unreadable();
  } else if (event.name == "error" || member_of(*chunk, "error")) {
    take_usage(*chunk);
    failure_ = stream_failure(json_of(*chunk));
  } else {
    return take_chunk(*chunk, deltas);
  }
  return true;
}

// Some servers keep a connection alive with chunks that say nothing: only the first of them shows progress.
bool ChatDecoder::take_chunk(Object chunk, const DeltaSink& deltas) {
  if (reply_id_.empty()) reply_id_ = text_of(chunk, "id");
  bool progress = !std::exchange(has_begun_, true);
  progress = take_usage(chunk) || progress;
  for (const Object choice : objects_of(chunk, "choices")) {
    if (number_of(choice, "index").value_or(0) != 0) continue;
    if (const auto delta = object_of(choice, "delta")) {
      if (says_something(*delta)) has_gone_on_ = progress = true;
      take_delta(*delta, deltas);
    }
    if (const auto reason = text_of(choice, "finish_reason"); !reason.empty()) {
      finish_ = reason;
      has_gone_on_ = false;
      progress = true;
    }
  }
  return progress;
}

void ChatDecoder::take_delta(Object delta, const DeltaSink& deltas) {
  take_content(delta, deltas);
  take_reasoning(delta);
  if (refusal_.size() < kMostBytes) refusal_ += text_of(delta, "refusal");
  for (const Object piece : objects_of(delta, "tool_calls")) take_call(piece);
}

// A text, or, from Mistral, a list of parts.
void ChatDecoder::take_content(Object delta, const DeltaSink& deltas) {
  draft_.say(text_of(delta, "content"), deltas);
  for (const Object part : objects_of(delta, "content")) {
    draft_.say(text_of(part, "text"), deltas);
    for (const Object thought : objects_of(part, "thinking")) draft_.think(text_of(thought, "text"));
  }
}

void ChatDecoder::take_reasoning(Object delta) {
  for (const std::string_view field : kReasoningFields) {
    const std::string_view text = text_of(delta, field);
    if (text.empty()) continue;
    draft_.think(text);
    reasoning_field_ = field;
    break;  // some send the same under both names
  }
  for (const Object detail : objects_of(delta, "reasoning_details")) take_detail(detail);
}

void ChatDecoder::take_detail(Object detail) {
  const std::string text = json_of(detail);
  detail_bytes_ += text.size();
  if (detail_bytes_ > kMostBytes) {
    failure_ = too_large();
    return;
  }
  auto piece = parse_json_object(text);
  if (!piece) return;
  if (!reasoning_details_.empty() && continues(reasoning_details_.back().get_object(), *piece)) {
    join(reasoning_details_.back().get_object(), *piece);
  } else {
    reasoning_details_.push_back(*std::move(piece));
  }
}

void ChatDecoder::take_call(Object piece) {
  const Object function = object_of(piece, "function").value_or(piece);
  const std::string_view name = text_of(function, "name");
  const std::size_t place = call_for(piece, name);
  Call& call = draft_.call(place);
  if (call.id.empty()) call.id = text_of(piece, "id");
  if (call.name.empty()) call.name = name;  // repeated by some, never continued
  if (const auto arguments = member_of(function, "arguments")) {
    draft_.add_arguments(place, text_in(*arguments) ? text_of(function, "arguments") : json_of(*arguments));
  }
}

// The index says which call a piece belongs to. Where there is none, or all have the same, a new id or a
// second name begins another call.
std::size_t ChatDecoder::call_for(Object piece, std::string_view name) {
  const auto index = number_of(piece, "index");
  const std::string_view id = text_of(piece, "id");
  std::size_t place = draft_.calls();
  while (place > 0 && index && indexes_[place - 1] != index) --place;
  if (place > 0) {
    const Call& call = draft_.call(place - 1);
    const bool other_id = !id.empty() && !call.id.empty() && id != call.id;
    const bool again = !index && id.empty() && !name.empty() && !call.name.empty();
    if (!(other_id && (!index || !name.empty())) && !again) return place - 1;
  }
  const std::size_t opened = draft_.open_call();
  indexes_.resize(opened + 1);
  indexes_[opened] = index;
  return opened;
}

// Whether there is any.
bool ChatDecoder::take_usage(Object chunk) {
  auto usage = object_of(chunk, "usage");
  if (const auto groq = object_of(chunk, "x_groq"); groq && !usage) usage = object_of(*groq, "usage");
  if (!usage) return false;
  const Usage before = usage_;
  usage_.input = count_of(*usage, "prompt_tokens");
  usage_.output = count_of(*usage, "completion_tokens");
  usage_.cache_read = count_of(*usage, "prompt_cache_hit_tokens");  // DeepSeek
  if (const auto details = object_of(*usage, "prompt_tokens_details")) {
    usage_.cache_read = std::max(usage_.cache_read, count_of(*details, "cached_tokens"));
    usage_.cache_write = count_of(*details, "cache_write_tokens");
  }
  // xAI counts reasoning beside the completion, everybody else within it: the total tells.
  if (const auto details = object_of(*usage, "completion_tokens_details")) {
    const std::int64_t reasoning = count_of(*details, "reasoning_tokens");
    if (usage_.input + usage_.output + reasoning == count_of(*usage, "total_tokens")) {
      usage_.output += reasoning;
    }
  }
  return usage_ != before;
}

std::optional<Failure> ChatDecoder::mistake() const {
  if (failure_) return failure_;
  if (draft_.is_too_large() || sse_.overflowed()) return too_large();
  if (!is_done_ && (finish_.empty() || has_gone_on_)) return cut_short();
  if (finish_ == "error" || finish_ == "insufficient_system_resource") {
    return stream_failure(R"({"message":"the model could not finish its answer"})");
  }
  return std::nullopt;
}

void ChatDecoder::set_stop(Reply& reply) const {
  if (!refusal_.empty() || finish_ == "content_filter") {
    reply.stop = ReplyStop::refused;
    reply.error = refusal_text(refusal_.empty() ? "content filter" : "", refusal_);
  } else if (finish_ == "length") {
    reply.stop = ReplyStop::output_limit;
  } else if (finish_ == "model_length") {
    reply.stop = ReplyStop::context_exhausted;
    reply.error = "the conversation has filled the model's context window";
  } else {
    // With a forced tool the reason is "stop" all the same.
    reply.stop = reply.message.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
  }
}

// Reasoning goes back only while its calls are answered: between turns some servers refuse it.
void ChatDecoder::set_wire(Message& message) const {
  if (message.calls.empty() || (reasoning_field_.empty() && reasoning_details_.empty())) return;
  json::object turn = chat_turn(message, flavour_);
  if (reasoning_details_.empty()) {
    turn[reasoning_field_] = message.thinking;
  } else {
    turn["reasoning_details"] = reasoning_details_;
  }
  message.wire = wire_for(name_of(flavour_), to_json_text(turn));
}

std::expected<Reply, Failure> ChatDecoder::finish() {
  sse_.finish([&](const SseEvent& event) { take_event(event, {}); });
  auto failure = mistake();
  for (std::size_t i = 0; i < draft_.calls(); ++i) {
    if (may_repeat(draft_.call(i))) draft_.call(i).id.clear();
  }
  Reply reply{.message = draft_.finished(reply_id_), .usage = usage_};
  const auto& calls = reply.message.calls;
  if (!failure && finish_.empty()) {
    // Ended by [DONE] alone: what came must be whole in itself.
    const bool whole =
        std::ranges::all_of(calls, [](const Call& call) { return !!parse_json(call.arguments); });
    if (!whole || (calls.empty() && reply.message.text.empty() && refusal_.empty())) failure = cut_short();
  }
  if (!failure && std::ranges::any_of(calls, [](const Call& call) { return call.name.empty(); })) {
    failure = unreadable();
  }
  if (failure) {
    failure->usage = usage_;
    return std::unexpected(*std::move(failure));
  }
  set_stop(reply);
  if (reply.stop == ReplyStop::calls) {
    set_wire(reply.message);
  } else {
    reply.message.calls.clear();  // cut off or refused: nobody will answer them
  }
  return reply;
}

}  // namespace deputy::api
