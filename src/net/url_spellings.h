// For tests: URLs that mean an address that is not public, in every spelling that resolvers, browsers and
// libraries are known to understand.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "net/ip_address.h"

namespace deputy {

struct Spelling {
  IpAddress address;
  std::string url;
};

namespace url_spellings_internal {

// A number in each base that inet_aton knows, some with zeros in front.
inline std::vector<std::string> numbers(std::uint32_t value) {
  return {fmt::format("{}", value),    fmt::format("0x{:x}", value),  fmt::format("0X{:X}", value),
          fmt::format("0{:o}", value), fmt::format("000{:o}", value), fmt::format("0x000{:x}", value)};
}

inline std::vector<std::string> v4_hosts(const IpAddress::V4& b) {
  const std::uint32_t whole = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
  std::vector<std::string> hosts = numbers(whole);
  for (const auto& first : numbers(b[0])) {
    for (const auto& rest : numbers(whole & 0xffffff)) hosts.push_back(first + "." + rest);
    for (const auto& rest : numbers(whole & 0xffff))
      hosts.push_back(fmt::format("{}.{}.{}", first, b[1], rest));
    for (const auto& last : numbers(b[3])) {
      hosts.push_back(fmt::format("{}.{}.{}.{}", first, b[1], b[2], last));
      hosts.push_back(fmt::format("{}.0{:o}.0x{:x}.{}.", first, b[1], b[2], last));
    }
  }
  return hosts;
}

inline std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return out;
}

inline std::string full_width(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c >= '0' && c <= '9' ? fmt::format("\xef\xbc{}", char(0x90 + c - '0')) : "\xe3\x80\x82";
  return out;
}

}  // namespace url_spellings_internal

inline std::vector<Spelling> spellings_of_private_addresses() {
  using namespace url_spellings_internal;
  std::vector<Spelling> all;
  const auto add = [&](const IpAddress& address, const std::string& host) {
    all.push_back({address, "http://" + host + "/"});
    all.push_back({address, "https://" + host + ":80/latest/meta-data/"});
    all.push_back({address, "http://example.org@" + host + "/"});
  };
  for (const IpAddress::V4 bytes : {IpAddress::V4{127, 0, 0, 1},
                                    {127, 8, 9, 10},
                                    {0, 0, 0, 0},
                                    {10, 1, 2, 3},
                                    {169, 254, 169, 254},
                                    {172, 16, 5, 4},
                                    {192, 168, 1, 1},
                                    {100, 64, 0, 1},
                                    {198, 18, 0, 1},
                                    {168, 63, 129, 16},
                                    {224, 0, 0, 1},
                                    {255, 255, 255, 255}}) {
    const IpAddress v4(bytes);
    for (const std::string& host : v4_hosts(bytes)) add(v4, host);
    add(v4, percent_encoded(to_text(v4)));
    add(v4, full_width(to_text(v4)));
    for (const IpAddress::V6 prefix : {IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff},
                                       IpAddress::V6{0, 0x64, 0xff, 0x9b}, IpAddress::V6{}}) {
      IpAddress::V6 v6 = prefix;
      std::copy(bytes.begin(), bytes.end(), v6.end() - 4);
      const auto word = [&](int i) { return unsigned(v6[2 * i] << 8 | v6[2 * i + 1]); };
      add(IpAddress(v6), fmt::format("[{}]", to_text(IpAddress(v6))));
      add(IpAddress(v6), fmt::format("[{:04X}:{:04X}:{:04X}:{:04X}:{:04X}:{:04X}:{:04X}:{:04X}]", word(0),
                                     word(1), word(2), word(3), word(4), word(5), word(6), word(7)));
      add(IpAddress(v6), fmt::format("[{:x}:{:x}:0:0:0:{:x}:{}]", word(0), word(1), word(5), to_text(v4)));
    }
  }
  for (const auto text :
       {"::", "::1", "fe80::1", "fd00:ec2::254", "fc00::1", "ff02::1", "2001:db8::1", "2002:7f00:1::"}) {
    add(*parse_ip_address(text), fmt::format("[{}]", text));
    add(*parse_ip_address(text), fmt::format("[{}%25eth0]", text));
    add(*parse_ip_address(text), fmt::format("[{}%lo]", text));
  }
  return all;
}

}  // namespace deputy
