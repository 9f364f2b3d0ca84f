// The passwords that stand in addresses (scheme://user:password@host), wherever these stand in a text. Pure,
// in time in proportion to the text. Rather too much is taken for a password than too little: it goes on to
// the last '@' before white space or one of "/?#", which a password holds only percent-encoded. Also what is
// left of one where the text was cut short within it, with "…" or "..." behind.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace deputy {

struct WithoutPasswords {
  std::string text;                  // with kRedacted in place of each
  std::vector<std::string> secrets;  // these, and what stands alone before an '@': a token, or a mere name
};

WithoutPasswords without_passwords(std::string_view text);

// Out of all strings and keys of the value, and of those of JSON that is text in it. Adds the secrets, which
// are to be hidden where they stand elsewhere.
void take_out_passwords(json::value& value, std::set<std::string>& secrets);

// The same where they stand alone and were cut short: "correct-ho…".
std::string without_cut_secrets(std::string_view text, const std::set<std::string>& secrets);
void take_out_cut_secrets(json::value& value, const std::set<std::string>& secrets);

}  // namespace deputy
