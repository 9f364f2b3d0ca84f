// One content block of an answer while it grows, of whatever type: what the deltas add is added, what came
// stays as it came, so that it can go back unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "model/event_reader.h"

namespace deputy::anthropic {

class Block {
 public:
  // From the spelling of its beginning.
  static std::optional<Block> from(std::string raw);

  std::string_view type() const { return type_; }
  std::string_view text_at(std::string_view key) const;
  // A call's input as the model wrote it.
  std::string arguments() const;

  // Returns how many bytes were added. Members of unknown deltas are kept too.
  std::size_t grow(api::Object delta);
  void rename(const std::string& id);
  void end() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }

  bool is_thinking() const { return type_ == "thinking" || type_ == "redacted_thinking"; }
  // Whether the API takes it back: it refuses blank text and thinking that is not signed.
  bool may_return() const;
  std::string to_json() const;

 private:
  std::string raw_;  // as it began
  std::string type_;
  json::object members_;       // as they are by now
  std::string partial_input_;  // instead of `input`, unless it is empty
  bool has_changed_ = false;
  bool has_ended_ = false;
};

}  // namespace deputy::anthropic
