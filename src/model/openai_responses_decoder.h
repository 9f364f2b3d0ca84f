// The stream of Responses. What counts is what an item's last event says; its pieces are only shown. Items
// are told apart by their place, as proxies change their ids on the way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/dialect.h"
#include "model/event_reader.h"
#include "model/reply_draft.h"
#include "net/sse.h"

namespace deputy::api {

inline constexpr std::string_view kResponsesProvider = "openai";

class ResponsesDecoder final : public ReplyDecoder {
 public:
  bool feed(std::string_view bytes, const DeltaSink& deltas) override;
  bool is_complete() const override { return failure_ || !ended_as_.empty() || sse_.overflowed(); }
  std::expected<Reply, Failure> finish() override;

 private:
  bool take_event(const SseEvent& event, const DeltaSink& deltas);
  void take_item(std::int64_t place, std::string text);
  void take_end(Object response, std::string_view type);
  void take_usage(Object response);
  void gather(Object item);
  std::string wire_of_items() const;
  void set_stop(Reply& reply) const;

  SseDecoder sse_;
  std::map<std::int64_t, std::string> items_;  // as JSON text, by place
  std::size_t item_bytes_ = 0;
  std::string shown_;  // what the pieces came to, in case no item follows
  ReplyDraft draft_;
  std::int64_t last_number_ = -1;
  std::string reply_id_;
  std::string refusal_;
  std::string ended_as_;  // completed or incomplete
  std::string incomplete_reason_;
  bool has_thought_ = false;
  bool has_half_call_ = false;
  bool may_go_back_ = true;  // all reasoning is there in encrypted form
  Usage usage_;
  std::optional<Failure> failure_;
};

}  // namespace deputy::api
