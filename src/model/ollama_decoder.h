// The stream of Ollama's /api/chat: a JSON object a line, calls whole, the last line with done and the
// counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/dialect.h"
#include "model/event_reader.h"
#include "model/reply_draft.h"

namespace deputy::api {

inline constexpr std::string_view kOllamaProvider = "ollama";

// An assistant's turn as a message.
std::string ollama_turn(const Message& message, std::string_view thinking);

class OllamaDecoder final : public ReplyDecoder {
 public:
  bool feed(std::string_view bytes, const DeltaSink& deltas) override;
  bool is_complete() const override { return is_done_ || failure_; }
  std::expected<Reply, Failure> finish() override;

 private:
  bool take_line(std::string_view line, const DeltaSink& deltas);
  void take_message(Object message, const DeltaSink& deltas);

  std::string line_;  // not ended yet
  ReplyDraft draft_;
  std::string reply_id_;
  std::string done_reason_;
  Usage usage_;
  std::optional<Failure> failure_;
  bool is_done_ = false;
};

}  // namespace deputy::api
