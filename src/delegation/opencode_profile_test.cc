// opencode's profiles: their names and patterns, and that nothing is wider here than it is there.
#include <array>

#include "base/random.h"
#include "delegation/profile_inheritance.h"
#include "delegation/profile_test.h"
#include "guard/rules.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(OpencodeProfile, IsReadWithItsOwnKeys) {
  const auto read = deputy::read_profile(ProfileFormat::opencode, R"(---
description: Reviews
mode: subagent
model: google/gemini-2.5-pro
steps: 9
temperature: 0.1
tools:
  write: false
  webfetch: false
permission:
  bash:
    "*": ask
    "git status*": allow
    "git push": deny
  webfetch: deny
reasoningEffort: high
---
Review.)",
                                         "team/reviewer");
  ASSERT_TRUE(read) << read.error().message;
  const Profile& profile = read->profile;
  EXPECT_EQ(profile.name, "team/reviewer");
  EXPECT_EQ(profile.model, ModelName("gemini/gemini-2.5-pro"));
  EXPECT_EQ(profile.max_turns, 9);
  EXPECT_THAT(profile.tools, AllOf(Contains("Bash"), Not(Contains("Write")), Not(Contains("Edit")),
                                   Not(Contains("WebFetch"))));
  EXPECT_THAT(profile.permissions.allow, ElementsAre("Bash(git status:*)"));
  EXPECT_THAT(profile.permissions.ask, IsEmpty());
  EXPECT_THAT(profile.permissions.deny, UnorderedElementsAre("Bash(git push)", "WebFetch"));
  EXPECT_THAT(read->ignored, ElementsAre("temperature"));
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("unknown key reasoningEffort")));
  EXPECT_FALSE(profile.hidden);
}

TEST(OpencodeProfile, ToolsOfServersAreLeftOutAndPatternsOfNamesAreRead) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode,
      "---\ntools:\n  \"context7*\": true\n  github_search: false\n  web*: False\n  write: No\n---\nx", "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->profile.tools,
              AllOf(Contains("Read"), Contains("Bash"), Not(Contains("WebFetch")), Not(Contains("WebSearch")),
                    Not(Contains("Write")), Not(Contains("Edit"))));
  EXPECT_THAT(warnings(*read), ElementsAre(AllOf(HasSubstr("context7*"), HasSubstr("no MCP server")),
                                           AllOf(HasSubstr("github_search"), HasSubstr("no MCP server"))));
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\ntools:\n  wriet: false\n---\nx").message,
              HasSubstr("there is no tool wriet"));
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\ntools:\n  write: never\n---\nx").message,
              HasSubstr("tools.write is 'never'"));
}

TEST(OpencodeProfile, OnePermissionForAllIsARuleForEach) {
  const Profile denied = read(ProfileFormat::opencode, "---\npermission: deny\n---\nx").profile;
  EXPECT_THAT(denied.permissions.deny, AllOf(Contains("Bash"), Contains("Read"), Contains("Write")));
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\npermission: allow\n---\nx").profile.permissions.empty());
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\npermission: maybe\n---\nx").message,
              HasSubstr("permission is 'maybe'"));
}

TEST(OpencodeProfile, ItsInstructionsMayStandInItsHead) {
  for (const auto* key : {"prompt", "system"}) {
    const auto read =
        deputy::read_profile(ProfileFormat::opencode, "---\n" + std::string(key) + ": Look.\n---\n", "x");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->profile.instructions, "Look.");
    EXPECT_THAT(warnings(*read), IsEmpty());
  }
}

TEST(OpencodeProfile, APrimaryOneIsNotDelegatedToAndADisabledOneIsOff) {
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\nmode: primary\n---\nx").profile.hidden);
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\ndisable: true\n---\nx").is_disabled);
}

