#include "guard/host_name.h"

#include <gtest/gtest.h>

#include <string>

namespace deputy {
namespace {

TEST(HostName, EverySpellingBecomesOne) {
  for (const char* host : {"example.org", "EXAMPLE.org", "example.org.", "example\u3002org",
                           "ｅｘａｍｐｌｅ.org", "exa\u00admple.org", "example\uff0eorg"}) {
    EXPECT_EQ(ascii_host(host), "example.org") << host;
  }
}

TEST(HostName, LettersBeyondAsciiAreEncoded) {
  EXPECT_EQ(ascii_host("bücher.example"), "xn--bcher-kva.example");
  EXPECT_EQ(ascii_host("BÜCHER.example"), "xn--bcher-kva.example");
  EXPECT_EQ(ascii_host("bu\u0308cher.example"), "xn--bcher-kva.example");
  EXPECT_EQ(ascii_host("mañana.com"), "xn--maana-pta.com");
  EXPECT_EQ(ascii_host("例え.jp"), "xn--r8jz45g.jp");
  EXPECT_EQ(ascii_host("правда.рф"), "xn--80aafi6cg.xn--p1ai");
  EXPECT_EQ(ascii_host("☃.net"), "xn--n3h.net");
}

TEST(HostName, WhatIsNoHostIsNothing) {
  for (const char* host : {"", ".", "..", "a..b", ".a", "a.b..", "a b", "a/b", "a:1", "http://a", "[::1]",
                           "a\\b", "a@b", "a%2eb", "\xff.org", "a\u2100.org", "a\u202f"}) {
    EXPECT_EQ(ascii_host(host), std::nullopt) << host;
  }
}

TEST(HostName, KeepsTheLimitsOfNames) {
  EXPECT_TRUE(ascii_host(std::string(63, 'a')));
  EXPECT_FALSE(ascii_host(std::string(64, 'a')));
  const std::string label(62, 'a');
  const std::string most = label + "." + label + "." + label + "." + label + ".a";  // 253
  EXPECT_EQ(most.size(), 253U);
  EXPECT_TRUE(ascii_host(most));
  EXPECT_FALSE(ascii_host(most + "b"));
}

TEST(HostName, KnowsAddresses) {
  for (const char* host : {"127.0.0.1", "1", "0x7f.1", "a.0x", "1.2.3.0xff"})
    EXPECT_TRUE(is_numeric_host(host)) << host;
  for (const char* host : {"a.b", "1.example", "0x7g", "x1"}) EXPECT_FALSE(is_numeric_host(host)) << host;
}

}  // namespace
}  // namespace deputy
