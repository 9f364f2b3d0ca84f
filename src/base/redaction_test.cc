#include "base/redaction.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace deputy {
namespace {

constexpr std::string_view kSecret = "hunter2/with+odd chars\"";

Redactor hiding(std::string_view secret) {
  Redactor redactor;
  redactor.hide(secret);
  return redactor;
}

TEST(Redactor, HidesTheValueWhereverItStands) {
  const Redactor redactor = hiding("correct horse");
  EXPECT_EQ(redactor.redact("correct horse"), "[redacted]");
  EXPECT_EQ(redactor.redact("a correct horse, and a correct horse"), "a [redacted], and a [redacted]");
  EXPECT_EQ(redactor.redact("correct horsecorrect horse"), "[redacted][redacted]");
}

TEST(Redactor, CanLeaveTextAloneThatOnlyLooksLikeAKey) {
  const Redactor redactor = hiding("correct horse");
  EXPECT_EQ(redactor.redact_values("correct horse AKIAABCDEFGHIJKLMNOP"), "[redacted] AKIAABCDEFGHIJKLMNOP");
  EXPECT_EQ(redactor.redact("correct horse AKIAABCDEFGHIJKLMNOP"), "[redacted] [redacted]");
}

TEST(Redactor, LeavesOtherTextAlone) {
  const Redactor redactor = hiding("correct horse");
  for (const char* text : {"", "c", "correct hors", "correct  horse", "Correct horse", "nothing here\n"}) {
    EXPECT_EQ(redactor.redact(text), text);
    EXPECT_EQ(Redactor().redact(text), text);
  }
}

TEST(Redactor, HidesEachSpelling) {
  const Redactor redactor = hiding(kSecret);
  EXPECT_EQ(redactor.redact("<hunter2/with+odd chars\">"), "<[redacted]>");
  EXPECT_EQ(redactor.redact("68756e746572322f776974682b6f6464206368617273"
                            "22"),
            "[redacted]");
  EXPECT_EQ(redactor.redact("68756E746572322F776974682B6F6464206368617273"
                            "22"),
            "[redacted]");
  EXPECT_EQ(redactor.redact("k=hunter2%2Fwith%2Bodd%20chars%22&"), "k=[redacted]&");
  EXPECT_EQ(redactor.redact("k=hunter2%2fwith%2bodd%20chars%22&"), "k=[redacted]&");
  EXPECT_EQ(redactor.redact("k=hunter2/with%2Bodd%20chars%22&"), "k=[redacted]&");
  EXPECT_EQ(redactor.redact("k=hunter2%2Fwith%2Bodd+chars%22&"), "k=[redacted]&");
  EXPECT_EQ(redactor.redact(R"({"k":"hunter2/with+odd chars\""})"), R"({"k":"[redacted]"})");
  EXPECT_EQ(redactor.redact(R"({"k":"hunter2\/with+odd chars\""})"), R"({"k":"[redacted]"})");
  const std::string control = "k=hunter2%2Fwith%2Bodd%20chars%22&";
  EXPECT_EQ(Redactor().redact(control), control);
}

TEST(Redactor, HidesBase64AtEachAlignment) {
  const Redactor redactor = hiding("0123456789abcdef");
  // base64 of "0123456789abcdef", of "x0123456789abcdefy" and of "xy0123456789abcdefz"
  EXPECT_EQ(redactor.redact("MDEyMzQ1Njc4OWFiY2RlZg=="), "[redacted]g==");
  EXPECT_EQ(redactor.redact("eDAxMjM0NTY3ODlhYmNkZWZ5"), "eD[redacted]Z5");
  EXPECT_EQ(redactor.redact("eHkwMTIzNDU2Nzg5YWJjZGVmeg=="), "eHk[redacted]eg==");
  EXPECT_EQ(Redactor().redact("MDEyMzQ1Njc4OWFiY2RlZg=="), "MDEyMzQ1Njc4OWFiY2RlZg==") << "control";
}

TEST(Redactor, HidesBothBase64Alphabets) {
  const Redactor redactor = hiding("\xfb\xff\xbf\xfb\xff\xbf\xfb\xff\xbf");
  EXPECT_EQ(redactor.redact("+/+/+/+/+/+/"), "[redacted]");
  EXPECT_EQ(redactor.redact("-_-_-_-_-_-_"), "[redacted]");
}

std::string in_lines(std::string_view text, std::size_t width) {
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += width) lines.append(text.substr(at, width)).append("\n");
  return lines;
}

