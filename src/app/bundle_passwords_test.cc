#include "app/bundle_passwords.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string clean(std::string_view text) { return without_passwords(text).text; }

json::value clean_in(json::value value) {
  std::set<std::string> secrets;
  take_out_passwords(value, secrets);
  return value;
}

TEST(PasswordsInAddresses, AreTakenOutWhateverTheirLength) {
  for (const std::string_view password :
       {"x", "hunter2", "correct-horse-battery-staple", "winter's-here", "a`b", "a<b>c", "a\"b", "a\\b",
        "a:b", "p@ss", "%2F", "schlüssel", "(a)[b]{c}", "80'", "80x"}) {
    const auto [text, secrets] = without_passwords(fmt::format("https://bot:{}@git.example/x", password));
    EXPECT_EQ(text, "https://bot:[redacted]@git.example/x") << password;
    EXPECT_THAT(secrets, ElementsAre(password));
  }
}

TEST(PasswordsInAddresses, NeedNoUser) {
  EXPECT_EQ(clean("redis://:hunter2@cache:6379/0"), "redis://:[redacted]@cache:6379/0");
}

TEST(PasswordsInAddresses, ThatAreEmptyAreNone) {
  for (const std::string_view text : {"https://bot:@git.example/x", "https://:@git.example",
                                      "https://@git.example", "https://bot:[redacted]@x"}) {
    EXPECT_EQ(clean(text), text);
    EXPECT_THAT(without_passwords(text).secrets, IsEmpty());
  }
}

TEST(PasswordsInAddresses, StandOnlyBeforeTheHost) {
  for (const std::string_view text :
       {"https://example.com:8080/a:b@c", "https://example.com:8080?to=a@b", "https://example.com:8080#a@b",
        "https://example.com:8080 a@b", "https://example.com:8080\na@b", "mailto:a@b", "a:b@c",
        "git@host:a/b@v1", "ftp:/a:b@c", "://", ":", "", "file:///C:/a@b", "https://[::1]:8080/@x"})
    EXPECT_EQ(clean(text), text);
}

TEST(PasswordsInAddresses, AreTakenOutOfEach) {
  const auto [text, secrets] = without_passwords(
      "a://b:one@c,d://e:two@f and g://h/i://j:three@k,l://m:n://o:four@p, then q://r:five");
  EXPECT_EQ(text,
            "a://b:[redacted]@c,d://e:[redacted]@f"
            " and g://h/i://j:[redacted]@k,l://m:n://o:[redacted]@p, then q://r:five");
  EXPECT_THAT(secrets, ElementsAre("one", "two", "three", "four"));
}

// Host and port are nobody's secret, nor is who is written to behind them.
TEST(PasswordsInAddresses, EndWithTheQuotesThatTheyStandIn) {
  for (const std::string_view text :
       {R"("http://localhost:4873","author":"a@b")", R"({"a":"http://localhost:4873","b":"c@d"})",
        R"({\"a\":\"http://localhost:4873\",\"b\":\"c@d\"})", "['http://localhost:80','a@b']",
        "<http://h:80><a@b>", "`http://h:80`,`a@b`", R"("http://localhost","at":"12:30","by":"a@b")"})
    EXPECT_EQ(clean(text), text);
  EXPECT_EQ(clean(R"({"db":"pg://app:hunter2@db","by":"a@b"})"),
            R"({"db":"pg://app:[redacted]@db","by":"a@b"})");
  EXPECT_EQ(clean("'https://bot:winter's-here@host','a@b'"), "'https://bot:[redacted]@host','a@b'");
}

TEST(PasswordsInAddresses, AreFoundInTextThatIsEscaped) {
  EXPECT_EQ(clean(R"(cut: {"a":"https:\/\/bot:hunter2@host\/x","b)"),
            R"(cut: {"a":"https:\/\/bot:[redacted]@host\/x","b)");
  EXPECT_EQ(clean(R"(\"https:\\\/\\\/bot:hunter2@host\")"), R"(\"https:\\\/\\\/bot:[redacted]@host\")");
  EXPECT_EQ(clean(R"(see https://bot:hunter2@host\nand)"), R"(see https://bot:[redacted]@host\nand)");
}

TEST(PasswordsInAddresses, AreTakenOutOfStringsAndKeysAndWhatIsJsonInThem) {
  const auto arguments = [](std::string_view password) {
    return to_json_text(
        json::object{{"url", fmt::format("https://bot:{}@host/\"x\"", password)}, {"by", "a@b"}});
  };
  EXPECT_EQ(clean_in({{"list", json::array{"a://b:c\nd@e", "a://b:c@e", 1}},
                      {"a://b:c@e", arguments("80\",\"")},
                      {"deep", to_json_text(json::array{arguments("x")})}}),
            (json::value{{"list", json::array{"a://b:c\nd@e", "a://b:[redacted]@e", 1}},
                         {"deep", to_json_text(json::array{arguments("[redacted]")})},
                         {"a://b:[redacted]@e", arguments("[redacted]")}}));
  const json::value spaced = "{ \"by\": \"a@b\" }";
  EXPECT_EQ(clean_in(spaced), spaced) << "where there is none, nothing is changed";
}

TEST(PasswordsInAddresses, AreToldForWhereTheyStandElsewhere) {
  std::set<std::string> secrets;
  json::value value =
      json::array{"https://bot:correct-horse@a", "ssh://battery-staple@b", "https://bot:hunter2@c"};
  take_out_passwords(value, secrets);
  EXPECT_THAT(secrets, ElementsAre("battery-staple", "correct-horse", "hunter2"));
}

TEST(PasswordsInAddresses, AreTakenOutWhereATextWasCutShortWithinThem) {
  EXPECT_EQ(clean("see https://bob:hunter2sec..."), "see https://bob:[redacted]...");
  EXPECT_EQ(clean("see https://bob:h… and"), "see https://bob:[redacted]… and");
  for (const std::string_view text :
       {"see https://bob:…", "see https://bob…", "see https://example.org:8080…", "http://[::1]:80…",
        "see https://bob:[redacted]…", "see https://bob:hunter2 and…", "https://host:80/a:b…"})
    EXPECT_EQ(clean(text), text);
}

TEST(ASecret, IsTakenOutWhereItWasCutShort) {
  const std::set<std::string> secrets{"correct-horse", "corrosive", "hunter2"};
  EXPECT_EQ(without_cut_secrets("no line with `correct-ho…`, nor corr...", secrets),
            "no line with `[redacted]…`, nor [redacted]...");
  for (const std::string_view text : {"cor…", "correct horse…", "hunter…", "correct-ho", "", "…", "..."})
    EXPECT_EQ(without_cut_secrets(text, secrets), text);
}

TEST(PasswordsInAddresses, AreTakenOutOnce) {
  for (const std::string_view text :
       {"a://b:c@d", "\"a://b:c\"d@e\",\"f@g\"", "a://b:c@d@e", "a://b:[redacted]c@d"}) {
    const std::string once = clean(text);
    EXPECT_NE(once, text);
    EXPECT_EQ(clean(once), once);
  }
}

TEST(PasswordsInAddresses, TakeTimeInProportionToTheText) {
  constexpr int kTimes = 50'000;
  for (const std::string_view part :
       {"a://b:c", "\"a://\"", "a://b:c@", "a:\\", "'a://b:c'@", "a.", ":", "://", "@"}) {
    std::string text;
    for (int i = 0; i < kTimes; ++i) text += part;
    EXPECT_LE(clean(text).size(), text.size() + kTimes * kRedacted.size()) << part;
  }
}

}  // namespace
}  // namespace deputy
