// For tests of rules about commands: rules by their texts, and what becomes of a command under them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

#include "guard/rules.h"

namespace deputy {

inline Rule rule(Decision decision, std::string_view text) {
  auto parsed = parse_rule(decision, text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : to_text(parsed.error()));
  return parsed.value_or(Rule{});
}

inline Decision judged(const Rules& rules, std::string_view command, Decision by_default = Decision::ask) {
  return rules.judge_command(command, by_default, {"/work", "/home/me"}).decision;
}

inline Rules allowing(std::string_view pattern) {
  return Rules({rule(Decision::allow, fmt::format("Bash({})", pattern))});
}

inline Rules denying(std::string_view pattern) {
  return Rules({rule(Decision::allow, "Bash"), rule(Decision::deny, fmt::format("Bash({})", pattern))});
}

}  // namespace deputy