// "sk-" and 105 characters more; what base64 and xxd -p print of "KEY=" before it and a line break after it.
constexpr std::string_view kLongKey =
    "sk-"
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ABCD"
    "EFG";
constexpr std::string_view kLongBase64 =
    "S0VZPXNrLWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OUFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaYWJjZGVm"
    "Z2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU2Nzg5QUJDREVGRwo=";
constexpr std::string_view kLongHex =
    "4b45593d736b2d6162636465666768696a6b6c6d6e6f707172737475767778797a3031323334353637383941424344454647"
    "48494a4b4c4d4e4f505152535455565758595a6162636465666768696a6b6c6d6e6f707172737475767778797a3031323334"
    "3536373839414243444546470a";

TEST(Redactor, HidesWhatEncodersBreakIntoLines) {
  ASSERT_EQ(kLongKey.size(), 108u);
  const Redactor redactor = hiding(kLongKey);
  for (const std::string& printed : {in_lines(kLongBase64, 76), in_lines(kLongHex, 60)}) {
    for (const std::string& shown : {printed, to_json_text(json::string(printed))}) {
      const std::string redacted = redactor.redact(shown);
      EXPECT_TRUE(redacted.contains("[redacted]")) << redacted;
      EXPECT_LT(redacted.size(), 40u) << redacted;
      EXPECT_EQ(Redactor().redact(shown), shown) << "control";
    }
  }
  EXPECT_EQ(redactor.redact(in_lines(kLongHex, 2)), "4b\n45\n59\n3d\n[redacted]\n0a\n");
  EXPECT_EQ(redactor.redact(in_lines(kLongHex, 1)), "4\nb\n4\n5\n5\n9\n3\nd\n[redacted]\n0\na\n");
}

TEST(Redactor, KnowsHowMuchOfATextCutsNoSecret) {
  const Redactor redactor = hiding(kLongKey);
  for (const std::string& printed : {in_lines(kLongBase64, 76), in_lines(kLongHex, 60)}) {
    const std::string before = "one line\n";
    const std::string text = before + printed;
    for (std::size_t size = before.size() + 12; size < text.size(); ++size) {
      const std::size_t settled = redactor.settled(std::string_view(text).substr(0, size), size);
      ASSERT_TRUE(settled < before.size() + 9 || size > text.size() - 6) << size << ": " << settled;
    }
    EXPECT_LT(redactor.settled(text, text.find('\n', before.size()) + 1), before.size() + 9);
    EXPECT_EQ(redactor.settled(text, text.size()), text.size());
    EXPECT_EQ(Redactor().settled(text, text.size()), text.size()) << "control";
  }
}

TEST(Redactor, HoldsAnOpenPrivateKeyAndAWordThatIsNotAtItsEnd) {
  const Redactor redactor;
  const std::string open = "a\n-----BEGIN PRIVATE KEY-----\nabc\n";
  const std::string closed = open + "-----END PRIVATE KEY-----";
  EXPECT_EQ(redactor.settled(open, open.size()), 2u);
  EXPECT_EQ(redactor.settled(closed, open.size()), 2u);
  EXPECT_EQ(redactor.settled(closed + "\n", closed.size() + 1), closed.size() + 1);
  for (const char* begun : {"a\n--", "a\n-----BEGIN RSA PRI"})
    EXPECT_EQ(redactor.settled(begun, 4), 2u) << begun;
  EXPECT_EQ(redactor.settled("see sk-0123456789", 17), 4u);
  EXPECT_EQ(redactor.settled("see sk-0123456789\n", 18), 18u);
  const std::string pgp = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----";
  EXPECT_EQ(redactor.redact(pgp), "[redacted]");
}

TEST(Redactor, IgnoresValuesThatAreTooShort) {
  EXPECT_EQ(hiding("1234567").redact("1234567"), "1234567");
  EXPECT_EQ(hiding("12345678").redact("12345678"), "[redacted]");
  EXPECT_EQ(hiding("123456 \n").redact("123456 \n"), "123456 \n");
}

