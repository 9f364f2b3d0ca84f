// The parts of an answer as they come: text is joined, calls that come in pieces are put together, everything
// else is kept as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/event_reader.h"
#include "transcript/message.h"

namespace deputy::gemini {

class Parts {
 public:
  enum class Taken { yes, unreadable, too_large };
  // `raw` is the part's spelling.
  Taken take(api::Object part, std::string raw);
  // A call whose arguments have not all come yet.
  bool has_open_call() const { return open_.has_value(); }
  bool has_calls() const { return calls_ > 0; }

  enum class Keep { everything, no_calls };
  // Text, thinking, calls and wire. Calls without an id get one made of `reply_id`.
  Message finished(std::string_view reply_id, Keep keep) const;

 private:
  struct Part {
    enum class Kind { text, thought, call, other };
    Kind kind = Kind::other;
    std::string raw = {};  // empty for text that was joined
    std::string text = {};
    std::optional<Call> call = std::nullopt;
  };
  struct OpenCall {
    Call call;
    json::value arguments;
    std::string signature;
  };

  Taken take_call(api::Object call, std::string raw, std::string_view signature);
  Taken add_arguments(api::Object call);
  Taken close_call();
  Taken add(Part part);

  std::vector<Part> parts_;
  std::optional<OpenCall> open_;
  std::size_t bytes_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace deputy::gemini
