// A reply while it comes in: text, thinking and calls, gathered within bounds. What is past a bound is not
// kept, and said so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/provider.h"

namespace deputy::api {

inline constexpr std::size_t kMostCalls = 128;
inline constexpr std::size_t kMostBytes =
    16 * 1024 * 1024;  // of text, of thinking, of all arguments together

class ReplyDraft {
 public:
  void say(std::string_view text, const DeltaSink& deltas);  // and shows it
  void think(std::string_view text);
  // Where the call stands; past the limit it is the last one's place.
  std::size_t open_call();
  void add_arguments(std::size_t call, std::string_view text);
  Call& call(std::size_t index) { return message_.calls[index]; }
  std::size_t calls() const { return message_.calls.size(); }
  bool is_empty() const { return message_.text.empty() && message_.calls.empty(); }
  bool is_too_large() const { return is_too_large_; }
  // The calls that have another id than they came with.
  const std::vector<std::size_t>& renamed() const { return renamed_; }

  // Calls without an id of their own, or with one that another has too, get one that no other reply has, if
  // `reply_id` tells replies apart. No arguments are an empty object.
  Message finished(std::string_view reply_id);

 private:
  bool fits(std::size_t held, std::size_t more);

  Message message_{.role = Role::assistant};
  std::size_t argument_bytes_ = 0;
  bool is_too_large_ = false;
  std::vector<std::size_t> renamed_;
};

}  // namespace deputy::api
