// The stream of Chat Completions, with the liberties that compatible servers take: chunks without index, id
// or finish reason, nulls, repeated names and finish chunks, errors inside, no [DONE] at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/dialect.h"
#include "model/event_reader.h"
#include "model/openai_chat.h"
#include "model/reply_draft.h"
#include "net/sse.h"

namespace deputy::api {

class ChatDecoder final : public ReplyDecoder {
 public:
  explicit ChatDecoder(ChatFlavour flavour) : flavour_(flavour) {}

  bool feed(std::string_view bytes, const DeltaSink& deltas) override;
  bool is_complete() const override {
    return is_done_ || failure_ || draft_.is_too_large() || sse_.overflowed();
  }
  // The counts come after the reason, and after them [DONE]: some servers send neither.
  bool may_be_complete() const override { return is_complete() || (!finish_.empty() && !has_gone_on_); }
  std::expected<Reply, Failure> finish() override;

 private:
  bool take_event(const SseEvent& event, const DeltaSink& deltas);
  bool take_chunk(Object chunk, const DeltaSink& deltas);
  void take_delta(Object delta, const DeltaSink& deltas);
  void take_content(Object delta, const DeltaSink& deltas);
  void take_reasoning(Object delta);
  void take_detail(Object detail);
  void take_call(Object piece);
  std::size_t call_for(Object piece, std::string_view name);
  bool take_usage(Object chunk);
  std::optional<Failure> mistake() const;
  void set_stop(Reply& reply) const;
  void set_wire(Message& message) const;

  ChatFlavour flavour_;
  SseDecoder sse_;
  ReplyDraft draft_;
  std::vector<std::optional<std::int64_t>> indexes_;  // of each call, as the server counts them
  std::string reply_id_;
  std::string finish_;
  bool has_begun_ = false;
  bool has_gone_on_ = false;  // since the reason came: it was not the last word
  std::string refusal_;
  std::string reasoning_field_;  // the name that this server has for it
  json::array reasoning_details_;
  std::size_t detail_bytes_ = 0;
  Usage usage_;
  std::optional<Failure> failure_;
  bool is_done_ = false;
};

}  // namespace deputy::api
