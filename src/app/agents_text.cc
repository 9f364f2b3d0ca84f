#include "app/agents_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "app/looks.h"
#include "base/text.h"

namespace deputy {
namespace {

std::string clean(std::string_view text) { return on_one_line(made_visible(to_utf8(text))); }

std::string from_text(const FoundProfile& found) {
  return found.file.empty() ? "built in" : fmt::format("{} ({})", found.file, name_of(found.format));
}

std::string or_inherited(const std::optional<int>& number) {
  if (!number) return "inherited";
  return *number == std::numeric_limits<int>::max() ? "none"
                                                    : with_thousands(static_cast<std::uint64_t>(*number));
}

std::string timeout_text(const Profile& profile) {
  if (!profile.timeout) return profile.kind ? "by its kind" : "inherited";
  return *profile.timeout == kNoTimeout ? "none" : to_text(*profile.timeout);
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : clean(fmt::format("{}", fmt::join(names, ", ")));
}

// Rows of a key and its value, where there is something to say.
class Rows {
 public:
  void add(std::string_view key, std::string_view value) { text_ += fmt::format("{:<20}{}\n", key, value); }
  void add_list(std::string_view key, const std::vector<std::string>& values) {
    if (!values.empty()) add(key, joined(values));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::vector<std::string> remarks_on(const FoundProfile& found) {
  std::vector<std::string> remarks;
  for (const auto line : lines_of(found.problem)) remarks.push_back(clean(line));
  for (const auto& warning : found.read.warnings) {
    remarks.push_back(warning.line > 0 ? fmt::format("line {}: {}", warning.line, clean(warning.text))
                                       : clean(warning.text));
  }
  return remarks;
}

// What was understood of it, in a line.
std::string meaning_of(const Profile& profile) {
  return fmt::format("tools: {}; subagents: {}; model: {}; workspace: {}; time: {}", joined(profile.tools),
                     joined(profile.subagents), profile.model ? clean(profile.model->value) : "inherited",
                     name_of(profile.workspace), timeout_text(profile));
}

json::array to_array(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

json::value or_null(const std::optional<int>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

}  // namespace

bool is_sound(const FoundProfile& found) { return found.standing != Standing::broken; }

std::string list_of_agents(const std::vector<FoundProfile>& found) {
  std::vector<std::vector<std::string>> rows{{"NAME", "STANDING", "FROM", "FOR"}};
  for (const auto& each : found) {
    rows.push_back({clean(each.read.profile.name), std::string(name_of(each.standing)),
                    clean(from_text(each)), shorten(clean(each.read.profile.description), 80)});
  }
  std::string text;
  for (const auto& line : aligned(rows)) text += line + "\n";
  return text;
}

std::string shown_agent(const FoundProfile& found) {
  const Profile& profile = found.read.profile;
  Rows rows;
  rows.add("name", clean(profile.name));
  rows.add("from", clean(from_text(found)));
  rows.add("standing", name_of(found.standing));
  rows.add("description",
           profile.description.empty() ? "(no description provided)" : clean(profile.description));
  rows.add("tools", joined(profile.tools));
  rows.add("subagents", joined(profile.subagents));
  rows.add("model", profile.model ? clean(profile.model->value) : "inherited");
  rows.add("workspace", name_of(profile.workspace));
  rows.add("network", profile.network ? "as its parent" : "no");
  rows.add("on_ask", profile.on_ask == OnAsk::deny ? "deny" : "person");
  rows.add("kind", profile.kind ? name_of(*profile.kind) : "inherited");
  rows.add("timeout", timeout_text(profile));
  rows.add("max_turns", or_inherited(profile.max_turns));
  rows.add("max_output_tokens", or_inherited(profile.max_output_tokens));
  if (profile.max_context_tokens) rows.add("max_context_tokens", or_inherited(profile.max_context_tokens));
  if (profile.max_messages) rows.add("max_messages", or_inherited(profile.max_messages));
  if (profile.compact) rows.add("compact", *profile.compact ? "true" : "false");
  rows.add("returns", profile.returns == Returns::report ? "report" : "text");
  if (!profile.output_schema.empty()) rows.add("output_schema", clean(profile.output_schema));
  if (profile.reentrant) rows.add("reentrant", "true");
  rows.add_list("allow", profile.permissions.allow);
  rows.add_list("ask", profile.permissions.ask);
  rows.add_list("deny", profile.permissions.deny);
  rows.add_list("mapped", found.read.mapped);
  rows.add_list("ignored", found.read.ignored);
  if (!found.read.unknown.empty()) rows.add("unknown, kept", clean(to_json_text(found.read.unknown)));
  for (const auto& remark : remarks_on(found)) rows.add("note", remark);
  return std::move(rows).text() + "\n" + made_visible(to_utf8(profile.instructions)) + "\n";
}

std::string counted(const std::vector<FoundProfile>& checked) {
  const auto broken = std::ranges::count(checked, false, is_sound);
  return fmt::format("{} agent{} checked, {} cannot be used\n", checked.size(),
                     checked.size() == 1 ? "" : "s", broken);
}

std::string checked_agent(const FoundProfile& found) {
  const std::string head =
      fmt::format("{}: {}", clean(found.file.empty() ? found.read.profile.name : found.file),
                  !is_sound(found)                   ? "cannot be used"
                  : found.standing == Standing::used ? "ok"
                                                     : name_of(found.standing));
  std::string text =
      fmt::format("{} ({}, agent {})\n", head, name_of(found.format), clean(found.read.profile.name));
  for (const auto& remark : remarks_on(found)) text += fmt::format("  {}\n", remark);
  if (is_sound(found)) text += fmt::format("  {}\n", meaning_of(found.read.profile));
  if (!found.read.mapped.empty()) text += fmt::format("  mapped: {}\n", joined(found.read.mapped));
  if (!found.read.ignored.empty()) text += fmt::format("  ignored: {}\n", joined(found.read.ignored));
  return text;
}

json::object to_json(const FoundProfile& found) {
  const Profile& profile = found.read.profile;
  json::array warnings;
  for (const auto& warning : found.read.warnings)
    warnings.push_back(json::object{{"line", warning.line}, {"text", warning.text}});
  json::value timeout = nullptr;
  if (profile.timeout == kNoTimeout) timeout = "none";
  if (profile.timeout && profile.timeout != kNoTimeout)
    timeout = std::chrono::duration_cast<std::chrono::seconds>(*profile.timeout).count();
  return {{"name", profile.name},
          {"description", profile.description},
          {"origin", name_of(found.origin)},
          {"format", name_of(found.format)},
          {"file", found.file},
          {"standing", name_of(found.standing)},
          {"usable", is_sound(found)},
          {"problem", found.problem},
          {"tools", to_array(profile.tools)},
          {"subagents", to_array(profile.subagents)},
          {"model", profile.model ? json::value(profile.model->value) : json::value(nullptr)},
          {"workspace", name_of(profile.workspace)},
          {"network", profile.network},
          {"on_ask", profile.on_ask == OnAsk::deny ? "deny" : "person"},
          {"kind", profile.kind ? json::value(name_of(*profile.kind)) : json::value(nullptr)},
          {"timeout", timeout},
          {"max_turns", or_null(profile.max_turns)},
          {"max_output_tokens", or_null(profile.max_output_tokens)},
          {"permissions", json::object{{"allow", to_array(profile.permissions.allow)},
                                       {"ask", to_array(profile.permissions.ask)},
                                       {"deny", to_array(profile.permissions.deny)}}},
          {"mapped", to_array(found.read.mapped)},
          {"ignored", to_array(found.read.ignored)},
          {"unknown", found.read.unknown},
          {"warnings", std::move(warnings)}};
}

}  // namespace deputy