TEST(Redactor, HidesAKeyFromAFileWithoutItsLineBreak) {
  EXPECT_EQ(hiding("0123456789\n").redact("<0123456789>"), "<[redacted]>");
}

TEST(Redactor, LeavesNoEndOfSecretsThatOverlap) {
  Redactor redactor;
  redactor.hide("abcdefgh");
  redactor.hide("efghijklmnop");
  redactor.hide("abcdefghi");
  EXPECT_EQ(redactor.redact("<abcdefghijklmnop>"), "<[redacted]>");
  EXPECT_EQ(redactor.redact("<abcdefghi>"), "<[redacted]>");
}

TEST(Redactor, KnowsTheShapesOfCommonKeys) {
  const Redactor redactor;
  for (const std::string& key : {
           "sk-ant-" + std::string(24, 'x'),
           "sk-proj-" + std::string(24, 'x'),
           "sk-" + std::string(20, 'x'),
           "AIza" + std::string(35, 'x'),
           "AKIA" + std::string(16, 'X'),
           "ghp_" + std::string(36, 'x'),
           "github_pat_" + std::string(22, 'x'),
           "xoxb-" + std::string(20, '1'),
           "eyJ" + std::string(20, 'x') + "." + std::string(20, 'y') + "." + std::string(20, 'z'),
       }) {
    EXPECT_EQ(redactor.redact("key=" + key + ";"), "key=[redacted];") << key;
    const std::string in_json = to_json_text(json::string("line\n" + key + "\n"));
    EXPECT_EQ(redactor.redact(in_json), "\"line\\n[redacted]\\n\"") << in_json;
  }
}

TEST(Redactor, DoesNotTakeOrdinaryWordsForKeys) {
  const Redactor redactor;
  for (const std::string& text :
       {std::string("task-manager-for-everything-here"), std::string("sk-short"),
        "sk-" + std::string(19, 'x'), std::string("ask-the-person-about-the-thing"),
        "eyJ" + std::string(60, 'x'), "AKIA" + std::string(15, 'X'),
        std::string("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----")}) {
    EXPECT_EQ(redactor.redact(text), text);
  }
}

TEST(Redactor, HidesPrivateKeysWhole) {
  const Redactor redactor;
  const std::string block = "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----";
  EXPECT_EQ(redactor.redact("a\n" + block + "\nb"), "a\n[redacted]\nb");
  EXPECT_EQ(redactor.redact(to_json_text(json::string("a\n" + block + "\nb"))), "\"a\\n[redacted]\\nb\"");
  EXPECT_EQ(redactor.redact(block.substr(0, 40)), "[redacted]");
}

TEST(Redactor, HidesInJsonWhatItHidesInText) {
  const Redactor redactor = hiding("correct horse");
  const std::string key = "sk-ant-" + std::string(20, 'a');
  EXPECT_EQ(redactor.redact_json(json::object{{key, 1}, {"b", key + "!"}, {"c", "correct horse"}}),
            R"({"[redacted]":1,"b":"[redacted]!","c":"[redacted]"})");
  EXPECT_EQ(redactor.redact_json(json::object{{"arguments", to_json_text(json::object{{key, true}})}}),
            R"({"arguments":"{\"[redacted]\":true}"})");
  const json::array lines{"-----BEGIN RSA PRIVATE KEY-----", "MIIEabc", "-----END RSA PRIVATE KEY-----",
                          "after"};
  EXPECT_EQ(redactor.redact_json(lines), R"(["[redacted]","[redacted]","[redacted]","after"])");
  EXPECT_EQ(redactor.redact_json(json::string(to_json_text(lines))), R"("[\"[redacted]\",\"after\"]")");
  EXPECT_EQ(redactor.redact_json(json::array{"names -----BEGIN RSA PRIVATE KEY-----", "and more"}),
            R"(["names [redacted]","and more"])");
}

TEST(Redactor, TakesTimeInProportionToTheText) {
  const Redactor redactor = hiding("aaaaaaaaaaaaaaaa");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "eyJ-----BEGIN aaaaaaa";
  EXPECT_EQ(redactor.redact(text), text);
}

}  // namespace
}  // namespace deputy
