#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace deputy {

namespace {

// The addresses whose first `bits` are those of `start`.
struct Range {
  std::initializer_list<std::uint8_t> start;  // zeros follow
  unsigned bits;
};

bool holds(const Range& range, std::span<const std::uint8_t> bytes) {
  for (unsigned bit = 0; bit < range.bits; ++bit) {
    const unsigned at = bit / 8;
    const std::uint8_t wanted = at < range.start.size() ? range.start.begin()[at] : 0;
    const unsigned mask = 0x80u >> (bit % 8);
    if ((wanted & mask) != (bytes[at] & mask)) return false;
  }
  return true;
}

// IANA's special purposes, and what clouds keep for their metadata.
constexpr Range kNotPublicV4[] = {
    {{0}, 8},                  // this network
    {{10}, 8},                 // private
    {{100, 64}, 10},           // shared by carriers; 100.100.100.200 is a metadata service
    {{127}, 8},                // loopback
    {{168, 63, 129, 16}, 32},  // a cloud's host agent behind a public address
    {{169, 254}, 16},          // link-local; 169.254.169.254 is the metadata service
    {{172, 16}, 12},           // private
    {{192, 0, 0}, 24},         // protocol assignments; 192.0.0.192 is a metadata service
    {{192, 0, 2}, 24},         // documentation
    {{192, 88, 99}, 24},       // relays of 6to4
    {{192, 168}, 16},          // private
    {{198, 18}, 15},           // benchmarks
    {{198, 51, 100}, 24},      // documentation
    {{203, 0, 113}, 24},       // documentation
    {{224}, 4},                // multicast
    {{240}, 4},                // reserved, and broadcast
};

constexpr Range kGlobalV6{{0x20}, 3};
constexpr Range kNotPublicV6[] = {
    {{0x20, 0x01}, 23},              // protocol assignments: Teredo, benchmarks, ORCHID
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x20, 0x02}, 16},              // 6to4
    {{0x3f, 0xff}, 20},              // documentation
};

// IPv6 in front, the IPv4 address that is reached in the last four bytes.
constexpr Range kHoldsV4[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},  // mapped
    {{0x00, 0x64, 0xff, 0x9b}, 96},                    // NAT64
};

bool is_public_v4(std::span<const std::uint8_t> bytes) {
  return std::ranges::none_of(kNotPublicV4, [&](const Range& range) { return holds(range, bytes); });
}

bool is_public_v6(std::span<const std::uint8_t> bytes) {
  if (std::ranges::any_of(kHoldsV4, [&](const Range& range) { return holds(range, bytes); })) {
    return is_public_v4(bytes.last<4>());
  }
  return holds(kGlobalV6, bytes) &&
         std::ranges::none_of(kNotPublicV6, [&](const Range& range) { return holds(range, bytes); });
}

}  // namespace

IpAddress::IpAddress(const V4& bytes) : size_(bytes.size()) { std::ranges::copy(bytes, bytes_.begin()); }

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text.contains('\0')) return std::nullopt;
  const std::string ended(text);
  IpAddress::V4 v4;
  if (::inet_pton(AF_INET, ended.c_str(), v4.data()) == 1) return IpAddress(v4);
  IpAddress::V6 v6;
  if (::inet_pton(AF_INET6, ended.c_str(), v6.data()) == 1) return IpAddress(v6);
  return std::nullopt;
}

std::string to_text(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto bytes = address.bytes();
  ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<SocketAddress> read_socket_address(const sockaddr& from, std::size_t size) {
  if (from.sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4;
    std::memcpy(&v4, &from, sizeof v4);
    IpAddress::V4 bytes;
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    return SocketAddress{IpAddress(bytes), ntohs(v4.sin_port)};
  }
  if (from.sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &from, sizeof v6);
    IpAddress::V6 bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return SocketAddress{IpAddress(bytes), ntohs(v6.sin6_port)};
  }
  return std::nullopt;
}

bool is_public(const IpAddress& address) {
  const auto bytes = address.bytes();
  return bytes.size() == 4 ? is_public_v4(bytes) : is_public_v6(bytes);
}

bool is_public_web(const SocketAddress& peer) {
  return (peer.port == 80 || peer.port == 443) && is_public(peer.address);
}

}  // namespace deputy
