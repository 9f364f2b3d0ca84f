#include "model/ollama_decoder.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/api_errors.h"
#include "model/json_string.h"
#include "model/wire.h"
#include "net/sse.h"

namespace deputy::api {

std::string ollama_turn(const Message& message, std::string_view thinking) {
  std::string turn = fmt::format(R"({{"role":"assistant","content":{})", json_string(message.text));
  if (!thinking.empty()) turn += fmt::format(R"(,"thinking":{})", json_string(thinking));
  std::string calls;
  for (const Call& call : message.calls) {
    calls += fmt::format(R"({}{{"id":{},"function":{{"name":{},"arguments":{}}}}})", calls.empty() ? "" : ",",
                         json_string(call.id), json_string(call.name), as_object(call.arguments));
  }
  if (!calls.empty()) turn += fmt::format(R"(,"tool_calls":[{}])", calls);
  return turn + "}";
}

bool OllamaDecoder::feed(std::string_view bytes, const DeltaSink& deltas) {
  bool progress = false;
  while (!bytes.empty() && !is_complete()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > kMaxSseEventBytes) {
      failure_ = too_large();
      break;
    }
    line_ += piece;
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    progress = take_line(line_, deltas) || progress;
    line_.clear();
  }
  return progress;
}

bool OllamaDecoder::take_line(std::string_view line, const DeltaSink& deltas) {
  if (is_complete() || trimmed(line).empty()) return false;
  EventReader reader;
  const auto object = reader.read(line);
  if (!object) {
    failure_ = unreadable();
    return true;
  }
  if (member_of(*object, "error")) {
    failure_ = stream_failure(line);
    return true;
  }
  if (reply_id_.empty()) reply_id_ = text_of(*object, "created_at");
  if (const auto message = object_of(*object, "message")) take_message(*message, deltas);
  if (draft_.is_too_large()) failure_ = too_large();
  if (is_true(*object, "done")) {
    is_done_ = true;
    done_reason_ = text_of(*object, "done_reason");
    usage_.input = count_of(*object, "prompt_eval_count");
    usage_.output = count_of(*object, "eval_count");
  }
  return true;
}

void OllamaDecoder::take_message(Object message, const DeltaSink& deltas) {
  draft_.say(text_of(message, "content"), deltas);
  draft_.think(text_of(message, "thinking"));
  for (const Object piece : objects_of(message, "tool_calls")) {
    const Object function = object_of(piece, "function").value_or(piece);
    const std::size_t place = draft_.open_call();
    Call& call = draft_.call(place);
    call.id = text_of(piece, "id");
    call.name = text_of(function, "name");
    if (call.name.empty()) failure_ = unreadable();
    if (const auto arguments = member_of(function, "arguments")) {
      draft_.add_arguments(place, text_in(*arguments) ? text_of(function, "arguments") : json_of(*arguments));
    }
  }
}

std::expected<Reply, Failure> OllamaDecoder::finish() {
  if (!line_.empty()) take_line(std::exchange(line_, {}), {});
  if (!failure_ && !is_done_) failure_ = cut_short();
  // The model was only loaded, or unloaded.
  if (!failure_ && draft_.is_empty() && done_reason_.ends_with("load")) failure_ = cut_short();
  if (failure_) {
    failure_->usage = usage_;
    return std::unexpected(*failure_);
  }
  Reply reply{.message = draft_.finished(reply_id_), .usage = usage_};
  if (done_reason_ == "length") {
    reply.stop = ReplyStop::output_limit;
    reply.message.calls.clear();  // nobody will answer them
  } else if (!reply.message.calls.empty()) {
    reply.stop = ReplyStop::calls;
    if (!reply.message.thinking.empty()) {
      reply.message.wire = wire_for(kOllamaProvider, ollama_turn(reply.message, reply.message.thinking));
    }
  }
  return reply;
}

}  // namespace deputy::api
