#include "guard/rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using testing::HasSubstr;
using enum Decision;

Rule rule(Decision decision, std::string_view text) {
  auto parsed = parse_rule(decision, text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : to_text(parsed.error()));
  return parsed.value_or(Rule{});
}

Decision judged(const Rules& rules, std::string_view tool, std::string_view subject,
                Decision by_default = ask) {
  return rules.judge(tool, subject, by_default).decision;
}

TEST(ParseRule, TakesAToolAloneOrWithAPattern) {
  EXPECT_EQ(rule(allow, "Read"), (Rule{allow, "Read", ""}));
  EXPECT_EQ(rule(deny, " Edit( src/** ) "), (Rule{deny, "Edit", "src/**"}));
  EXPECT_EQ(rule(allow, "Read(!**/.env)"), (Rule{allow, "Read", "!**/.env"}));
  EXPECT_EQ(rule(allow, "Bash(git status:*)"), (Rule{allow, "Bash", "git status:*"}));
  EXPECT_EQ(rule(ask, "WebFetch(domain:example.org)"), (Rule{ask, "WebFetch", "domain:example.org"}));
  EXPECT_EQ(rule(ask, "Read(a(b)c)"), (Rule{ask, "Read", "a(b)c"}));
}

TEST(ParseRule, TakesTheColonForm) {
  EXPECT_EQ(rule(deny, "bash:*"), (Rule{deny, "Bash", ""}));
  EXPECT_EQ(rule(deny, "edit:src/**"), (Rule{deny, "Edit", "src/**"}));
}

TEST(ParseRule, EverythingInTheBracketsIsNoPattern) {
  EXPECT_EQ(rule(allow, "Read(*)"), rule(allow, "Read"));
  EXPECT_EQ(rule(allow, "Read(**)"), rule(allow, "Read"));
  EXPECT_EQ(rule(allow, "Bash(:*)"), rule(allow, "Bash"));
}

TEST(ParseRule, ADenyThatLeavesNoPathOutIsNoPattern) {
  for (const char* pattern : {"**", "*", "/", "/**", "**/*", "**/", "**/**"}) {
    EXPECT_EQ(rule(deny, fmt::format("Edit({})", pattern)), rule(deny, "Edit")) << pattern;
  }
  EXPECT_EQ(rule(allow, "Write(**/*)").pattern, "**/*")
      << "an allow of the workspace is none of other folders";
  EXPECT_EQ(rule(deny, "Edit(src/**)").pattern, "src/**");
}

TEST(ParseRule, KnowsToolsByTheirOtherNames) {
  EXPECT_EQ(rule(allow, "read_file").tool, "Read");
  EXPECT_EQ(rule(allow, "mcp__github__search").tool, "mcp__github__search");
  const std::vector<std::string> mine{"Weather"};
  EXPECT_EQ(parse_rule(allow, "Weather", mine)->tool, "Weather");
}

TEST(ParseRule, AnUnknownToolIsAnErrorThatNamesTheNearest) {
  const auto near = parse_rule(allow, "Raed");
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().message, HasSubstr("there is no tool \"Raed\""));
  EXPECT_THAT(near.error().advice, HasSubstr("Read"));
  const auto far = parse_rule(deny, "Frobnicate");
  ASSERT_FALSE(far);
  EXPECT_THAT(far.error().advice, HasSubstr("NotebookEdit"));
}

TEST(ParseRule, MistakesAreToldWithAnExample) {
  for (const char* text :
       {"", "  ", "Read(", "Read)", "Read(a", "Read()", "Read(!)", "bash:", "(a)", "Read(a)b", "Note(x)",
        "WebFetch(example.org)", "WebFetch(domain:*.example.org)", "Read(~you/x)", "Read(a/../b)",
        "Read(../x)", "Read([a)", "Read({a)", "Read(a\xff)"}) {
    const auto parsed = parse_rule(allow, text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid);
    EXPECT_FALSE(parsed.error().message.empty()) << text;
    EXPECT_FALSE(parsed.error().advice.empty()) << text;
  }
}

TEST(ParseRule, TakesCommandsUpToItsLimit) {
  EXPECT_TRUE(parse_rule(allow, fmt::format("Bash({})", std::string(CommandPattern::kMaxBytes, 'a'))));
  EXPECT_FALSE(parse_rule(allow, fmt::format("Bash({})", std::string(CommandPattern::kMaxBytes + 1, 'a'))));
}

TEST(Rules, DenyWinsOverAskWinsOverAllowWinsOverDefault) {
  const Rules rules({rule(allow, "Read"), rule(ask, "Read(src/**)"), rule(deny, "Read(src/secret/**)")});
  EXPECT_EQ(judged(rules, "Read", "README.md"), allow);
  EXPECT_EQ(judged(rules, "Read", "src/a"), ask);
  EXPECT_EQ(judged(rules, "Read", "src/secret/a"), deny);
  EXPECT_EQ(judged(rules, "Edit", "README.md", ask), ask);
  EXPECT_EQ(judged(rules, "Edit", "README.md", deny), deny);
  EXPECT_EQ(judged(rules, "Note", "", allow), allow);
}

