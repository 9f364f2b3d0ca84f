#include "model/anthropic_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "model/anthropic_block.h"
#include "model/anthropic_turn.h"
#include "model/api_errors.h"
#include "model/raw_json.h"
#include "model/refusal.h"
#include "model/reply_draft.h"
#include "model/wire.h"
#include "net/sse.h"

namespace deputy::anthropic {

namespace {

using api::Object;
using api::text_of;

// Only the types that the status of an answer would have told apart.
Failure failure_of(const SseEvent& event, Object error) {
  static constexpr std::array<std::string_view, 3> kDefinite{"billing_error", "permission_error",
                                                             "authentication_error"};
  Failure failure = api::stream_failure(event.data);
  const std::string_view type = text_of(error, "type");
  if (std::ranges::find(kDefinite, type) != kDefinite.end()) failure.kind = Failure::Kind::definite;
  if (type == "request_too_large") failure.kind = Failure::Kind::context_exhausted;
  return failure;
}

class Decoder final : public ReplyDecoder {
 public:
  bool feed(std::string_view bytes, const DeltaSink& deltas) override {
    has_progressed_ = false;
    sse_.feed(bytes, [&](const SseEvent& event) { take(event, deltas); });
    if (sse_.overflowed()) fail(api::too_large());
    return has_progressed_;
  }

  bool is_complete() const override { return has_stopped_ || failure_; }

  std::expected<Reply, Failure> finish() override {
    is_at_end_ = true;
    sse_.finish([&](const SseEvent& event) { take(event, {}); });
    if (!failure_ && (!has_stopped_ || stop_reason_.empty())) fail(api::cut_short());
    if (failure_) {
      failure_->usage = usage();
      return std::unexpected(*failure_);
    }
    return reply();
  }

 private:
  void take(const SseEvent& event, const DeltaSink& deltas) {
    if (is_complete() || (is_doubled_ && is_second(event))) return;
    api::EventReader reader;
    const auto object = reader.read(event.data);
    if (!object) {
      if (!is_at_end_) fail(api::unreadable());  // at the end it is half an event
      return;
    }
    std::string_view type = text_of(*object, "type");
    if (type.empty()) type = event.name;
    if (type == "ping") return;
    has_progressed_ = true;
    if (type == "content_block_delta") {
      grow_block(*object, deltas);
    } else if (type == "content_block_start") {
      start_block(*object, event.data, deltas);
    } else if (type == "content_block_stop") {
      stop_block(*object);
    } else if (type == "message_start") {
      start_message(*object);
    } else if (type == "message_delta") {
      end_message(*object);
    } else if (type == "message_stop") {
      has_stopped_ = true;
    } else if (type == "error") {
      fail(failure_of(event, api::object_of(*object, "error").value_or(*object)));
    } else {
      has_progressed_ = false;
    }
  }

  // Where a block begins twice in the same words each event comes twice: of two that are the same the second
  // is passed over.
  bool is_second(const SseEvent& event) {
    if (is_first_ && event.data == former_) {
      is_first_ = false;
      return true;
    }
    former_ = event.data;
    is_first_ = true;
    return false;
  }

  // Some gateways begin anew in the middle: the second beginning counts, unless the first was shown already.
  void start_message(Object event) {
    if (has_shown_) return fail(api::unreadable());
    blocks_.clear();
    calls_ = bytes_ = 0;
    if (const auto message = api::object_of(event, "message")) {
      id_ = text_of(*message, "id");
      if (const auto counted = api::object_of(*message, "usage")) count(*counted);
    }
  }

  void start_block(Object event, std::string_view spelled, const DeltaSink& deltas) {
    const auto index = api::number_of(event, "index");
    const auto content = api::member_of(event, "content_block");
    if (!index || !content) return fail(api::unreadable());
    if (blocks_.contains(*index)) {
      if (spelled != former_) return fail(api::unreadable());
      is_doubled_ = true;
      return;
    }
    former_ = spelled;
    if (blocks_.size() == kMaxBlocks) return fail(api::too_large());
    auto raw = raw_object(spelled, "/content_block");
    auto block = Block::from(raw ? *std::move(raw) : api::json_of(*content));
    if (!block) return fail(api::unreadable());
    if (block->type() == "tool_use" && ++calls_ > api::kMostCalls) return fail(api::too_large());
    const std::string text(block->text_at("text"));
    const bool is_whole = block->type() != "tool_use" && block->type() != "thinking";
    if (!take_bytes(block->type() == "text" ? text.size() : is_whole ? spelled.size() : 0)) return;
    if (block->type() == "text") show(text, deltas);
    blocks_.emplace(*index, *std::move(block));
  }

  void grow_block(Object event, const DeltaSink& deltas) {
    const auto index = api::number_of(event, "index");
    const auto delta = api::object_of(event, "delta");
    const auto block = index ? blocks_.find(*index) : blocks_.end();
    if (!delta || block == blocks_.end() || block->second.has_ended()) return fail(api::unreadable());
    if (!take_bytes(block->second.grow(*delta))) return;
    if (block->second.type() == "text") show(text_of(*delta, "text"), deltas);
  }