TEST(OpencodeProfile, AnExceptionFromAGeneralDenialStaysDeniedAndIsTold) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    '*': deny\n    ls: allow\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.deny, ElementsAre("Bash"));
  EXPECT_THAT(read->profile.permissions.allow, IsEmpty());
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("ls stays denied")));
}

TEST(OpencodeProfile, AGeneralAskIsARuleWhereNothingIsAllowedBesideIt) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    '*': ask\n    'rm *': deny\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.ask, ElementsAre("Bash"));
  EXPECT_THAT(read->profile.permissions.deny, ElementsAre("Bash(rm:*)"));
}

TEST(OpencodeProfile, AGeneralWordVoidsWhatStandsBeforeIt) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    'git *': allow\n    '*': ask\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.allow, IsEmpty());
  EXPECT_THAT(read->profile.permissions.ask, ElementsAre("Bash"));
}

TEST(OpencodeProfile, PermissionsGoByPatternsOfNamesAndTheLastThatFits) {
  const auto denied = [](std::string_view table) {
    return read(ProfileFormat::opencode, "---\npermission:\n" + std::string(table) + "---\nx")
        .profile.permissions.deny;
  };
  EXPECT_THAT(denied("  web*: deny\n  'bas?': deny\n"),
              UnorderedElementsAre("WebFetch", "WebSearch", "Bash"));
  EXPECT_THAT(denied("  '*': deny\n  read: allow\n  grep: allow\n"),
              UnorderedElementsAre("Glob", "List", "Edit", "Write", "NotebookEdit", "Bash", "WebFetch",
                                   "WebSearch", "Todo"))
      << "what the runtime gives is no tool of theirs: task_completion, ask_parent, Note";
  EXPECT_THAT(denied("  read: allow\n  '*': deny\n"), Contains("Read"));
  EXPECT_THAT(denied("  edit: deny\n  write: allow\n"), Contains("Write")) << "edit decides there";
  EXPECT_THAT(denied("  external_directory: deny\n  context7_*: deny\n  question: deny\n"), IsEmpty());
}

TEST(OpencodeProfile, AToolThatIsDeniedAsAWholeIsNotOffered) {
  const Profile reader =
      read(ProfileFormat::opencode, "---\npermission: {'*': deny, read: allow, bash: {'rm *': deny}}\n---\nx")
          .profile;
  EXPECT_THAT(reader.tools, ElementsAre("Read", "Note"));
  EXPECT_EQ(reader.workspace, WorkspaceMode::read_only);
  EXPECT_THAT(read(ProfileFormat::opencode, "---\npermission: {bash: {'rm *': deny}}\n---\nx").profile.tools,
              Contains("Bash"));
}

TEST(OpencodeProfile, ItsNewerPermissionsAreRead) {
  const auto read = deputy::read_profile(ProfileFormat::opencode, R"(---
permissions:
  - {action: "*", resource: "*", effect: deny}
  - {action: read, effect: allow}
  - {action: shell, resource: "*", effect: ask}
  - {action: shell, resource: "git status*", effect: allow}
---
x)",
                                         "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->profile.permissions.deny,
              AllOf(Contains("Edit"), Contains("WebFetch"), Not(Contains("Read")), Not(Contains("Bash"))));
  EXPECT_THAT(read->profile.permissions.allow, ElementsAre("Bash(git status:*)"));
  EXPECT_THAT(warnings(*read), IsEmpty());
  for (const auto* wrong :
       {"- deny", "- {action: bash}", "- {action: bash, effect: never}", "- [bash, deny]"})
    EXPECT_THAT(
        mistake(ProfileFormat::opencode, "---\npermissions:\n  " + std::string(wrong) + "\n---\nx").advice,
        HasSubstr("action, resource and effect"))
        << wrong;
  const Profile both = deputy::read(ProfileFormat::opencode,
                                    "---\npermission: {bash: deny}\npermissions: {bash: allow}\n---\nx")
                           .profile;
  EXPECT_THAT(both.permissions.deny, ElementsAre("Bash")) << "what either forbids is forbidden";
}

