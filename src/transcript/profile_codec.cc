#include "transcript/profile_codec.h"

#include <limits>

#include "transcript/codec_parts.h"
#include "transcript/names.h"

namespace deputy {
namespace {

constexpr EnumNames<Returns, 2> kReturns{{{Returns::text, "text"}, {Returns::report, "report"}}};
constexpr EnumNames<OnAsk, 2> kOnAsk{{{OnAsk::person, "person"}, {OnAsk::deny, "deny"}}};

// Each once, for writing and for reading.
template <class P, class Field>
void each_field(P& profile, Field field) {
  field("name", profile.name);
  field("description", profile.description);
  field("instructions", profile.instructions);
  field("tools", profile.tools);
  field("subagents", profile.subagents);
  field("model", profile.model);
  field("max_turns", profile.max_turns);
  field("max_output_tokens", profile.max_output_tokens);
  field("kind", profile.kind, kWorkKinds);
  field("timeout_ns", profile.timeout);
  field("max_context_tokens", profile.max_context_tokens);
  field("max_messages", profile.max_messages);
  field("compact", profile.compact);
  field("returns", profile.returns, kReturns);
  field("output_schema", profile.output_schema);
  field("allow", profile.permissions.allow);
  field("ask", profile.permissions.ask);
  field("deny", profile.permissions.deny);
  field("on_ask", profile.on_ask, kOnAsk);
  field("workspace", profile.workspace, kWorkspaceModes);
  field("network", profile.network);
  field("hidden", profile.hidden);
  field("reentrant", profile.reentrant);
}

struct Writer {
  json::object& told;

  void operator()(std::string_view key, const std::string& text) const { told[key] = text; }
  void operator()(std::string_view key, const std::vector<std::string>& texts) const {
    told[key] = strings(texts);
  }
  void operator()(std::string_view key, bool truth) const { told[key] = truth; }
  void operator()(std::string_view key, int number) const { told[key] = number; }
  void operator()(std::string_view key, Duration time) const { told[key] = time.count(); }
  void operator()(std::string_view key, const ModelName& model) const { told[key] = model.value; }
  template <class T, class... Names>
  void operator()(std::string_view key, const std::optional<T>& value, const Names&... names) const {
    if (value) (*this)(key, *value, names...);
  }
  template <class E, std::size_t N>
  void operator()(std::string_view key, E value, const EnumNames<E, N>& names) const {
    told[key] = name_in(names, value);
  }
};

// What is not there, or is no such thing, stays as it is.
struct Reader {
  const json::object& told;

  void operator()(std::string_view key, std::string& text) const { text = string_or(told, key, text); }
  void operator()(std::string_view key, std::vector<std::string>& texts) const {
    texts = strings_at(told, key);
  }
  void operator()(std::string_view key, bool& truth) const { truth = bool_at(told, key).value_or(truth); }
  void operator()(std::string_view key, std::optional<bool>& truth) const { truth = bool_at(told, key); }
  void operator()(std::string_view key, std::optional<int>& number) const {
    const auto told_number = integer_at(told, key);
    if (told_number && *told_number > 0 && *told_number <= std::numeric_limits<int>::max())
      number = static_cast<int>(*told_number);
  }
  void operator()(std::string_view key, std::optional<Duration>& time) const {
    constexpr Duration kLongest = std::chrono::hours(24 * 365);  // as in a profile's file
    const Duration told_time{integer_or(told, key, 0)};
    if (told_time == kNoTimeout || (told_time > Duration::zero() && told_time <= kLongest)) time = told_time;
  }
  void operator()(std::string_view key, std::optional<ModelName>& model) const {
    if (auto name = string_at(told, key)) model = ModelName(*std::move(name));
  }
  template <class E, std::size_t N>
  void operator()(std::string_view key, E& value, const EnumNames<E, N>& names) const {
    value = value_in(names, string_or(told, key, "")).value_or(value);
  }
  template <class E, std::size_t N>
  void operator()(std::string_view key, std::optional<E>& value, const EnumNames<E, N>& names) const {
    value = value_in(names, string_or(told, key, ""));
  }
};

}  // namespace

json::object to_json(const Profile& profile) {
  json::object told;
  each_field(profile, Writer{told});
  return told;
}

Profile profile_from_json(const json::object& value) {
  Profile profile;
  each_field(profile, Reader{value});
  return profile;
}

}  // namespace deputy
