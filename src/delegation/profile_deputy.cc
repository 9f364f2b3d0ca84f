// Our own format: every key of delegation.md, "Profiles".
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/profile_formats.h"
#include "guard/rules.h"
#include "transcript/names.h"

namespace deputy {
namespace {

constexpr EnumNames<OnAsk, 2> kOnAsk{{{OnAsk::person, "person"}, {OnAsk::deny, "deny"}}};
constexpr EnumNames<Returns, 2> kReturns{{{Returns::text, "text"}, {Returns::report, "report"}}};

// What an agent has whose file names no tools: it looks, and changes nothing.
constexpr std::string_view kReadingTools = "Read, Grep, Glob, List";

Result<void> read_permissions(ProfileFields& fields, ReadProfile& read) {
  const ProfileNode* value = fields.take("permissions");
  if (!value) return {};
  constexpr std::string_view kMust =
      "a table with allow, ask and deny, each a list of rules such as Edit(src/**)";
  if (value->kind != ProfileNode::Kind::map) return wrong_value(*value, "permissions", kMust);
  ReadProfile inner;
  ProfileFields lists(*value, inner);
  for (const auto decision : {Decision::allow, Decision::ask, Decision::deny}) {
    TRY(const auto texts, lists.texts(name_of(decision)));
    for (const auto& text : texts.value_or(std::vector<ProfileNode>{}))
      add_rule(read, decision, text.text, text.line);
  }
  lists.finish();
  std::ranges::move(inner.mistakes, std::back_inserter(read.mistakes));
  for (const auto& [line, text] : inner.warnings)  // what it was meant to forbid is not known
    read.mistakes.push_back({ErrorCode::invalid, fmt::format("line {}: permissions: {}", line, text),
                             fmt::format("it must be {}", kMust)});
  return {};
}

Result<std::string> schema_of(ProfileFields& fields) {
  const ProfileNode* value = fields.take("output_schema");
  if (!value) return "";
  const auto schema = value->kind == ProfileNode::Kind::text ? parse_json(value->text) : to_json(*value);
  const auto compiled = schema ? JsonSchema::compile(*schema) : std::unexpected(schema.error());
  if (compiled) return to_json_text(*schema);
  return fail(ErrorCode::invalid,
              fmt::format("line {}: output_schema: {}", value->line, compiled.error().message),
              "it must be a JSON Schema, as YAML or as JSON text");
}

Result<void> read_limits(ProfileFields& fields, Profile& profile) {
  TRY(profile.kind, fields.choice("kind", kWorkKinds));
  TRY(profile.timeout, fields.duration("timeout"));
  TRY(profile.max_turns, fields.number("max_turns"));
  TRY(profile.max_output_tokens, fields.number("max_output_tokens"));
  TRY(profile.max_context_tokens, fields.number("max_context_tokens"));
  TRY(profile.max_messages, fields.number("max_messages"));
  TRY(profile.compact, fields.truth("compact"));
  return {};
}

Result<void> read_tools(ProfileFields& fields, ReadProfile& read) {
  TRY(auto tools, fields.texts("tools"));
  if (!tools) {
    tools.emplace();
    for (const auto name : split(kReadingTools, ','))
      tools->push_back({.kind = ProfileNode::Kind::text, .text = std::string(trimmed(name))});
  }
  add_tools(read, *tools);
  TRY(const auto subagents, fields.texts("subagents"));
  for (const auto& name : subagents.value_or(std::vector<ProfileNode>{}))
    read.profile.subagents.emplace_back(trimmed(name.text));
  TRY(const auto without, fields.texts("disallowed_tools"));
  remove_tools(read, without.value_or(std::vector<ProfileNode>{}));
  return {};
}

}  // namespace

Result<void> read_deputy_profile(const MarkdownProfile& file, std::string_view stem, ReadProfile& read) {
  if (!file.has_head)
    return fail(ErrorCode::invalid, "the file does not begin with front matter",
                "begin it with ---, keys such as description: …, and --- again");
  ProfileFields fields(file.head, read);
  Profile& profile = read.profile;
  TRY(const auto name, fields.text("name"));
  name_profile(read, name ? std::string_view(*name) : stem);
  TRY(const auto description, fields.text("description"));
  profile.description = description.value_or("");
  TRY(const auto model, fields.text("model"));
  if (model && *model != "inherit") profile.model = ModelName(*model);
  TRY(read_tools(fields, read));
  keep_mistake(read, read_permissions(fields, read));
  TRY(read_limits(fields, profile));
  TRY(const auto on_ask, fields.choice("on_ask", kOnAsk));
  profile.on_ask = on_ask.value_or(OnAsk::person);
  TRY(const auto returns, fields.choice("returns", kReturns));
  profile.returns = returns.value_or(Returns::text);
  if (auto schema = schema_of(fields)) {
    profile.output_schema = *std::move(schema);
  } else {
    read.mistakes.push_back(std::move(schema).error());
  }
  TRY(const auto reentrant, fields.truth("reentrant"));
  profile.reentrant = reentrant.value_or(false);
  TRY(const auto network, fields.truth("network"));
  profile.network = network.value_or(false);
  TRY(const auto workspace, fields.choice("workspace", kWorkspaceModes));
  settle(read, workspace);
  fields.finish();
  return {};
}

}  // namespace deputy