TEST(OpencodeProfile, WhatWasMeantToTakeAwayIsNotLeftOut) {
  const auto why = [](std::string_view head) {
    return mistake(ProfileFormat::opencode, "---\n" + std::string(head) + "\n---\nx").message;
  };
  EXPECT_THAT(why("permission: {wriet: deny}"), HasSubstr("there is no tool wriet; did you mean Write?"));
  EXPECT_THAT(why("permission: {web_fetsh: ask}"), HasSubstr("did you mean WebFetch?"));
  EXPECT_THAT(why("permission: {'wbe*': deny}"), HasSubstr("line 2: wbe* fits no tool here"));
  EXPECT_THAT(why("tools: {web_fetsh: false}"), HasSubstr("did you mean WebFetch?"));
  EXPECT_THAT(why("tools: {'wbe*': false}"), HasSubstr("wbe* fits no tool here"));
  const auto permits =
      deputy::read_profile(ProfileFormat::opencode, "---\npermission: {wriet: allow}\n---\nx", "x");
  ASSERT_TRUE(permits) << permits.error().message;
  EXPECT_THAT(warnings(*permits), ElementsAre(HasSubstr("permission for wriet, which is no tool here")));
}

TEST(OpencodeProfile, OfItsToolsTheLastWordCounts) {
  const auto tools = [](std::string_view table) {
    return read(ProfileFormat::opencode, "---\ntools: " + std::string(table) + "\n---\nx").profile.tools;
  };
  EXPECT_THAT(tools("{'*': false, read: true}"), ElementsAre("Read", "Note"));
  EXPECT_THAT(tools("{read: true, '*': false}"), ElementsAre("Note"));
  EXPECT_THAT(tools("{'bas?': false, '*fetch': false}"),
              AllOf(Contains("Read"), Not(Contains("Bash")), Not(Contains("WebFetch"))));
}

TEST(OpencodeProfile, ItsWordOnTaskNarrowsWhoItDelegatesTo) {
  const auto subagents = [](std::string_view permission) {
    return read(ProfileFormat::opencode,
                "---\ntools: {task: true}\npermission: " + std::string(permission) + "\n---\nx")
        .profile.subagents;
  };
  EXPECT_THAT(subagents("{read: deny}"), ElementsAre("*")) << "control";
  EXPECT_THAT(subagents("{task: deny}"), IsEmpty());
  EXPECT_THAT(subagents("deny"), IsEmpty());
  EXPECT_THAT(subagents("{task: {'*': deny, explore: allow, 'g*': allow}}"), ElementsAre("explore"));
  EXPECT_THAT(subagents("{task: {'*': deny, explore: allow, 'ex*': deny}}"), IsEmpty());
  EXPECT_THAT(subagents("{task: {explore: deny}}"), IsEmpty()) << "no rule could leave out that one alone";
}

TEST(OpencodeProfile, APatternMeansWhatItMeansThere) {
  const auto permissions = [](std::string_view table) {
    return read(ProfileFormat::opencode, "---\npermission: " + std::string(table) + "\n---\nx")
        .profile.permissions;
  };
  EXPECT_THAT(permissions("{read: {'*.env': deny, 'app/[id]/*': ask, '$HOME/x/*': deny, '~/y': deny}}").deny,
              ElementsAre("Read(/**.env)", "Read(~/x/**)", "Read(~/y)"));
  EXPECT_THAT(permissions("{read: {'app/[id]/{b}/*': ask, '!x': ask, 'a?c': ask}}").ask,
              ElementsAre("Read(app/\\[id\\]/\\{b\\}/**)", "Read(\\!x)", "Read(a{?,/}c)"));
  EXPECT_THAT(permissions("{bash: {'docker*': deny, 'git push *': deny, 'npm run x:*': deny}}").deny,
              ElementsAre("Bash(docker*)", "Bash(git push:*)", "Bash(npm run x*)"));
  EXPECT_THAT(permissions("{bash: {'*': ask, 'git log*': allow}}").allow, ElementsAre("Bash(git log:*)"));
  const auto allowed = permissions("{edit: {'*': ask, 'docs/*': allow, 'a/[b]': allow}}").allow;
  EXPECT_THAT(allowed, AllOf(Contains("Edit(docs/*)"), Contains("Edit(a/\\[b\\])")))
      << "what allows may mean less";
}

