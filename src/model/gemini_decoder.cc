#include "model/gemini_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/api_errors.h"
#include "model/gemini_errors.h"
#include "model/gemini_parts.h"
#include "model/raw_json.h"
#include "model/refusal.h"
#include "net/sse.h"

namespace deputy::gemini {

namespace {

using api::Object;
using api::text_of;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// The model wrote a call that its server could not read: it may write a better one.
bool is_bad_call(std::string_view reason) {
  static constexpr std::array<std::string_view, 3> kReasons{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL",
                                                            "TOO_MANY_TOOL_CALLS"};
  return is_one_of(reason, kReasons);
}

bool is_refusal(std::string_view reason) {
  static constexpr std::array<std::string_view, 10> kReasons{
      "SAFETY", "RECITATION", "LANGUAGE",    "OTHER",   "BLOCKLIST", "PROHIBITED_CONTENT",
      "SPII",   "JAILBREAK",  "MODEL_ARMOR", "NO_IMAGE"};
  return reason.starts_with("IMAGE_") || is_one_of(reason, kReasons);
}

bool is_ordinary(std::string_view reason) { return reason == "STOP" || reason == "FUNCTION_CALL"; }

class Decoder final : public ReplyDecoder {
 public:
  bool feed(std::string_view bytes, const DeltaSink& deltas) override {
    has_progressed_ = false;
    sse_.feed(bytes, [&](const SseEvent& event) { take(event, deltas); });
    if (sse_.overflowed()) fail(api::too_large());
    return has_progressed_;
  }

  // More can follow a finishReason, so only the end of the body is the end.
  bool is_complete() const override { return failure_.has_value(); }
  bool may_be_complete() const override { return !finish_reason_.empty() || !block_reason_.empty(); }

  std::expected<Reply, Failure> finish() override {
    is_at_end_ = true;
    sse_.finish([&](const SseEvent& event) { take(event, {}); });
    if (block_reason_.empty()) check_end();
    if (failure_) {
      failure_->usage = usage_;
      return std::unexpected(*failure_);
    }
    return reply();
  }

 private:
  void take(const SseEvent& event, const DeltaSink& deltas) {
    if (failure_) return;
    api::EventReader reader;
    const auto object = reader.read(event.data);
    if (!object) {
      if (!is_at_end_) fail(api::unreadable());  // at the end it is half an event
      return;
    }
    has_progressed_ = true;
    if (api::member_of(*object, "error")) return fail(stream_failure(event.data));
    seen_ = seen_ * 31 + crc32(event.data);
    if (const std::string_view id = text_of(*object, "responseId"); !id.empty()) reply_id_ = id;
    if (const auto counted = api::object_of(*object, "usageMetadata")) count(*counted);
    if (const auto feedback = api::object_of(*object, "promptFeedback")) {
      block_reason_ = text_of(*feedback, "blockReason");
      finish_message_ = text_of(*feedback, "blockReasonMessage");
    }
    for (std::size_t position = 0; const Object candidate : api::objects_of(*object, "candidates")) {
      if (api::number_of(candidate, "index").value_or(0) == 0) {
        return take_candidate(candidate, fmt::format("/candidates/{}/content/parts", position), event.data,
                              deltas);
      }
      ++position;
    }
  }

  void take_candidate(Object candidate, std::string_view pointer, std::string_view spelled,
                      const DeltaSink& deltas) {
    const auto content = api::object_of(candidate, "content");
    const std::string_view reason = text_of(candidate, "finishReason");
    if (content) take_parts(*content, pointer, spelled, deltas);
    if (reason.empty()) return;
    finish_reason_ = reason;
    finish_message_ = text_of(candidate, "finishMessage");
  }

  void take_parts(Object content, std::string_view pointer, std::string_view spelled,
                  const DeltaSink& deltas) {
    const auto parts = api::objects_of(content, "parts");
    if (parts.empty()) return;
    finish_reason_.clear();  // it was not the last word
    auto raws = raw_objects(spelled, pointer);
    for (std::size_t i = 0; i < parts.size() && !failure_; ++i) {
      const bool has_raw = raws && raws->size() == parts.size();
      const auto taken = parts_.take(parts[i], has_raw ? (*raws)[i] : api::json_of(parts[i]));
      if (taken == Parts::Taken::unreadable) fail(api::unreadable());
      if (taken == Parts::Taken::too_large) fail(api::too_large());
      if (taken == Parts::Taken::yes) show(parts[i], deltas);
    }
  }

  static void show(Object part, const DeltaSink& deltas) {
    if (api::is_true(part, "thought")) return;
    const std::string_view text = text_of(part, "text");
    if (deltas && !text.empty()) deltas(TextDelta{text});
  }

  void count(Object counted) {
    const auto replace = [&](std::int64_t& value, std::string_view key) {
      if (api::member_of(counted, key)) value = api::count_of(counted, key);
    };
    replace(prompt_, "promptTokenCount");
    replace(tool_prompt_, "toolUsePromptTokenCount");
    replace(cached_, "cachedContentTokenCount");
    replace(candidates_, "candidatesTokenCount");
    replace(thoughts_, "thoughtsTokenCount");
    usage_ = {.input = prompt_ + tool_prompt_, .output = candidates_ + thoughts_, .cache_read = cached_};
  }

  void fail(Failure failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  void check_end() {
    if (finish_reason_.empty() || parts_.has_open_call()) return fail(api::cut_short());
    if (is_bad_call(finish_reason_)) {
      fail({.kind = Failure::Kind::transient,
            .message =
                fmt::format("the model wrote a call that the provider could not read ({})", finish_reason_),
            .most_attempts = 2});
    }
  }

  ReplyStop stop() const {
    if (!block_reason_.empty() || is_refusal(finish_reason_)) return ReplyStop::refused;
    if (finish_reason_ == "MAX_TOKENS") return ReplyStop::output_limit;
    return is_ordinary(finish_reason_) && parts_.has_calls() ? ReplyStop::calls : ReplyStop::finished;
  }

  std::string error() const {
    if (!block_reason_.empty()) return refusal_text(block_reason_, finish_message_);
    if (is_refusal(finish_reason_)) return refusal_text(finish_reason_, finish_message_);
    if (is_ordinary(finish_reason_) || finish_reason_ == "MAX_TOKENS") return "";
    return unknown_stop_text(finish_reason_);
  }

  Reply reply() const {
    const ReplyStop stopped = stop();
    const auto keep = stopped == ReplyStop::calls ? Parts::Keep::everything : Parts::Keep::no_calls;
    const std::string id = reply_id_.empty() ? fmt::format("{:08x}", seen_) : reply_id_;
    return {.stop = stopped, .message = parts_.finished(id, keep), .usage = usage_, .error = error()};
  }

  SseDecoder sse_;
  Parts parts_;
  std::string reply_id_;
  std::uint32_t seen_ = 0;  // tells replies apart that have no id
  std::string finish_reason_;
  std::string finish_message_;
  std::string block_reason_;
  Usage usage_;
  std::int64_t prompt_ = 0;
  std::int64_t tool_prompt_ = 0;
  std::int64_t cached_ = 0;
  std::int64_t candidates_ = 0;
  std::int64_t thoughts_ = 0;
  std::optional<Failure> failure_;
  bool has_progressed_ = false;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<ReplyDecoder> make_decoder() { return std::make_unique<Decoder>(); }

}  // namespace deputy::gemini
