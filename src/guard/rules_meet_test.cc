// child = parent ∧ profile ∧ call, for random rules and calls. The same search must find a counterexample in
// every wrong way of joining rules, or it proves nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "base/random.h"
#include "guard/rules.h"

namespace deputy {
namespace {

using enum Decision;

// Few words, so that rules and calls meet often.
constexpr std::string_view kRules[] = {"Read",
                                       "Read(src/**)",
                                       "Read(!src/**)",
                                       "Read(**/.env)",
                                       "Read(src)",
                                       "Read(*.md)",
                                       "Read(!*.md)",
                                       "Read(/w/src/**)",
                                       "Read(~/k/**)",
                                       "Edit(src/)",
                                       "Edit",
                                       "Edit(!**/a)",
                                       "Edit(.git/**)",
                                       "Edit(**)",
                                       "Write",
                                       "Write(src/**)",
                                       "Write(!x.md)",
                                       "Bash",
                                       "Bash(git:*)",
                                       "Bash(!git:*)",
                                       "Bash(git status)",
                                       "Bash(git push:*)",
                                       "Bash(rm -rf:*)",
                                       "Bash(echo:*)",
                                       "Bash(sudo ls:*)",
                                       "Bash(sh -c ls)",
                                       "WebFetch(domain:a.org)",
                                       "WebFetch(!domain:b.a.org)",
                                       "WebFetch",
                                       "Note"};
constexpr std::string_view kPaths[] = {"",     "src",      "src/a", ".env",  "src/.env",    "x.md",
                                       "X.md", "/w/src/a", "../a",  "~/k/a", ".git/config", "src/../x.md",
                                       "/k/a"};
constexpr std::string_view kCommands[] = {"git status",
                                          "git push -f",
                                          "git -C x push",
                                          "rm -fr x",
                                          "sudo rm x",
                                          "sudo ls",
                                          "echo a",
                                          "echo a > src/b",
                                          "echo a > .git/x",
                                          "echo $a",
                                          "sh -c ls",
                                          "sh -c x",
                                          "git log && echo b",
                                          "echo a | git push",
                                          "timeout 5 git status",
                                          ""};
constexpr std::string_view kHosts[] = {"a.org", "b.a.org", "c.org", "A.org.", "http://a.org", "1.2.3.4"};
const Roots kRoots{"/w", "/h"};

template <std::size_t n>
std::string_view one_of(Random& random, const std::string_view (&words)[n]) {
  return words[random.below(n)];
}

// Each of kRules as an allow, an ask and a deny.
std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const Decision decision : {allow, ask, deny}) {
    for (const std::string_view text : kRules) rules.push_back(parse_rule(decision, text).value());
  }
  return rules;
}

std::vector<Rule> random_layer(Random& random) {
  static const std::vector<Rule> all = all_rules();
  std::vector<Rule> rules;
  for (std::size_t count = random.below(6); count-- > 0;) rules.push_back(all[random.below(all.size())]);
  return rules;
}

Rules random_rules(Random& random) {
  Rules rules(random_layer(random));
  return random.below(3) == 0 ? Rules::both(rules, Rules(random_layer(random))) : rules;
}

struct RandomCall {
  std::string_view tool;
  std::string_view subject;
  Decision by_default = ask;

  Decision judged_by(const Rules& rules) const {
    return rules.judge(tool, subject, by_default, kRoots).decision;
  }
};

RandomCall random_call(Random& random) {
  static constexpr std::string_view kPathTools[] = {"Read", "Edit", "Write", "Grep"};
  const auto by_default = static_cast<Decision>(random.below(3));
  switch (random.below(5)) {
    case 0:
    case 1:
      return {one_of(random, kPathTools), one_of(random, kPaths), by_default};
    case 2:
    case 3:
      return {"Bash", one_of(random, kCommands), by_default};
    default:
      return random.below(2) == 0 ? RandomCall{"WebFetch", one_of(random, kHosts), by_default}
                                  : RandomCall{"Note", "", by_default};
  }
}

