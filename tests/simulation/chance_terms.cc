#include "chance_terms.h"

#include <array>

namespace deputy {

using namespace std::chrono_literals;

TreeLimits limits_by(Chance& chance) {
  TreeLimits limits{.delegations = 2 + static_cast<int>(chance.below(10)),
                    .live_children = 1 + static_cast<int>(chance.below(4)),
                    .live_sessions = 1 + static_cast<int>(chance.below(5))};
  if (chance.one_in(4)) limits.depth = 1 + static_cast<int>(chance.below(3));
  if (chance.one_in(4)) limits.steps = 4 + static_cast<std::int64_t>(chance.below(30));
  if (chance.one_in(4)) limits.tokens = 20'000 + static_cast<std::int64_t>(chance.below(200'000));
  if (chance.one_in(4)) limits.cost_micros = 100'000 + static_cast<std::int64_t>(chance.below(1'000'000));
  if (chance.one_in(6)) limits.time = 1s * (1 + chance.below(300));
  return limits;
}

Attendance attendance_by(Chance chance) {
  if (!chance.one_in(4)) return Attendance::person;
  return chance.one_in(2) ? Attendance::approves_all : Attendance::nobody;
}

Rules rules_by(Chance& chance) {
  std::vector<Rule> rules{{Decision::allow, "task", ""}, {Decision::allow, "spawn_subagent", ""}};
  constexpr std::array kDecisions{Decision::allow, Decision::allow, Decision::ask, Decision::deny};
  for (const char* tool : {"Bash", "Write"})
    rules.push_back({kDecisions[chance.below(kDecisions.size())], tool, ""});
  return Rules(std::move(rules));
}

void put_files(SimWorld& world) {
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  std::string lines;
  for (int i = 0; i < 1900; ++i) lines += "one\n";
  world.write_file(std::string(kLongFile), lines);
}

}  // namespace deputy
