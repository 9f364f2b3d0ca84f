// Whatever a terminal sends: text keys hold printable UTF-8 alone, and how the bytes were cut into pieces
// does not matter.
#include <cstdint>

#include "base/text.h"
#include "must.h"
#include "tui/key.h"

using namespace deputy;

namespace {

void add_joined(std::vector<Key>& all, const std::vector<Key>& more) {
  for (const Key& key : more) {
    const bool goes_on = key.name == KeyName::text && !all.empty() && all.back().name == KeyName::text;
    if (goes_on) {
      all.back().text += key.text;
    } else {
      all.push_back(key);
    }
  }
}

void check(const Key& key) {
  must(is_utf8(key.text));
  for (const char c : key.text) {
    const bool breaks = key.name == KeyName::paste && (c == '\n' || c == '\t');
    must(breaks || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  KeyReader whole;
  std::vector<Key> at_once;
  add_joined(at_once, whole.feed(input));
  KeyReader pieces;
  std::vector<Key> one_by_one;
  for (const char& c : input) add_joined(one_by_one, pieces.feed({&c, 1}));
  must(at_once == one_by_one);
  for (const Key& key : at_once) check(key);
  return 0;
}
