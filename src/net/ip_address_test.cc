#include "net/ip_address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <bit>
#include <random>

namespace deputy {
namespace {

bool is_public_text(std::string_view text) {
  const auto address = parse_ip_address(text);
  EXPECT_TRUE(address) << text;
  return address && is_public(*address);
}

TEST(IpAddress, TheOpenInternetIsPublic) {
  for (const auto text : {"1.1.1.1",
                          "8.8.8.8",
                          "93.184.216.34",
                          "100.63.255.255",
                          "100.128.0.0",
                          "126.255.255.255",
                          "128.0.0.0",
                          "168.63.129.15",
                          "169.253.255.255",
                          "169.255.0.0",
                          "172.15.255.255",
                          "172.32.0.0",
                          "192.0.1.0",
                          "192.0.3.0",
                          "192.167.255.255",
                          "192.169.0.0",
                          "198.17.255.255",
                          "198.20.0.0",
                          "223.255.255.255",
                          "2606:4700:4700::1111",
                          "2a00:1450:4001::200e",
                          "2001:200::1",
                          "2001:db7:ffff::1",
                          "2001:db9::1",
                          "2003::1",
                          "3ffe::1",
                          "3fff:1000::1",
                          "::ffff:8.8.8.8",
                          "64:ff9b::8.8.8.8"}) {
    EXPECT_TRUE(is_public_text(text)) << text;
  }
}

TEST(IpAddress, WhatIsNotTheOpenInternetIsNotPublic) {
  for (const auto text : {"0.0.0.0",
                          "0.255.255.255",
                          "10.0.0.0",
                          "10.255.255.255",
                          "100.64.0.0",
                          "100.127.255.255",
                          "100.100.100.200",
                          "127.0.0.1",
                          "127.255.255.255",
                          "168.63.129.16",
                          "169.254.0.0",
                          "169.254.169.254",
                          "169.254.255.255",
                          "172.16.0.0",
                          "172.31.255.255",
                          "192.0.0.0",
                          "192.0.0.192",
                          "192.0.0.255",
                          "192.0.2.1",
                          "192.88.99.1",
                          "192.168.0.0",
                          "192.168.255.255",
                          "198.18.0.0",
                          "198.19.255.255",
                          "198.51.100.7",
                          "203.0.113.255",
                          "224.0.0.1",
                          "239.255.255.255",
                          "240.0.0.1",
                          "255.255.255.255",
                          "::",
                          "::1",
                          "::2",
                          "::127.0.0.1",
                          "::8.8.8.8",
                          "::ffff:127.0.0.1",
                          "::ffff:10.0.0.1",
                          "::ffff:0:8.8.8.8",
                          "64:ff9b::127.0.0.1",
                          "64:ff9b::a9fe:a9fe",
                          "64:ff9b:1::8.8.8.8",
                          "64:ff9b:0:0:1::8.8.8.8",
                          "100::1",
                          "100:0:0:1::1",
                          "2001::1",
                          "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                          "2001:2::1",
                          "2001:10::1",
                          "2001:20::1",
                          "2001:1ff:ffff::1",
                          "2001:db8::1",
                          "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                          "2002:7f00:1::1",
                          "2002:808:808::1",
                          "3fff::1",
                          "3fff:fff:ffff::1",
                          "4000::1",
                          "5f00::1",
                          "fc00::1",
                          "fd00:ec2::254",
                          "fdff::1",
                          "fe80::1",
                          "febf::1",
                          "fec0::1",
                          "ff02::1",
                          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
    EXPECT_FALSE(is_public_text(text)) << text;
  }
}

TEST(IpAddress, AMappedOrTranslatedAddressIsJudgedAsTheOneThatIsReached) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto v4 = std::bit_cast<IpAddress::V4>(std::uint32_t(random()));
    for (const IpAddress::V6 prefix :
         {IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, IpAddress::V6{0, 0x64, 0xff, 0x9b}}) {
      IpAddress::V6 v6 = prefix;
      std::copy(v4.begin(), v4.end(), v6.end() - 4);
      ASSERT_EQ(is_public(IpAddress(v6)), is_public(IpAddress(v4))) << to_text(IpAddress(v6));
    }
  }
}

TEST(IpAddress, AWebServerListensAtOneOfTwoPorts) {
  const IpAddress open = parse_ip_address("8.8.8.8").value();
  EXPECT_TRUE(is_public_web({open, 80}));
  EXPECT_TRUE(is_public_web({open, 443}));
  for (const std::uint16_t port : {0, 22, 79, 81, 442, 444, 6379, 8080, 65535}) {
    EXPECT_FALSE(is_public_web({open, port})) << port;
  }
  EXPECT_FALSE(is_public_web({parse_ip_address("127.0.0.1").value(), 80}));
}

TEST(IpAddress, ATextIsReadInOneSpellingOnly) {
  for (const auto text :
       {"", "1", "127.1", "127.0.0.01", "0x7f.0.0.1", "1.2.3.4.5", "256.0.0.1", " 127.0.0.1", "127.0.0.1 ",
        "[::1]", "fe80::1%eth0", "1::2::3", ":::", "12345::", "::1/128"}) {
    EXPECT_FALSE(parse_ip_address(text)) << text;
  }
  EXPECT_FALSE(parse_ip_address(std::string_view("127.0.0.1\0", 10)));
}

TEST(IpAddress, PrintsWhatItReads) {
  for (const auto text : {"0.0.0.0", "192.0.2.1", "::", "2001:db8::1", "::ffff:192.0.2.1"}) {
    EXPECT_EQ(to_text(parse_ip_address(text).value()), text);
  }
  EXPECT_EQ(to_text(parse_ip_address("2001:DB8:0:0::1").value()), "2001:db8::1");
}

TEST(IpAddress, IsReadFromTheSocketsForm) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0xc0000201);
  v4.sin_port = htons(443);
  const auto read = read_socket_address(reinterpret_cast<const sockaddr&>(v4), sizeof v4);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(read->address), "192.0.2.1");
  EXPECT_EQ(read->port, 443);
  EXPECT_FALSE(read_socket_address(reinterpret_cast<const sockaddr&>(v4), sizeof v4 - 1));

  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  EXPECT_EQ(to_text(read_socket_address(reinterpret_cast<const sockaddr&>(v6), sizeof v6).value().address),
            "::1");
  v6.sin6_family = AF_UNIX;
  EXPECT_FALSE(read_socket_address(reinterpret_cast<const sockaddr&>(v6), sizeof v6));
}

}  // namespace
}  // namespace deputy
