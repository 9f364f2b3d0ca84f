#include "guard/code_points.h"

#include "base/text.h"

namespace deputy {

std::u32string code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view bytes = text.substr(at, size);
    if (lead < 0x80) {
      out += lead;
    } else if (bytes.size() == size && is_utf8(bytes)) {
      char32_t code = lead & (0xff >> (size + 1));
      for (const char byte : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3f);
      out += code;
    } else {
      out += static_cast<char32_t>(0x110000 + lead);
      ++at;
      continue;
    }
    at += size;
  }
  return out;
}

}  // namespace deputy