using Meet = std::function<Rules(const Rules&, const Rules&)>;

std::string told(std::string_view what, const Rules& a, const Rules& b, const RandomCall& call) {
  return fmt::format("{}: {} and {} on {} {} (default {})", what, a.to_json(), b.to_json(), call.tool,
                     call.subject, name_of(call.by_default));
}

// The first counterexample in `sets` times `calls` tries.
std::optional<std::string> counterexample(const Meet& meet, std::uint64_t seed, int sets, int calls) {
  SeededRandom random(seed);
  for (int set = 0; set < sets; ++set) {
    const Rules parent = random_rules(random);
    const Rules profile = random_rules(random);
    const Rules call_rules(random_layer(random));
    const Rules above = meet(parent, profile);
    const Rules child = meet(above, call_rules);
    std::optional<Rules> otherwise;
    std::optional<Rules> restored;
    if (set % 8 == 0) {  // takes longer than all else
      otherwise = meet(call_rules, meet(profile, parent));
      auto read = Rules::from_json(child.to_json());
      if (!read || *read != child || meet(child, child) != child) return "not kept: " + child.to_json();
      restored = *std::move(read);
    }
    for (int count = 0; count < calls; ++count) {
      const RandomCall call = random_call(random);
      const Decision stricter =
          std::max({call.judged_by(parent), call.judged_by(profile), call.judged_by(call_rules)});
      const Decision decided = call.judged_by(child);
      if (decided < stricter) return told("wider than an ancestor", parent, child, call);
      if (decided > stricter) return told("stricter than all", parent, child, call);
      if (otherwise && call.judged_by(*otherwise) != decided)
        return told("by order", child, *otherwise, call);
      if (restored && call.judged_by(*restored) != decided) return told("restored", child, *restored, call);
    }
  }
  return std::nullopt;
}

TEST(RulesMeet, AChildMayDoExactlyWhatAllAboveItMay) {
  EXPECT_EQ(counterexample(&Rules::both, 20270115, 150, 20), std::nullopt);
}

TEST(RulesMeet, TheSearchFindsEveryWrongWayToJoin) {
  const std::pair<std::string_view, Meet> wrong[] = {
      {"the child's own alone", [](const Rules&, const Rules& b) { return b; }},
      {"the parent's alone", [](const Rules& a, const Rules&) { return a; }},
      {"the child's, where it has some",
       [](const Rules& a, const Rules& b) { return b.all().empty() ? a : Rules::both(b, b); }},
      {"all rules in one layer",
       [](const Rules& a, const Rules& b) {
         std::vector<Rule> rules(a.all().begin(), a.all().end());
         rules.insert(rules.end(), b.all().begin(), b.all().end());
         return Rules(std::move(rules));
       }},
      {"without what the other denies",
       [](const Rules& a, const Rules& b) {
         std::vector<Rule> rules(b.all().begin(), b.all().end());
         std::erase_if(rules, [](const Rule& rule) { return rule.decision == deny; });
         return Rules::both(a, Rules(std::move(rules)));
       }},
  };
  for (const auto& [name, meet] : wrong) {
    EXPECT_NE(counterexample(meet, 20270115, 500, 20), std::nullopt) << name;
  }
}

// A tenth of a million rule sets each, and a call for each.
class RulesMeetLong : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RulesMeetLong, NoCounterexample) {
  constexpr int kSets = 100'000;
  const auto found = counterexample(&Rules::both, GetParam(), kSets, 1);
  EXPECT_EQ(found, std::nullopt);
  fmt::print("figures: rules: {} counterexamples of {} random rule sets, seed {}\n", found ? 1 : 0, kSets,
             GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RulesMeetLong, testing::Range<std::uint64_t>(1, 11));

}  // namespace
}  // namespace deputy
