#include "model/openai_responses_decoder.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "model/api_errors.h"
#include "model/call_ids.h"
#include "model/raw_json.h"
#include "model/refusal.h"
#include "model/wire.h"

namespace deputy::api {

namespace {

constexpr std::size_t kMostItems = 1024;
constexpr std::size_t kMostItemBytes = 4 * kMostBytes;  // escapes and encrypted reasoning included

}  // namespace

bool ResponsesDecoder::feed(std::string_view bytes, const DeltaSink& deltas) {
  bool progress = false;
  sse_.feed(bytes, [&](const SseEvent& event) { progress = take_event(event, deltas) || progress; });
  return progress;
}

bool ResponsesDecoder::take_event(const SseEvent& event, const DeltaSink& deltas) {
  if (is_complete() || event.data.starts_with("[DONE]")) return false;
  EventReader reader;
  const auto object = reader.read(event.data);
  if (!object) {
    failure_ = unreadable();
    return true;
  }
  const auto number = number_of(*object, "sequence_number");
  if (number && *number <= last_number_) return false;  // sent twice
  if (number) last_number_ = *number;
  std::string_view type = text_of(*object, "type");
  if (type.empty()) type = event.name;
  if (type == "keepalive" || type == "ping") return false;
  if (type == "response.output_text.delta") {
    const std::string_view text = text_of(*object, "delta");
    if (shown_.size() + text.size() > kMostBytes) {
      failure_ = too_large();
    } else if (!text.empty()) {
      shown_ += text;
      if (deltas) deltas(TextDelta{text});
    }
  } else if (type == "response.output_item.done") {
    const auto place = number_of(*object, "output_index").value_or(static_cast<std::int64_t>(items_.size()));
    const auto item = object_of(*object, "item");
    // As it came if that can be had; what had to be mended is printed anew.
    auto raw = raw_object(event.data, "/item");
    if (item) take_item(place, raw ? *std::move(raw) : json_of(*item));
  } else if (type == "error") {
    failure_ = stream_failure(json_of(*object));
  } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed" ||
             type == "response.cancelled") {
    take_end(object_of(*object, "response").value_or(*object), type);
  } else {
    return type.starts_with("response.");  // of tomorrow; what else there is keeps the connection alive
  }
  return true;
}

void ResponsesDecoder::take_item(std::int64_t place, std::string text) {
  if (!parse_json_object(text)) failure_ = unreadable();  // too deep to be sent back
  item_bytes_ += text.size();
  items_.insert_or_assign(place, std::move(text));
  if (item_bytes_ > kMostItemBytes || items_.size() > kMostItems) failure_ = too_large();
}

void ResponsesDecoder::take_end(Object response, std::string_view type) {
  take_usage(response);
  reply_id_ = text_of(response, "id");
  if (type == "response.failed" || type == "response.cancelled") {
    const auto error = object_of(response, "error");
    failure_ = error ? stream_failure(json_of(*error)) : stream_failure(R"({"message":"no reason given"})");
    return;
  }
  ended_as_ = type.substr(type.find('.') + 1);
  if (const auto details = object_of(response, "incomplete_details")) {
    incomplete_reason_ = text_of(*details, "reason");
  }
  if (!items_.empty()) return;
  std::int64_t place = 0;
  for (const Object item : objects_of(response, "output")) take_item(place++, json_of(item));
}

void ResponsesDecoder::take_usage(Object response) {
  const auto usage = object_of(response, "usage");
  if (!usage) return;
  usage_.input = count_of(*usage, "input_tokens");
  usage_.output = count_of(*usage, "output_tokens");
  if (const auto details = object_of(*usage, "input_tokens_details")) {
    usage_.cache_read = count_of(*details, "cached_tokens");
    usage_.cache_write = count_of(*details, "cache_write_tokens");
  }
}

void ResponsesDecoder::gather(Object item) {
  const std::string_view type = text_of(item, "type");
  if (type == "message") {
    for (const Object part : objects_of(item, "content")) {
      draft_.say(text_of(part, "text"), {});
      refusal_ += text_of(part, "refusal");
    }
  } else if (type == "reasoning") {
    for (const std::string_view key : {"summary", "content"}) {
      for (const Object part : objects_of(item, key)) {
        if (std::exchange(has_thought_, true)) draft_.think("\n\n");
        draft_.think(text_of(part, "text"));
      }
    }
    // An id alone would name something that is not stored.
    if (text_of(item, "encrypted_content").empty()) may_go_back_ = false;
  } else if (type == "function_call") {
    const std::size_t place = draft_.open_call();
    Call& call = draft_.call(place);
    call.id = text_of(item, "call_id");
    call.name = text_of(item, "name");
    // Also in an answer that says it is completed.
    if (text_of(item, "status") == "incomplete") has_half_call_ = true;
    draft_.add_arguments(place, text_of(item, "arguments"));
  }
}

// Reasoning is refused without the item that it led to.
std::string ResponsesDecoder::wire_of_items() const {
  EventReader reader;
  std::size_t kept = 0;
  for (std::size_t count = 0; const auto& [place, text] : items_) {
    ++count;
    const auto item = reader.read(text);
    if (item && text_of(*item, "type") != "reasoning") kept = count;
  }
  std::string turn;
  for (auto item = items_.begin(); item != std::next(items_.begin(), static_cast<std::ptrdiff_t>(kept));
       ++item) {
    if (!turn.empty()) turn += ',';
    turn += item->second;
  }
  return turn;
}

void ResponsesDecoder::set_stop(Reply& reply) const {
  if (!refusal_.empty() || incomplete_reason_ == "content_filter") {
    reply.stop = ReplyStop::refused;
    reply.error = refusal_text(refusal_.empty() ? "content filter" : "", refusal_);
  } else if (ended_as_ == "incomplete" || has_half_call_) {
    reply.stop = ReplyStop::output_limit;
  } else {
    reply.stop = reply.message.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
  }
}

std::expected<Reply, Failure> ResponsesDecoder::finish() {
  sse_.finish([&](const SseEvent& event) { take_event(event, {}); });
  if (!failure_ && sse_.overflowed()) failure_ = too_large();
  if (!failure_ && ended_as_.empty()) failure_ = cut_short();
  EventReader reader;
  for (const auto& [place, text] : items_) {
    if (const auto item = reader.read(text)) gather(*item);
  }
  if (items_.empty()) draft_.say(shown_, {});
  if (!failure_ && draft_.is_too_large()) failure_ = too_large();
  Reply reply{.message = draft_.finished(reply_id_), .usage = usage_};
  const auto& calls = reply.message.calls;
  if (!failure_ && std::ranges::any_of(calls, [](const Call& call) { return call.name.empty(); })) {
    failure_ = unreadable();
  }
  if (failure_) {
    failure_->usage = usage_;
    return std::unexpected(*failure_);
  }
  set_stop(reply);
  if (reply.stop != ReplyStop::calls) reply.message.calls.clear();  // cut off or refused: nobody answers them
  const bool is_whole = reply.stop == ReplyStop::calls || reply.stop == ReplyStop::finished;
  if (const std::string turn = wire_of_items(); is_whole && may_go_back_ && !turn.empty()) {
    reply.message.wire = wire_for(kResponsesProvider, turn);
    put_ids_into_wire(reply.message, draft_.renamed());
  }
  return reply;
}

}  // namespace deputy::api
