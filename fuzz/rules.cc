// A rule and a call, a line each: what parses must print and parse back as itself, judge every call, and
// never be lifted by being joined. Or rules as they are stored, and behind a form feed a call: a damaged
// database and a stranger's bundle have them too, and the same holds of all that are read.
#include "guard/rules.h"

#include <array>

#include "base/text.h"
#include "choice.h"
#include "must.h"

using namespace deputy;

namespace {

void judge_both_ways(const Rule& rule, std::string_view subject) {
  const Rules rules({rule});
  const Rules met = Rules::both(rules, Rules());
  for (const Decision by_default : {Decision::allow, Decision::ask, Decision::deny}) {
    const Decision decision = rules.judge(rule.tool, subject, by_default).decision;
    const Decision alone = Rules().judge(rule.tool, subject, by_default).decision;
    must(decision != Decision::allow || by_default == Decision::allow || rule.decision == Decision::allow);
    must(met.judge(rule.tool, subject, by_default).decision == std::max(decision, alone));
  }
}

constexpr std::array kDecisions{Decision::allow, Decision::ask, Decision::deny};

void judge_stored(const Rules& rules, std::string_view subject, Decision by_default) {
  const Rules met = Rules::both(rules, Rules());
  const auto allows = [](const Rule& rule) { return rule.decision == Decision::allow; };
  const bool may_allow = by_default == Decision::allow || std::ranges::any_of(rules.all(), allows);
  for (const Rule& rule : rules.all()) {
    const Verdict verdict = rules.judge(rule.tool, subject, by_default);
    must(verdict.decision == Decision::allow ? may_allow : !verdict.reason.empty());
    const Decision alone = Rules().judge(rule.tool, subject, by_default).decision;
    must(met.judge(rule.tool, subject, by_default).decision == std::max(verdict.decision, alone));
  }
}

void check_stored(std::string_view text, std::string_view subject, std::size_t size) {
  const auto rules = Rules::from_json(text);
  if (!rules) return must(!rules.error().message.empty() && is_utf8(rules.error().message));
  must(Rules::from_json(rules->to_json()) == *rules);
  must(Rules::both(*rules, *rules) == *rules);
  for (std::size_t i = 0; i < kDecisions.size(); ++i) {
    if (is_chosen(size, i, kDecisions.size())) judge_stored(*rules, subject, kDecisions[i]);
  }
}

void check(Decision decision, std::string_view written, std::string_view subject) {
  const auto rule = parse_rule(decision, written);
  if (!rule) {
    must(!rule.error().message.empty() && is_utf8(rule.error().message));
    return;
  }
  must(parse_rule(decision, to_text(*rule)) == *rule);
  must(Rules::from_json(Rules({*rule}).to_json()) == Rules({*rule}));
  judge_both_ways(*rule, subject);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const bool is_stored = text.starts_with('{');
  const std::size_t end = std::min(text.find(is_stored ? '\f' : '\n'), text.size());
  const std::string_view subject = text.substr(std::min(end + 1, text.size()));
  if (is_stored) {
    check_stored(text.substr(0, end), subject, size);
    return 0;
  }
  for (std::size_t i = 0; i < kDecisions.size(); ++i) {
    if (is_chosen(size, i, kDecisions.size())) check(kDecisions[i], text.substr(0, end), subject);
  }
  return 0;
}
