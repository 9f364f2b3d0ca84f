#include "model/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::int64_t kLongestWaitMs = 24 * 60 * 60 * 1000;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 50;

constexpr std::string_view kScriptKeys[] = {"v", "sessions", "log"};
constexpr std::string_view kSessionKeys[] = {"match", "replies"};
constexpr std::string_view kMatchKeys[] = {"label", "agent", "depth"};
constexpr std::string_view kReplyKeys[] = {"expect", "text", "calls", "usage", "first_byte_ms", "error"};
constexpr std::string_view kExpectKeys[] = {"contains"};
constexpr std::string_view kCallKeys[] = {"name", "arguments", "id"};
constexpr std::string_view kUsageKeys[] = {"input", "output", "cache_read", "cache_write", "cost_micros"};
constexpr std::string_view kErrorKeys[] = {"kind", "message"};

constexpr std::string_view kErrorKindNames[] = {"context_exhausted", "failed",       "no_key",
                                                "refused",           "output_limit", "stalled"};
struct ErrorKind {
  ReplyStop stop;
  std::string_view message;  // where the script gives none
};
constexpr ErrorKind kErrorKinds[] = {
    {ReplyStop::context_exhausted, "the conversation no longer fits the window"},
    {ReplyStop::failed, "the script says that this request fails"},
    {ReplyStop::no_key, "no API key for provider scripted"},
    {ReplyStop::refused, "the script says that the provider declined"},
    {ReplyStop::output_limit, "cut off by the output cap"},
    {ReplyStop::stalled, "the script says that the model fell silent"},
};

std::string advice_for(std::string_view word, std::span<const std::string_view> known) {
  const std::vector<std::string> candidates(known.begin(), known.end());
  const std::vector<std::string> near = nearest(word, candidates, 1);
  const std::string all = fmt::format("known here: {}", fmt::join(known, ", "));
  return near.empty() ? all : fmt::format("did you mean \"{}\"? {}", near.front(), all);
}

// An object of the script and where it stands, so that every mistake can be named by its place.
class JsonPlace {
 public:
  static Result<JsonPlace> of(const json::value& value, std::string path,
                              std::span<const std::string_view> known) {
    const json::object* object = value.if_object();
    if (object == nullptr) return wrong(path, "an object", value);
    for (const auto& member : *object) {
      const std::string_view key(member.key());
      if (std::ranges::find(known, key) != known.end()) continue;
      return fail(ErrorCode::invalid,
                  fmt::format("the script has an unknown key \"{}\" {}", shorten(key, 60), where(path)),
                  advice_for(key, known));
    }
    return JsonPlace(*object, std::move(path));
  }

  static std::unexpected<Error> wrong(std::string_view path, std::string_view wanted,
                                      const json::value& found) {
    return fail(ErrorCode::invalid,
                fmt::format("the script needs {} {}, found {}", wanted, where(path), kind_name(found)));
  }

  static std::string where(std::string_view path) {
    return path.empty() ? "at its top" : fmt::format("at {}", path);
  }

  std::string path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  const std::string& path() const { return path_; }
  const json::value* member(std::string_view key) const { return find(object_, key); }

  Result<std::optional<std::string>> text(std::string_view key) const {
    const json::value* value = member(key);
    if (value == nullptr) return std::optional<std::string>();
    if (!value->is_string()) return wrong(path_of(key), "a string", *value);
    return std::optional(std::string(value->get_string()));
  }

  Result<std::optional<std::int64_t>> integer(std::string_view key, std::int64_t most) const {
    const json::value* value = member(key);
    if (value == nullptr) return std::optional<std::int64_t>();
    const std::optional<std::int64_t> number = integer_at(object_, key);
    if (!number || *number < 0 || *number > most) {
      return fail(ErrorCode::invalid,
                  fmt::format("the script needs a whole number from 0 to {} {}", most, where(path_of(key))));
    }
    return number;
  }

  // What is absent is an empty list.
  Result<std::span<const json::value>> list(std::string_view key) const {
    const json::value* value = member(key);
    if (value == nullptr) return std::span<const json::value>();
    const json::array* array = value->if_array();
    if (array == nullptr) return wrong(path_of(key), "an array", *value);
    return std::span<const json::value>(array->data(), array->size());
  }

 private:
  JsonPlace(const json::object& object, std::string path) : object_(object), path_(std::move(path)) {}
  const json::object& object_;
  std::string path_;
};

std::string element(std::string_view list_path, std::size_t index) {
  return fmt::format("{}[{}]", list_path, index);
}

Result<Call> call_from(const json::value& value, std::string path) {
  TRY(const JsonPlace place, JsonPlace::of(value, std::move(path), kCallKeys));
  TRY(std::optional<std::string> name, place.text("name"));
  if (!name || name->empty()) {
    return fail(ErrorCode::invalid, fmt::format("the script needs the name of a tool {}",
                                                JsonPlace::where(place.path_of("name"))));
  }
  TRY(std::optional<std::string> id, place.text("id"));
  Call call{.id = std::move(id).value_or(""), .name = *std::move(name), .arguments = "{}"};
  if (const json::value* arguments = place.member("arguments")) {
    // A string goes out as it stands, so that a script can send what no JSON library would write.
    if (arguments->is_string()) {
      call.arguments = std::string(arguments->get_string());
    } else if (arguments->is_object()) {
      call.arguments = to_json_text(*arguments);
    } else {
      return JsonPlace::wrong(place.path_of("arguments"), "an object or a string", *arguments);
    }
  }
  return call;
}