TEST(OpencodeProfile, WhatNoRuleCanSayIsSaidOfTheWholeToolAndTold) {
  const auto read =
      deputy::read_profile(ProfileFormat::opencode,
                           "---\npermission:\n  bash: {'git * --force': deny}\n  grep: {'pass*': ask}\n"
                           "  webfetch: {'*': ask, 'https://x.org/*': allow}\n---\nx",
                           "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->profile.permissions.deny, ElementsAre("Bash"));
  EXPECT_THAT(read->profile.tools, Not(Contains("Bash")));
  EXPECT_THAT(read->profile.permissions.ask, UnorderedElementsAre("Grep", "WebFetch"));
  EXPECT_THAT(read->profile.permissions.allow, IsEmpty());
  EXPECT_THAT(warnings(*read),
              UnorderedElementsAre(AllOf(HasSubstr("git * --force"), HasSubstr("all of it is denied")),
                                   AllOf(HasSubstr("pass*"), HasSubstr("all of it is asked about")),
                                   AllOf(HasSubstr("https://x.org/*"), HasSubstr("it allows nothing"))));
}

struct TheirRule {
  std::string key, pattern;
  Decision decision;
};

bool fits_there(std::string_view pattern, std::string_view text) {
  if (pattern.empty() || (pattern == " *" && text.empty())) return text.empty();
  if (pattern.front() == '*')
    return fits_there(pattern.substr(1), text) || (!text.empty() && fits_there(pattern, text.substr(1)));
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         fits_there(pattern.substr(1), text.substr(1));
}

std::string with_each(std::string_view text, char c, std::string_view instead) {
  std::string all;
  for (const char each : text) each == c ? all.append(instead) : all.append(1, each);
  return all;
}

// Theirs: the last rule that fits; what none fits is allowed.
Decision in_opencode(const std::vector<TheirRule>& rules, std::string_view permission,
                     std::string_view subject) {
  Decision decision = Decision::allow;
  for (const auto& rule : rules) {
    if (fits_there(rule.key, permission) && fits_there(with_each(rule.pattern, '\\', "/"), subject))
      decision = rule.decision;
  }
  return decision;
}

// A file with one of the two ways of writing it; a key of a table stands there once.
std::string written(const std::vector<TheirRule>& rules, bool is_newer) {
  std::string text = is_newer ? "---\npermissions:\n" : "---\npermission:\n";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& [key, plain, decision] = rules[i];
    const std::string pattern = with_each(plain, '\\', R"(\\)");
    const std::string said(name_of(decision));
    if (is_newer) {
      text += "  - {action: \"" + key + "\", resource: \"" + pattern + "\", effect: " + said + "}\n";
      continue;
    }
    if (i == 0 || rules[i - 1].key != key) text += "  \"" + key + "\":\n";
    text += "    \"" + pattern + "\": " + said + "\n";
  }
  return text + "---\nx";
}

