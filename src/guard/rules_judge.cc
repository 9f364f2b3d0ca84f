#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "guard/display.h"
#include "guard/rules.h"

namespace deputy {
namespace {

bool speaks_for(const Rule& rule, std::string_view tool) {
  return rule.tool == tool ||
         (rule.tool == "Edit" && rule.decision != Decision::allow && is_writing_tool(tool));
}

// What comes of a rule whose pattern matches so; nothing where it has nothing to say.
std::optional<Decision> decision_by(const Rule& rule, RuleMatch match) {
  const RuleMatch least = rule.decision == Decision::allow ? RuleMatch::yes : RuleMatch::named;
  if (match < least) return std::nullopt;
  return match == RuleMatch::named ? Decision::ask : rule.decision;
}

Verdict verdict_of(const Rule& rule, RuleMatch match) {
  if (match == RuleMatch::named) {
    return Verdict::ask(
        fmt::format("it may run what rule {} means: what becomes of its words is not known", to_text(rule)));
  }
  const std::string_view doubt = match == RuleMatch::yes ? "" : ", which may mean it";
  switch (rule.decision) {
    case Decision::allow:
      return Verdict::allow();
    case Decision::ask:
      return Verdict::ask(fmt::format("to be asked by rule {}{}", to_text(rule), doubt));
    case Decision::deny:
      return Verdict::deny(fmt::format("denied by rule {}{}", to_text(rule), doubt));
  }
  return Verdict::deny("unknown decision");
}

Verdict default_verdict(std::string_view what, Decision by_default) {
  switch (by_default) {
    case Decision::allow:
      return Verdict::allow();
    case Decision::ask:
      return Verdict::ask(fmt::format("no rule allows {}", what));
    case Decision::deny:
      return Verdict::deny(fmt::format("{} is denied unless a rule allows it", what));
  }
  return Verdict::deny("unknown decision");
}

void tighten(Verdict& verdict, Verdict other) {
  if (other.decision > verdict.decision) verdict = std::move(other);
}

// What a path would be called if a protected name in it were another.
struct Disguise {
  std::string name;
  PathSubject path;
};

std::vector<Disguise> disguises_of(const LocatedPath& path, const Roots& roots) {
  const std::string text = path.in_workspace ? *path.in_workspace
                           : path.absolute   ? "/" + *path.absolute
                                             : path.end;
  std::vector<Disguise> disguises;
  for (ProtectedName& found : protected_names_in(text)) {
    disguises.push_back({std::move(found.name), PathSubject(found.disguised, roots)});
  }
  return disguises;
}

bool is_nowhere(const Redirection& to) {
  return to.kind == Redirection::Kind::duplicate || to.target == "/dev/null" || to.target == "/dev/stdout" ||
         to.target == "/dev/stderr";
}

std::string short_name(const SimpleCommand& command) {
  return fmt::format("Bash({})", shorten(on_one_line(shown(std::span(&command, 1))), 120));
}

}  // namespace

template <typename Match>
Rules::Ruling Rules::strictest(Layer layer, std::string_view tool, const Match& match) const {
  Ruling ruling;
  for (std::size_t index = layer.begin; index < layer.end; ++index) {
    const Rule& rule = rules_[index];
    if (!speaks_for(rule, tool) || (ruling.rule != nullptr && rule.decision <= ruling.decision)) continue;
    const RuleMatch found = match(patterns_[index]);
    const auto decision = decision_by(rule, found);
    if (decision && (ruling.rule == nullptr || *decision > ruling.decision))
      ruling = {&rule, found, *decision};
  }
  return ruling;
}

template <typename Judge>
Verdict Rules::strictest_of_layers(const Judge& judge) const {
  std::optional<Verdict> strictest;
  for (std::size_t index = 0; index < ends_.size(); ++index) {
    Verdict verdict = judge(layer(index));
    if (!strictest || verdict.decision > strictest->decision) strictest = std::move(verdict);
  }
  return *std::move(strictest);
}

Verdict Rules::judge(std::string_view tool, std::string_view subject, Decision by_default,
                     const Roots& roots) const {
  if (tool == "Bash") return judge_command(subject, by_default, roots);
  if (is_path_tool(tool) && subject.size() <= kMaxSubjectBytes) {
    const PathSubject path(subject, roots);
    return strictest_of_layers([&](Layer layer) { return judge_path(layer, tool, path, by_default, roots); });
  }
  return strictest_of_layers([&](Layer layer) {
    const Ruling ruling = strictest(layer, tool, [&](const RulePattern& pattern) {
      return tool == "WebFetch" ? pattern.match_host(subject) : pattern.match_unseen();
    });
    return ruling.rule != nullptr ? verdict_of(*ruling.rule, ruling.match)
                                  : default_verdict(tool, by_default);
  });
}

Verdict Rules::judge_path(Layer layer, std::string_view tool, const PathSubject& subject, Decision by_default,
                          const Roots& roots) const {
  const Ruling ruling =
      strictest(layer, tool, [&](const RulePattern& pattern) { return pattern.match(subject); });
  Verdict verdict =
      ruling.rule != nullptr ? verdict_of(*ruling.rule, ruling.match) : default_verdict(tool, by_default);
  if (verdict.decision != Decision::allow || !is_writing_tool(tool)) return verdict;

  // An allow counts for a protected name only if it would not hold for any other name in its place.
  for (const Disguise& disguise : disguises_of(subject.plain, roots)) {
    if (!is_allowed_by_name(layer, tool, subject, disguise.path)) {
      return Verdict::ask(
          fmt::format("{} is protected: what is written there may run later, or change what agents may do",
                      made_visible(shorten(disguise.name, 64))));
    }
  }
  return verdict;
}

bool Rules::restricts(std::string_view tool, Decision decision) const {
  return std::ranges::any_of(
      rules_, [&](const Rule& rule) { return rule.decision == decision && speaks_for(rule, tool); });
}

bool Rules::is_allowed_by_name(Layer layer, std::string_view tool, const PathSubject& path,
                               const PathSubject& disguised) const {
  for (std::size_t index = layer.begin; index < layer.end; ++index) {
    const Rule& rule = rules_[index];
    const RulePattern& pattern = patterns_[index];
    if (rule.tool == tool && rule.decision == Decision::allow && pattern.match(path) == RuleMatch::yes &&
        pattern.match(disguised) != RuleMatch::yes) {
      return true;
    }
  }
  return false;
}

Verdict Rules::judge_command(std::string_view command, Decision by_default, const Roots& roots) const {
  ShellReading reading = read_shell(command);
  if (!reading && reading.error().kind == Opaque::Kind::too_long) {
    return Verdict::deny(
        fmt::format("the command is too long to be judged: {}; run it in pieces, or put it into a file",
                    reading.error().why));
  }
  if (!reading) {
    return strictest_of_layers(
        [&](Layer layer) { return judge_opaque(layer, reading.error().why, by_default); });
  }
  const std::vector<CommandSubject> parts = subjects_of(*std::move(reading), roots);
  return strictest_of_layers([&](Layer layer) {
    Verdict verdict;
    for (const CommandSubject& part : parts) tighten(verdict, judge_part(layer, part, by_default, roots));
    return verdict;
  });
}

Verdict Rules::judge_opaque(Layer layer, const std::string& why, Decision by_default) const {
  const Ruling ruling = strictest(layer, "Bash", [](const RulePattern&) { return RuleMatch::maybe; });
  if (ruling.rule != nullptr && ruling.rule->decision == Decision::deny) {
    return Verdict::deny(fmt::format(
        "denied by rule {}, which may mean it: the command cannot be taken apart: {}; write it as "
        "plain commands",
        to_text(*ruling.rule), why));
  }
  std::string reason = fmt::format("the command cannot be taken apart: {}", why);
  return by_default == Decision::deny ? Verdict::deny(std::move(reason)) : Verdict::ask(std::move(reason));
}

Verdict Rules::judge_part(Layer layer, const CommandSubject& part, Decision by_default,
                          const Roots& roots) const {
  const auto [rule, match, decision] =
      strictest(layer, "Bash", [&](const RulePattern& pattern) { return pattern.match(part); });
  Verdict verdict =
      rule != nullptr ? verdict_of(*rule, match) : default_verdict(short_name(part.command), by_default);
  if (verdict.decision == Decision::allow && rule == nullptr && part.names_protected) {
    tighten(verdict, Verdict::ask(fmt::format("{} names a protected path", short_name(part.command))));
  }
  // Who allows Bash as a whole allows it to write; who allows a command does not.
  const bool is_wide = rule == nullptr || rule->pattern.empty();
  const Decision for_writing = is_wide ? verdict.decision : Decision::ask;
  for (const Redirection& to : part.command.redirections) {
    if (!is_nowhere(to)) tighten(verdict, judge_redirection(layer, to, part, for_writing, roots));
  }
  return verdict;
}

Verdict Rules::judge_redirection(Layer layer, const Redirection& to, const CommandSubject& part,
                                 Decision for_writing, const Roots& roots) const {
  // After a cd nobody knows where a relative path leads.
  const bool is_lost = part.is_moved && !to.target.starts_with('/');
  const Roots known = is_lost ? Roots{} : roots;
  const PathSubject path(is_lost ? "/" + to.target : to.target, known);
  if (to.kind == Redirection::Kind::read) return judge_path(layer, "Read", path, Decision::allow, known);
  Verdict verdict = judge_path(layer, "Write", path, for_writing, known);
  tighten(verdict, judge_path(layer, "Edit", path, verdict.decision, known));
  return verdict;
}

}  // namespace deputy