Result<Usage> usage_from(const json::value& value, std::string path) {
  TRY(const JsonPlace place, JsonPlace::of(value, std::move(path), kUsageKeys));
  TRY(const auto input, place.integer("input", kMostTokens));
  TRY(const auto output, place.integer("output", kMostTokens));
  TRY(const auto cache_read, place.integer("cache_read", kMostTokens));
  TRY(const auto cache_write, place.integer("cache_write", kMostTokens));
  TRY(const auto cost, place.integer("cost_micros", kMostTokens));
  return Usage{input.value_or(0), output.value_or(0), cache_read.value_or(0), cache_write.value_or(0), cost};
}

Result<ScriptedError> error_from(const json::value& value, std::string path) {
  if (value.is_string()) return ScriptedError{ReplyStop::failed, std::string(value.get_string())};
  if (!value.is_object()) return JsonPlace::wrong(path, "a string or an object", value);
  TRY(const JsonPlace place, JsonPlace::of(value, std::move(path), kErrorKeys));
  TRY(const std::optional<std::string> kind, place.text("kind"));
  const auto* found = std::ranges::find(kErrorKindNames, kind.value_or("failed"));
  if (found == std::end(kErrorKindNames)) {
    return fail(ErrorCode::invalid,
                fmt::format("the script has an unknown kind of error \"{}\" {}", shorten(*kind, 60),
                            JsonPlace::where(place.path_of("kind"))),
                advice_for(*kind, kErrorKindNames));
  }
  const ErrorKind& known = kErrorKinds[found - std::begin(kErrorKindNames)];
  TRY(std::optional<std::string> message, place.text("message"));
  return ScriptedError{known.stop, std::move(message).value_or(std::string(known.message))};
}

Result<ScriptedReply> reply_from(const json::value& value, std::string path) {
  TRY(const JsonPlace place, JsonPlace::of(value, std::move(path), kReplyKeys));
  ScriptedReply reply;
  if (const json::value* expect = place.member("expect")) {
    TRY(const JsonPlace expected, JsonPlace::of(*expect, place.path_of("expect"), kExpectKeys));
    TRY(reply.expected, expected.text("contains"));
  }
  TRY(std::optional<std::string> text, place.text("text"));
  reply.text = std::move(text).value_or("");
  TRY(const auto calls, place.list("calls"));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    TRY(Call call, call_from(calls[i], element(place.path_of("calls"), i)));
    reply.calls.push_back(std::move(call));
  }
  if (const json::value* usage = place.member("usage")) {
    TRY(reply.usage, usage_from(*usage, place.path_of("usage")));
  }
  TRY(const auto wait, place.integer("first_byte_ms", kLongestWaitMs));
  reply.first_byte = std::chrono::milliseconds(wait.value_or(0));
  if (const json::value* error = place.member("error")) {
    TRY(reply.error, error_from(*error, place.path_of("error")));
  }
  return reply;
}

Result<ScriptedSession> session_from(const json::value& value, std::string path) {
  TRY(const JsonPlace place, JsonPlace::of(value, std::move(path), kSessionKeys));
  ScriptedSession session;
  if (const json::value* match = place.member("match")) {
    TRY(const JsonPlace fits, JsonPlace::of(*match, place.path_of("match"), kMatchKeys));
    TRY(session.label, fits.text("label"));
    TRY(session.agent, fits.text("agent"));
    TRY(const auto depth, fits.integer("depth", std::numeric_limits<int>::max()));
    if (depth) session.depth = static_cast<int>(*depth);
  }
  TRY(const auto replies, place.list("replies"));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    TRY(ScriptedReply reply, reply_from(replies[i], element(place.path_of("replies"), i)));
    session.replies.push_back(std::move(reply));
  }
  return session;
}

Result<void> check_version(const JsonPlace& place) {
  TRY(const auto version, place.integer("v", std::numeric_limits<int>::max()));
  if (!version)
    return fail(ErrorCode::invalid, "the script does not say its version", "add \"v\": 1 at its top");
  if (*version == 1) return {};
  return fail(*version > 1 ? ErrorCode::too_new : ErrorCode::invalid,
              fmt::format("the script is of version {}, only version 1 is known", *version));
}

}  // namespace

Result<Script> parse_script(std::string_view text) {
  TRY(const json::value value, parse_json(text));
  TRY(const JsonPlace place, JsonPlace::of(value, "", kScriptKeys));
  TRY(check_version(place));
  Script script;
  TRY(std::optional<std::string> log, place.text("log"));
  script.log = std::move(log).value_or("");
  TRY(const auto sessions, place.list("sessions"));
  if (sessions.empty()) {
    return fail(ErrorCode::invalid, "the script has no sessions", "give at least one under \"sessions\"");
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    TRY(ScriptedSession session, session_from(sessions[i], element("sessions", i)));
    script.sessions.push_back(std::move(session));
  }
  return script;
}

std::optional<std::size_t> session_for(const Script& script, std::string_view label, std::string_view agent,
                                       int depth) {
  for (std::size_t i = 0; i < script.sessions.size(); ++i) {
    const ScriptedSession& session = script.sessions[i];
    if (session.label && *session.label != label) continue;
    if (session.agent && *session.agent != agent) continue;
    if (session.depth && *session.depth != depth) continue;
    return i;
  }
  return std::nullopt;
}

}  // namespace deputy