TEST(OpencodeProfile, IsNeverLessStrictThanItIsThere) {
  struct Tool {
    std::string theirs, ours;
    Decision by_default;
    std::vector<std::string> subjects;
  };
  // Theirs are absolute for read, and begin in the project for edit; ours are as the kernel has them.
  const std::vector<std::string> changed = {"src/a",      "b",           "app/deep/x.lock", "x.lock",
                                            "app/[id]/x", "app/i/x",     "app/{b}/x",       "app/b/x",
                                            "!b",         "docs/a/b.md", "docs/b.md",       "docs"};
  const std::vector<Tool> tools = {
      {"bash",
       "Bash",
       Decision::ask,
       {"git push x", "git status", "git statusx y", "rm x", "rmdir x", "ls", "cat a", "python3 -V",
        "python -V", "python/x y", "docker-compose up", "npm run test:unit", "npm run test", "git tag push"}},
      {"read",
       "Read",
       Decision::allow,
       {"/work/src/a", "/work/b", "/work/c", "/work/config/prod.env", "/work/.env", "/work/a/b/c/.env.local",
        "/home/me/x/y/z", "/work/s/c", "/etc/work/b"}},
      {"edit", "Edit", Decision::ask, changed},
      {"edit", "Write", Decision::ask, changed},
      {"webfetch", "WebFetch", Decision::ask, {"example.com"}},
      {"websearch", "WebSearch", Decision::ask, {"x"}},
      {"grep", "Grep", Decision::allow, {"/work/b"}}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> keys = {
      {"bash",
       {"*", "git *", "git push *", "git status*", "rm *", "rm*", "ls", "python*", "docker*",
        "npm run test:*", "git * push", "?s", "*test*", "!ls"}},
      {"bas?", {"*", "c*"}},
      {"read",
       {"*", "/work/src/*", "/work/b", "*.env", "*.env.*", "*work/b", "?work/c", "/work?b", "/home/me/*",
        "/work/*/c", "*/b"}},
      {"r*", {"*", "*.env"}},
      {"edit",
       {"*", "src/*", "*.lock", "app/[id]/*", "app/{b}/*", "!b", "app*x", "?pp/*", "docs/*", "docs/*/b.md",
        "docs/", "app\\deep\\*"}},
      {"write", {"*"}},
      {"e*", {"*"}},
      {"web*", {"*"}},
      {"webfetch", {"*", "*example*"}},
      {"grep", {"*", "/work/*"}},
      {"*e*", {"*"}},
      {"*", {"*"}}};
  const Roots roots{"/work", "/home/me"};
  Session parent;
  parent.permissions = Rules({{Decision::allow, "Bash", ""}}).to_json();
  SeededRandom random(11);
  int stricter_than_nothing = 0;
  for (int round = 0; round < 2000 && !HasFailure(); ++round) {
    std::vector<TheirRule> table;
    auto left = keys;
    while (!left.empty() && random.below(4) > 0) {
      const auto at = left.begin() + static_cast<std::ptrdiff_t>(random.below(left.size()));
      auto [key, patterns] = *at;
      left.erase(at);
      do {
        const auto pattern = patterns.begin() + static_cast<std::ptrdiff_t>(random.below(patterns.size()));
        table.push_back(
            {key, *pattern, std::array{Decision::allow, Decision::ask, Decision::deny}[random.below(3)]});
        patterns.erase(pattern);
      } while (!patterns.empty() && random.below(3) > 0);
    }
    if (table.empty()) continue;
    const std::string text = written(table, random.below(2) == 0);
    const auto read = deputy::read_profile(ProfileFormat::opencode, text, "x");
    ASSERT_TRUE(read) << text << read.error().message;
    const auto child = inherited_session(parent, read->profile, {});
    ASSERT_TRUE(child) << child.error().message;
    const Rules rules = Rules::from_json(child->permissions).value();
    for (const auto& tool : tools) {
      for (const auto& subject : tool.subjects) {
        const Decision ours = rules.judge(tool.ours, subject, tool.by_default, roots).decision;
        const Decision theirs = in_opencode(table, tool.theirs, subject);
        EXPECT_GE(ours, theirs) << tool.ours << " " << subject << " under\n" << text;
        stricter_than_nothing += theirs == Decision::deny ? 1 : 0;
      }
    }
  }
  EXPECT_GT(stricter_than_nothing, 1000) << "control";
}

}  // namespace
}  // namespace deputy
