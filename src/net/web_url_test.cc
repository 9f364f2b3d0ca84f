#include "net/web_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/url_spellings.h"

namespace deputy {
namespace {

using testing::HasSubstr;

std::string text_of(std::string_view url) {
  const auto parsed = parse_web_url(url);
  return parsed ? parsed->text : "refused: " + parsed.error().message;
}

TEST(WebUrl, HasOneTextForItsManySpellings) {
  for (const auto& [given, text] : std::vector<std::pair<std::string, std::string>>{
           {"https://example.org", "https://example.org/"},
           {"HTTPS://Example.ORG:443/", "https://example.org/"},
           {"http://example.org:80/a", "http://example.org/a"},
           {"http://example.org:443/a", "http://example.org:443/a"},
           {"https://example.org:80", "https://example.org:80/"},
           {"https://example.org:/a", "https://example.org/a"},
           {"https://example.org./a", "https://example.org/a"},
           {"https://example.org?q=1", "https://example.org/?q=1"},
           {"https://example.org#part", "https://example.org/"},
           {"https://example.org/a#b/?c@d", "https://example.org/a"},
           {"https://example.org/a/./b/../c", "https://example.org/a/c"},
           {"https://example.org/a b", "https://example.org/a%20b"},
           {"https://example.org/K\xc3\xa4se?\xc3\xa4", "https://example.org/K%C3%A4se?%C3%A4"},
           {"https://example.org/%7Ea%2f?x[]=|", "https://example.org/%7Ea%2f?x%5B%5D=%7C"},
           {"https://example.org/100%", "https://example.org/100%25"},
           {"https://example.org/@me:x", "https://example.org/@me:x"},
           {"http://192.0.2.1/", "http://192.0.2.1/"},
           {"http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"},
           {"http://[2001:db8::1]:443/", "http://[2001:db8::1]:443/"},
           {"https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"},
           {"https://a_b.example.org/", "https://a_b.example.org/"},
       }) {
    EXPECT_EQ(text_of(given), text);
    EXPECT_EQ(text_of(text), text);
  }
}

TEST(WebUrl, NamesItsParts) {
  const auto url = parse_web_url("HTTP://[2001:DB8::1]/a?b=c#d").value();
  EXPECT_EQ(url.scheme, "http");
  EXPECT_EQ(url.host, "2001:db8::1");
  EXPECT_EQ(url.target, "/a?b=c");
}

TEST(WebUrl, RefusesWhatCanBeReadInTwoWays) {
  using namespace std::string_view_literals;
  for (const auto url : {""sv,
                         "example.org"sv,
                         "//example.org/"sv,
                         "/a"sv,
                         "http:"sv,
                         "http://"sv,
                         "http:///a"sv,
                         "http:example.org"sv,
                         "http:/example.org/"sv,
                         "file:///etc/passwd"sv,
                         "gopher://example.org/_x"sv,
                         "ftp://example.org/"sv,
                         "javascript:alert(1)"sv,
                         "http://user@example.org/"sv,
                         "http://user:pass@example.org/"sv,
                         "http://@example.org/"sv,
                         "http://example.org:80@evil.test/"sv,
                         "http://evil.test\\@example.org/"sv,
                         "http://example.org\\.evil.test/"sv,
                         "http://example.org/\\a"sv,
                         "http://example.org:22/"sv,
                         "http://example.org:8080/"sv,
                         "http://example.org:65616/"sv,
                         "http://example.org:080/"sv,
                         "http://example.org:+80/"sv,
                         "http://example.org: 80/"sv,
                         "http://example.org:80:80/"sv,
                         "http://allowed.test\0.evil.test/"sv,
                         "http://example.org/\n"sv,
                         "\thttp://example.org/"sv,
                         " http://example.org/"sv,
                         "http://exa mple.org/"sv,
                         "http://example.org/a\r\nHost: b"sv,
                         "http://b\xc3\xbc"
                         "cher.example/"sv,
                         "http://\xef\xbc\x91"
                         "27.0.0.1/"sv,
                         "http://%31%32%37.0.0.1/"sv,
                         "http://example.org%00/"sv,
                         "http://example..org/"sv,
                         "http://.example.org/"sv,
                         "http://./"sv,
                         "http://example.org../"sv,
                         "http://[::1"sv,
                         "http://[::1]x/"sv,
                         "http://[1.2.3.4]/"sv,
                         "http://[fe80::1%25eth0]/"sv,
                         "http://[v1.a]/"sv,
                         "http://2130706433/"sv,
                         "http://0x7f.1/"sv,
                         "http://0/"sv,
                         "http://127.1/"sv,
                         "http://0177.0.0.1/"sv,
                         "http://1.2.3.4.5/"sv,
                         "http://a.0x/"sv,
                         "http://256.1.1.1/"sv,
                         "http://1.2.3.08/"sv}) {
    const auto parsed = parse_web_url(url);
    EXPECT_FALSE(parsed) << url;
    if (parsed) continue;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid);
    EXPECT_NE(parsed.error().advice, "");
  }
}

TEST(WebUrl, HasAMostLength) {
  const std::string start = "https://example.org/";
  EXPECT_TRUE(parse_web_url(start + std::string(kMaxUrlBytes - start.size(), 'a')));
  EXPECT_FALSE(parse_web_url(start + std::string(kMaxUrlBytes - start.size() + 1, 'a')));
  EXPECT_TRUE(parse_web_url("http://" + std::string(63, 'a') + "/"));
  EXPECT_FALSE(parse_web_url("http://" + std::string(64, 'a') + "/"));
  std::string name = "a";
  while (name.size() < 253) name += ".a";
  EXPECT_TRUE(parse_web_url("http://" + name + "/"));
  EXPECT_FALSE(parse_web_url("http://" + name + ".a/"));
}

TEST(WebUrl, ARedirectIsResolvedAndJudgedLikeAnyOther) {
  const auto from = parse_web_url("https://example.org/a/b?c").value();
  const auto to = [&](std::string_view location) {
    const auto url = parse_redirect(from, location);
    return url ? url->text : "refused: " + url.error().message;
  };
  EXPECT_EQ(to("/x"), "https://example.org/x");
  EXPECT_EQ(to("x y"), "https://example.org/a/x%20y");
  EXPECT_EQ(to("../x"), "https://example.org/x");
  EXPECT_EQ(to("?q"), "https://example.org/a/b?q");
  EXPECT_EQ(to("//other.test/x"), "https://other.test/x");
  EXPECT_EQ(to("https://other.test"), "https://other.test/");
  EXPECT_EQ(to("https://[2001:db8::1]/"), "https://[2001:db8::1]/");
  EXPECT_EQ(to("//127.1/"),
            "https://127.0.0.1/");  // in its one spelling; whether it is reached is the gate's
  for (const auto location :
       {"http://example.org/", "file:///etc/passwd", "gopher://example.org/", "https://a@b/",
        "https://example.org:6379/", "\\\\evil.test\\x", "/a\r\nb", "data:,x"}) {
    EXPECT_THAT(to(location), HasSubstr("refused")) << location;
  }
  EXPECT_EQ(parse_redirect(from, "http://example.org/").error().code, ErrorCode::denied);
}

// The gate judges the address that is connected to; this shows that none of the spellings even has a second
// reading before that.
TEST(WebUrl, NoSpellingOfAnAddressBecomesAnotherOne) {
  int tried = 0;
  for (const Spelling& spelling : spellings_of_private_addresses()) {
    ++tried;
    const auto url = parse_web_url(spelling.url);
    if (!url) continue;
    const auto address = parse_ip_address(url->host);
    ASSERT_TRUE(address) << spelling.url << " became " << url->text;
    EXPECT_FALSE(is_public(*address)) << spelling.url << " became " << url->text;
    EXPECT_EQ(*address, spelling.address) << spelling.url;
  }
  EXPECT_GT(tried, 5'000);
}

}  // namespace
}  // namespace deputy