TEST(Rules, TheReasonNamesTheRule) {
  const Rules rules({rule(deny, "Read(**/.env)"), rule(ask, "Edit")});
  EXPECT_EQ(rules.judge("Read", "a/.env", allow).reason, "denied by rule Read(**/.env)");
  EXPECT_THAT(rules.judge("Edit", "a", allow).reason, HasSubstr("rule Edit"));
  EXPECT_THAT(rules.judge("Bash", "ls", ask).reason, HasSubstr("no rule allows Bash"));
  EXPECT_EQ(rules.judge("Read", "a", allow).reason, "");
}

TEST(Rules, AllBut) {
  const Rules rules({rule(allow, "Read(!**/.env)"), rule(deny, "Edit(!src/**)")});
  EXPECT_EQ(judged(rules, "Read", "a/b"), allow);
  EXPECT_EQ(judged(rules, "Read", "a/.env"), ask);
  EXPECT_EQ(judged(rules, "Edit", "src/a", allow), allow);
  EXPECT_EQ(judged(rules, "Edit", "README.md", allow), deny);
}

TEST(Rules, NoSpellingOfAPathGoesRoundARule) {
  const Rules rules({rule(deny, "Read(secrets/**)"), rule(allow, "Edit(src/**)")});
  for (const char* path : {"secrets/a", "./secrets/a", "secrets//a", "a/../secrets/a", "secrets", "secrets/",
                           "/work/secrets/a", "../work/secrets/a", "/work/x/../secrets/a"}) {
    EXPECT_EQ(judged(rules, "Read", path, allow), deny) << path;
  }
  for (const char* path : {"src/../x", "/src/a", "../src/a", "/work/src/a"}) {
    EXPECT_EQ(judged(rules, "Edit", path), ask) << path;
  }
  EXPECT_EQ(judged(rules, "Edit", "lib/../src/./a"), allow);
}

TEST(Rules, AFolderWithoutSlashIsDeniedWithAllBeneathButNotAllowedWithIt) {
  const Rules rules({rule(deny, "Read(secrets)"), rule(allow, "Edit(src)")});
  EXPECT_EQ(judged(rules, "Read", "secrets/a/b", allow), deny);
  EXPECT_EQ(judged(rules, "Edit", "src/a"), ask);
  EXPECT_EQ(judged(Rules({rule(deny, "Write(secrets/)")}), "Write", "secrets/a", allow), deny);
  EXPECT_EQ(judged(Rules({rule(allow, "Edit(src/)")}), "Edit", "src/a"), allow);
}

TEST(Rules, APathTooLongToLookAtIsNeverAllowedAndAlwaysDenied) {
  const Rules rules({rule(allow, "Edit(src/**)"), rule(deny, "Read(x)")});
  const std::string at_limit = "src/" + std::string(Rules::kMaxSubjectBytes - 4, 'a');
  EXPECT_EQ(judged(rules, "Edit", at_limit), allow);
  EXPECT_EQ(judged(rules, "Edit", at_limit + "a"), ask);
  EXPECT_EQ(judged(rules, "Read", at_limit, allow), allow);
  EXPECT_EQ(judged(rules, "Read", at_limit + "a", allow), deny);
}

TEST(Rules, ADomainMeansItsSubdomainsToo) {
  const Rules rules({rule(allow, "WebFetch(domain:Example.org)")});
  EXPECT_EQ(judged(rules, "WebFetch", "example.org"), allow);
  EXPECT_EQ(judged(rules, "WebFetch", "docs.EXAMPLE.org."), allow);
  EXPECT_EQ(judged(rules, "WebFetch", "badexample.org"), ask);
  EXPECT_EQ(judged(rules, "WebFetch", "example.org.evil.test"), ask);
  EXPECT_EQ(judged(rules, "WebFetch", "evil.test/example.org"), ask);
  EXPECT_EQ(judged(rules, "WebFetch", "https://example.org/"), ask);
  const Rules denied({rule(deny, "WebFetch(domain:example.org)")});
  EXPECT_EQ(judged(denied, "WebFetch", "evil.test", allow), allow);
  EXPECT_EQ(judged(denied, "WebFetch", "https://example.org/", allow), deny);
  const Rules address({rule(allow, "WebFetch(domain:3.4)"), rule(allow, "WebFetch(domain:10.0.0.1)")});
  EXPECT_EQ(judged(address, "WebFetch", "1.2.3.4"), ask);
  EXPECT_EQ(judged(address, "WebFetch", "10.0.0.1"), allow);
  EXPECT_EQ(judged(address, "WebFetch", "x.10.0.0.1"), ask);
  const Rules private_one({rule(deny, "WebFetch(domain:127.0.0.1)")});
  for (const char* host : {"127.0.0.1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433"}) {
    EXPECT_EQ(judged(private_one, "WebFetch", host, allow), deny) << host;
  }
}

