// Keeps secrets out of whatever leaves the process. A Redactor knows the values it must hide (plain, base64
// at each alignment, URL-encoded, hex, JSON-escaped) and the shapes of common keys; it is handed to the
// writers of journal, events and terminal.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

class Redactor {
 public:
  Redactor() = default;
  // Values shorter than 8 characters are ignored: hiding them would eat ordinary text.
  void hide(std::string_view secret);
  // Every secret replaced by "[redacted]"; text without one comes back unchanged.
  std::string redact(std::string_view text) const { return redact(text, Shapes::hidden); }
  // The same for the values alone: for text that must not be changed for its looks.
  std::string redact_values(std::string_view text) const { return redact(text, Shapes::kept); }

 private:
  enum class Shapes { hidden, kept };
  std::string redact(std::string_view text, Shapes shapes) const;

  std::vector<std::string> needles_;  // longest first
  std::bitset<65536>
      beginnings_;  // the first two bytes of each needle: most places are ruled out by one look
};

}  // namespace deputy
