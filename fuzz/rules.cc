// A rule and a call, a line each: what parses must print and parse back as itself, judge every call, and
// never be lifted by being joined.
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
  static constexpr std::array kDecisions{Decision::allow, Decision::ask, Decision::deny};
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line_break = std::min(text.find('\n'), text.size());
  const std::string_view subject = text.substr(std::min(line_break + 1, text.size()));
  for (std::size_t i = 0; i < kDecisions.size(); ++i) {
    if (is_chosen(size, i, kDecisions.size())) check(kDecisions[i], text.substr(0, line_break), subject);
  }
  return 0;
}