TEST(Rules, ADomainIsMeantInEverySpelling) {
  const Rules rules({rule(deny, "WebFetch(domain:b\u00fccher.example)")});
  for (const char* host :
       {"xn--bcher-kva.example", "B\u00dcCHER.example", "shop.bu\u0308cher\u3002example."}) {
    EXPECT_EQ(judged(rules, "WebFetch", host, allow), deny) << host;
  }
  EXPECT_EQ(judged(Rules({rule(allow, "WebFetch(domain:apple.com)")}), "WebFetch", "\u0430pple.com"), ask);
}

TEST(Rules, AnUncheckedPatternIsTreatedAsAMaybe) {
  EXPECT_EQ(judged(Rules({Rule{allow, "Read", "[a"}}), "Read", "a"), ask);
  EXPECT_EQ(judged(Rules({Rule{deny, "Read", "[a"}}), "Read", "a", allow), deny);
}

TEST(Rules, AnAllowOnOneSideDoesNotLiftTheOthersDefault) {
  const Rules met = Rules::both(Rules({rule(allow, "Bash")}), Rules());
  EXPECT_EQ(judged(met, "Bash", "ls", ask), ask);
  EXPECT_EQ(judged(Rules::both(Rules({rule(allow, "Bash")}), Rules({rule(allow, "Bash")})), "Bash", "ls"),
            allow);
}

TEST(Rules, SayingTheSameTwiceAddsNothing) {
  const Rules a({rule(allow, "Bash"), rule(deny, "Read(x)")});
  EXPECT_EQ(Rules::both(a, a), a);
  EXPECT_EQ(Rules::both(Rules::both(a, Rules()), Rules::both(Rules(), a)), Rules::both(a, Rules()));
}

TEST(Rules, JsonKeepsThemAsTheyAre) {
  const Rules a(
      {rule(allow, "Bash"), rule(deny, "Read(**/{.env,*.pem})"), rule(ask, "WebFetch(!domain:a.org)")});
  const Rules met = Rules::both(a, Rules());
  const auto back = Rules::from_json(met.to_json());
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(*back, met);
  EXPECT_EQ(Rules::from_json(Rules().to_json()).value(), Rules());
}

TEST(Rules, WhatIsNoRulesInJsonIsAnError) {
  for (const char* text : {"", "[]", "{}", R"({"v":1})", R"({"v":1,"layers":[]})", R"({"v":1,"layers":[{}]})",
                           R"({"v":1,"layers":[[1]]})", R"({"v":1,"layers":[[{"tool":"Read"}]]})",
                           R"({"v":1,"layers":[[{"decision":"maybe","tool":"Read"}]]})",
                           R"({"v":1,"layers":[[{"decision":"deny","tool":"Read","pattern":"[a"}]]})"}) {
    EXPECT_FALSE(Rules::from_json(text)) << text;
  }
  EXPECT_EQ(Rules::from_json(R"({"v":2,"layers":[[]]})").error().code, ErrorCode::too_new);
}

// Who must not edit must not write either.
TEST(Rules, WhatIsDeniedOrAskedAboutForEditIsSoForAllThatChangesFiles) {
  const Rules none({{Decision::allow, "Write", ""}, {Decision::allow, "NotebookEdit", ""}});
  const Rules denied({{Decision::allow, "Write", ""},
                      {Decision::allow, "NotebookEdit", ""},
                      {Decision::deny, "Edit", "src/**"},
                      {Decision::ask, "Edit", "docs/**"}});
  for (const char* tool : {"Write", "NotebookEdit", "Edit"}) {
    EXPECT_EQ(denied.judge(tool, "src/a", Decision::allow, {"/w", "/h"}).decision, Decision::deny) << tool;
    EXPECT_EQ(denied.judge(tool, "docs/a", Decision::allow, {"/w", "/h"}).decision, Decision::ask) << tool;
    EXPECT_EQ(denied.judge(tool, "a", Decision::allow, {"/w", "/h"}).decision, Decision::allow) << tool;
    EXPECT_EQ(none.judge(tool, "src/a", Decision::allow, {"/w", "/h"}).decision, Decision::allow)
        << "control";
  }
  const Rules bare({{Decision::allow, "Write", ""}, {Decision::deny, "Edit", ""}});
  EXPECT_EQ(bare.judge("Write", "a", Decision::ask).decision, Decision::deny);
  EXPECT_EQ(bare.judge("Read", "a", Decision::allow).decision, Decision::allow);
  EXPECT_TRUE(bare.restricts("Write", Decision::deny));
  EXPECT_FALSE(bare.restricts("Read", Decision::deny));
  // The other way round each goes by itself: Write makes files, Edit changes what is there.
  const Rules no_write({{Decision::allow, "Edit", ""}, {Decision::deny, "Write", ""}});
  EXPECT_EQ(no_write.judge("Edit", "a", Decision::ask).decision, Decision::allow);
  const Rules allowed({{Decision::allow, "Edit", ""}});
  EXPECT_EQ(allowed.judge("Write", "a", Decision::ask).decision, Decision::ask);
}

}  // namespace
}  // namespace deputy
