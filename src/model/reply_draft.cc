#include "model/reply_draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/call_ids.h"

namespace deputy::api {

bool ReplyDraft::fits(std::size_t held, std::size_t more) {
  if (held + more > kMostBytes) is_too_large_ = true;
  return !is_too_large_;
}

void ReplyDraft::say(std::string_view text, const DeltaSink& deltas) {
  if (text.empty() || !fits(message_.text.size(), text.size())) return;
  message_.text += text;
  if (deltas) deltas(TextDelta{text});
}

void ReplyDraft::think(std::string_view text) {
  if (fits(message_.thinking.size(), text.size())) message_.thinking += text;
}

std::size_t ReplyDraft::open_call() {
  if (message_.calls.size() == kMostCalls) {
    is_too_large_ = true;
  } else {
    message_.calls.emplace_back();
  }
  return message_.calls.size() - 1;
}

void ReplyDraft::add_arguments(std::size_t call, std::string_view text) {
  if (!fits(argument_bytes_, text.size())) return;
  argument_bytes_ += text.size();
  message_.calls[call].arguments += text;
}

Message ReplyDraft::finished(std::string_view reply_id) {
  auto& calls = message_.calls;
  for (auto call = calls.begin(); call != calls.end(); ++call) {
    if (trimmed(call->arguments).empty()) call->arguments = "{}";
    const bool is_taken = std::find_if(calls.begin(), call,
                                       [&](const Call& earlier) { return earlier.id == call->id; }) != call;
    if (!call->id.empty() && !is_taken) continue;
    const std::string seed =
        fmt::format("{}\n{}\n{}\n{}", reply_id, call - calls.begin(), call->name, call->arguments);
    renamed_.push_back(static_cast<std::size_t>(call - calls.begin()));
    call->id = id_made_from(seed);
  }
  return std::move(message_);
}

}  // namespace deputy::api
