// Keeps secrets out of whatever leaves the process. A Redactor knows the values it must hide (plain, base64
// at each alignment, URL-encoded, hex, JSON-escaped; base64 and hex also where they are broken into lines)
// and the shapes of common keys; it is handed to the writers of journal, events and terminal.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace deputy {

// What stands in place of a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

class Redactor {
 public:
  Redactor() = default;
  // Values shorter than 8 characters are ignored: hiding them would eat ordinary text.
  void hide(std::string_view secret);
  // Every secret replaced by kRedacted; text without one comes back unchanged.
  std::string redact(std::string_view text) const { return redact(text, Shapes::hidden); }
  // The same for the values alone: for text that must not be changed for its looks.
  std::string redact_values(std::string_view text) const { return redact(text, Shapes::kept); }
  // The value as JSON text, each string and key of it redacted by itself: what is hidden ends where its
  // string does, so that the text stays JSON. A private key whose lines are the strings of a list is hidden
  // whole.
  std::string redact_json(json::value value) const;
  // How much of the first `wanted` bytes can be taken off the text and redacted by itself: no secret begins
  // in it that goes on behind it, or may go on in text that is still to come.
  std::size_t settled(std::string_view text, std::size_t wanted) const;
  // Of a text that is a private key without its end: what must stand before that which follows, so that it is
  // hidden too. Else "".
  static std::string rest_of_open_key(std::string_view text);

 private:
  enum class Shapes { hidden, kept };
  std::string redact(std::string_view text, Shapes shapes) const;

  struct Needle {
    std::string text;
    bool may_wrap = false;  // white space may stand between its characters
    bool operator==(const Needle&) const = default;
  };
  struct Reach {
    std::size_t whole = 0;  // the length of the longest value
    bool is_open = false;   // the text ends within one
  };
  void add(Needle needle);
  static std::size_t length_at(std::string_view text, const Needle& needle);
  Reach value_at(std::string_view text) const;

  std::vector<Needle> needles_;
  std::bitset<65536>
      beginnings_;  // the first two bytes of each needle: most places are ruled out by one look
};

}  // namespace deputy
