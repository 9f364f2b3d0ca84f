// A text that is an address prints as itself, and an IPv4 address is judged the same wherever it is wrapped;
// any sixteen bytes can be judged.
#include <algorithm>
#include <cstdint>

#include "must.h"
#include "net/ip_address.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (const auto parsed = parse_ip_address({reinterpret_cast<const char*>(bytes), size})) {
    must(parse_ip_address(to_text(*parsed)) == parsed);
  }
  if (size >= 16) {
    IpAddress::V6 raw;
    std::copy_n(bytes, raw.size(), raw.begin());
    const IpAddress v6(raw);
    must(parse_ip_address(to_text(v6)) == v6);
    const bool global = (raw[0] & 0xe0) == 0x20;
    const bool wraps = raw[0] == 0 && (raw[1] == 0 || raw[1] == 0x64);
    must(!is_public(v6) || global || wraps);
  }
  if (size >= 4) {
    IpAddress::V4 raw;
    std::copy_n(bytes, raw.size(), raw.begin());
    IpAddress::V6 mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::ranges::copy(raw, mapped.begin() + 12);
    must(is_public(IpAddress(mapped)) == is_public(IpAddress(raw)));
  }
  return 0;
}
