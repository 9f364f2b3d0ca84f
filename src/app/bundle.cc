#include "app/bundle.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "app/bundle_order.h"
#include "app/bundle_passwords.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kVersionKey = "deputy_bundle";
constexpr std::string_view kCountKey = "events";
constexpr std::int64_t kOldestVersion = 1;
constexpr std::int64_t kVersion = 2;
static_assert(std::variant_size_v<Fact> == 25,
              "who does not know a kind of record takes it for damage: a new one is a new version");
constexpr double kMostDollars = 1'000'000;  // for a million tokens: with more no sum would hold
constexpr std::string_view kAdvice = "make one with `deputy doctor --bundle ID`";

json::object to_json(const Event& event) {
  return {{"seq", event.seq},
          {"at_us", event.at.time_since_epoch().count()},
          {"session", event.run.session.value},
          {"run", event.run.number},
          {"step", event.step},
          {"call", event.call},
          {"kind", kind_of(event.fact)},
          {"body", fact_to_json(event.fact)}};
}

std::unexpected<Error> broken(std::size_t line, std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("the bundle is broken in line {}: {}", line, why),
              "ask for the file again: it was cut off or changed on the way");
}

std::unexpected<Error> refused(std::size_t line, const Error& why) {
  if (why.code != ErrorCode::exhausted) return broken(line, why.message);
  return fail(
      ErrorCode::exhausted,
      fmt::format("the bundle's tree is larger than any that can be replayed: {} (line {})", why.message,
                  line),
      "look at the session in question: `deputy sessions transcript ID` shows it to whoever has the tree");
}

Result<void> check_about(const json::object& about) {
  const auto version = integer_at(about, kVersionKey);
  if (!version || *version < kOldestVersion)
    return fail(ErrorCode::invalid, "this is no bundle of deputy's", std::string(kAdvice));
  if (*version <= kVersion) return {};
  return fail(
      ErrorCode::too_new,
      fmt::format("the bundle was made by a newer deputy (form {}, this one knows {})", *version, kVersion),
      "use the version of deputy that made it, or a newer one");
}

Result<int> small_number(const json::object& line, std::string_view key, int least) {
  const auto number = integer_at(line, key);
  if (!number || *number < least || *number > std::numeric_limits<int>::max())
    return fail(ErrorCode::corrupt, fmt::format("its {} is no number", key));
  return static_cast<int>(*number);
}

Result<Event> event_from(const json::object& line) {
  Event event;
  TRY(const int seq, small_number(line, "seq", 1));
  event.seq = static_cast<std::uint64_t>(seq);
  const auto at = integer_at(line, "at_us");
  if (!at) return fail(ErrorCode::corrupt, "it has no time");
  event.at = WallTime{std::chrono::microseconds{*at}};
  event.run.session = SessionId(string_or(line, "session", ""));
  TRY(event.run.number, small_number(line, "run", 1));
  TRY(event.step, small_number(line, "step", 0));
  TRY(event.call, small_number(line, "call", -1));
  const auto* body = object_at(line, "body");
  if (!body) return fail(ErrorCode::corrupt, "it has no body");
  TRY(event.fact, fact_from_json(string_or(line, "kind", ""), *body));
  return event;
}

}  // namespace

json::object price_json(const Price& price) {
  json::object told{{"input", price.input}, {"output", price.output}};
  if (price.cache_read) told["cache_read"] = *price.cache_read;
  if (price.cache_write) told["cache_write"] = *price.cache_write;
  return told;
}

std::optional<Price> price_in(const json::object& told) {
  const auto known = [&told](std::string_view key) -> std::optional<double> {
    const auto dollars = number_at(told, key);
    return dollars && *dollars >= 0 && *dollars <= kMostDollars ? dollars : std::nullopt;
  };
  const auto input = known("input");
  const auto output = known("output");
  if (!input || !output) return std::nullopt;
  return Price{*input, *output, known("cache_read"), known("cache_write")};
}

// Whoever sends the file has not looked for what his agents have read and written, nor for what their own
// files tell them. What is a password in one line is hidden in all.
std::string bundle_text(const Bundle& bundle, Redactor redactor) {
  json::object about{{kVersionKey, kVersion}, {kCountKey, bundle.events.size()}};
  for (const auto& [key, value] : bundle.about)
    if (key != kCountKey) about[key] = value;
  std::vector<json::value> lines{std::move(about)};
  for (const Event& event : bundle.events) lines.emplace_back(to_json(event));
  std::set<std::string> secrets;
  for (json::value& line : lines) take_out_passwords(line, secrets);
  for (json::value& line : lines) take_out_cut_secrets(line, secrets);
  for (const std::string& secret : secrets) redactor.hide(secret);
  std::string text;
  for (json::value& line : lines) text += redactor.redact_json(std::exchange(line, nullptr)) + "\n";
  return text;
}

Result<Bundle> parse_bundle(std::string_view text) {
  if (trimmed(text).empty()) return fail(ErrorCode::invalid, "the file is empty", std::string(kAdvice));
  const auto lines = lines_of(text);
  Bundle bundle;
  if (auto about = lines.empty() ? Result<json::object>{} : parse_json_object(lines.front()))
    bundle.about = *std::move(about);
  TRY(check_about(bundle.about));
  BundleOrder order;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto line = parse_json_object(lines[i]);
    if (!line) return broken(i + 1, line.error().message);
    auto event = event_from(*line);
    if (!event) return broken(i + 1, event.error().message);
    if (const auto taken = order.take(*event); !taken) return refused(i + 1, taken.error());
    event->tree = order.tree();
    bundle.events.push_back(*std::move(event));
  }
  if (bundle.events.empty()) return broken(2, "there is no event");
  const auto count = integer_at(bundle.about, kCountKey);
  if (count && *count != static_cast<std::int64_t>(bundle.events.size()))
    return broken(lines.size(),
                  fmt::format("it is the last, with {} of {} events", bundle.events.size(), *count));
  return bundle;
}

}  // namespace deputy