  void stop_block(Object event) {
    const auto index = api::number_of(event, "index");
    const auto block = index ? blocks_.find(*index) : blocks_.end();
    if (block == blocks_.end() || block->second.has_ended()) return fail(api::unreadable());
    block->second.end();
  }

  void end_message(Object event) {
    if (const auto counted = api::object_of(event, "usage")) count(*counted);
    const auto delta = api::object_of(event, "delta");
    if (!delta) return;
    if (const std::string_view reason = text_of(*delta, "stop_reason"); !reason.empty())
      stop_reason_ = reason;
    if (const auto details = api::object_of(*delta, "stop_details")) {
      category_ = text_of(*details, "category");
      explanation_ = text_of(*details, "explanation");
    }
  }

  void show(std::string_view text, const DeltaSink& deltas) {
    if (text.empty()) return;
    has_shown_ = true;
    if (deltas) deltas(TextDelta{text});
  }

  bool take_bytes(std::size_t more) {
    bytes_ += more;
    if (bytes_ > api::kMostBytes) fail(api::too_large());
    return !failure_;
  }

  void fail(Failure failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  // Later counts replace earlier ones; what is not said again stays.
  void count(Object counted) {
    const auto replace = [&](std::int64_t& value, std::string_view key) {
      if (api::member_of(counted, key)) value = api::count_of(counted, key);
    };
    replace(uncached_, "input_tokens");
    replace(cache_write_, "cache_creation_input_tokens");
    replace(cache_read_, "cache_read_input_tokens");
    replace(output_, "output_tokens");
  }

  Usage usage() const {
    return {.input = uncached_ + cache_write_ + cache_read_,
            .output = output_,
            .cache_read = cache_read_,
            .cache_write = cache_write_};
  }

  ReplyStop stop() const {
    if (stop_reason_ == "max_tokens") return ReplyStop::output_limit;
    if (stop_reason_ == "pause_turn") return ReplyStop::paused;
    if (stop_reason_ == "refusal") return ReplyStop::refused;
    if (stop_reason_ == "model_context_window_exceeded") return ReplyStop::context_exhausted;
    return calls_ > 0 && !is_unknown_stop() ? ReplyStop::calls : ReplyStop::finished;
  }

  bool is_unknown_stop() const {
    static constexpr std::array<std::string_view, 7> kKnown{"end_turn",
                                                            "stop_sequence",
                                                            "tool_use",
                                                            "max_tokens",
                                                            "refusal",
                                                            "pause_turn",
                                                            "model_context_window_exceeded"};
    return std::ranges::find(kKnown, stop_reason_) == kKnown.end();
  }

  std::string error() const {
    if (stop_reason_ == "refusal") return refusal_text(category_, explanation_);
    if (stop_reason_ == "model_context_window_exceeded") {
      return "the conversation no longer fits the model's context window";
    }
    return is_unknown_stop() ? unknown_stop_text(stop_reason_) : "";
  }

  Call call_of(Block& block, std::int64_t index) const {
    const std::string_view id = block.text_at("id");
    block.rename(safe_name(id.empty() ? fmt::format("toolu_{}_{}", id_, index) : std::string(id)));
    return {.id = std::string(block.text_at("id")),
            .name = std::string(block.text_at("name")),
            .arguments = block.arguments()};
  }

  Reply reply() {
    Reply reply{.stop = stop(), .message = {.role = Role::assistant}, .usage = usage(), .error = error()};
    Message& message = reply.message;
    const bool keeps_calls = reply.stop == ReplyStop::calls || reply.stop == ReplyStop::paused;
    std::vector<std::string> turn;
    std::size_t kept = 0;  // up to the last block that is no thinking: the API wants none at the end
    for (auto& [index, block] : blocks_) {
      if (block.type() == "text") message.text += block.text_at("text");
      if (block.type() == "thinking") message.thinking += block.text_at("thinking");
      if (block.type() == "tool_use") {
        if (!keeps_calls) continue;
        message.calls.push_back(call_of(block, index));
      }
      if (!block.may_return()) continue;
      turn.push_back(block.to_json());
      if (!block.is_thinking()) kept = turn.size();
    }
    turn.resize(kept);
    const std::string own = assistant_turn(turn);
    if (kept > 0 && own != assistant_turn(message)) message.wire = api::wire_for(kProvider, own);
    return reply;
  }

  SseDecoder sse_;
  std::string id_;
  std::map<std::int64_t, Block> blocks_;
  std::size_t calls_ = 0;
  std::size_t bytes_ = 0;
  std::string stop_reason_;
  std::string category_;
  std::string explanation_;
  std::int64_t uncached_ = 0;
  std::int64_t cache_write_ = 0;
  std::int64_t cache_read_ = 0;
  std::int64_t output_ = 0;
  std::optional<Failure> failure_;
  std::string former_;  // the start of the last block; once all comes twice, the last event
  bool is_doubled_ = false;
  bool is_first_ = false;  // of two: the former
  bool has_progressed_ = false;
  bool has_shown_ = false;
  bool has_stopped_ = false;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<ReplyDecoder> make_decoder() { return std::make_unique<Decoder>(); }

}  // namespace deputy::anthropic
