// TOML from anybody's hands. The library takes for granted what hostile text does not keep to ("[[["), and
// its release builds, the packaged one too, rest on it. So it is compiled where it is used, with each such
// assumption checked in every build, and a broken one is a mistake in the text. Only what works on the tree
// includes this header; the tree itself comes from parse_toml.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {
struct BrokenTomlAssumption {};
}  // namespace deputy

#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expr) ((expr) ? void() : throw ::deputy::BrokenTomlAssumption())
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace deputy {

// `file` is for messages alone: "config.toml:3: this is not TOML: …". Keys are as toml_key() reads them.
Result<toml::table> parse_toml(std::string_view text, std::string_view file);

// A key of such a table as it was written.
std::string toml_key(std::string_view key);

}  // namespace deputy
