// Addresses of IPv4 and IPv6 as values, and which of them belong to the open internet. What is not plainly
// public is not: private, shared, loopback and link-local networks, cloud metadata services, documentation,
// benchmarks, multicast, and tunnels whose far end cannot be judged. Pure functions only.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace deputy {

class IpAddress {
 public:
  using V4 = std::array<std::uint8_t, 4>;
  using V6 = std::array<std::uint8_t, 16>;
  explicit IpAddress(const V4& bytes);
  explicit IpAddress(const V6& bytes) : bytes_(bytes), size_(bytes.size()) {}

  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }  // 4 or 16, as on the wire
  bool operator==(const IpAddress&) const = default;

 private:
  V6 bytes_{};
  std::size_t size_;
};

// "192.0.2.1" or "2001:db8::1": four decimal numbers without leading zeros, or RFC 4291; no brackets, no
// zone.
std::optional<IpAddress> parse_ip_address(std::string_view text);
// In its shortest form, as parse_ip_address reads it.
std::string to_text(const IpAddress& address);

struct SocketAddress {
  IpAddress address;
  std::uint16_t port;
};
// Nothing for what is neither IPv4 nor IPv6.
std::optional<SocketAddress> read_socket_address(const sockaddr& from, std::size_t size);

// An IPv4 address inside an IPv6 one (mapped, NAT64) is judged as the IPv4 address that is reached.
bool is_public(const IpAddress& address);
// A public address, at one of the web's own ports, 80 and 443.
bool is_public_web(const SocketAddress& peer);

}  // namespace deputy
