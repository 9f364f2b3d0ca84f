#include "app/replay_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "app/replayed_tool.h"
#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownCharacters = 300;

// Times, what a script cannot say, and what is offered to the person by the disk's names.
bool is_passed_over(std::string_view key, const json::value& value) {
  constexpr std::array kKeys = {"uuid", "wire", "thinking", "suggestions"};
  if (key.ends_with("_us") || key.ends_with("_ns") || std::ranges::find(kKeys, key) != kKeys.end())
    return true;
  return key == "cost_micros" && (value.is_null() || value == 0);  // nothing, or not known
}

json::value without_what_differs(const json::value& value) {
  if (const auto* list = value.if_array()) {
    json::array kept;
    for (const auto& each : *list) kept.push_back(without_what_differs(each));
    return kept;
  }
  const auto* object = value.if_object();
  if (!object) return value;
  json::object kept;
  for (const auto& [key, each] : *object)
    if (!is_passed_over(key, each)) kept[key] = without_what_differs(each);
  return kept;
}

json::object comparable(const Fact& fact) {
  json::object body = without_what_differs(fact_to_json(fact)).as_object();
  if (std::holds_alternative<ReplyReceived>(fact) || std::holds_alternative<Compacted>(fact))
    body["reply"].as_object().erase("model");
  if (std::holds_alternative<RunEnded>(fact)) {
    if (auto* metadata = body["report"].as_object().if_contains("metadata"))
      if (metadata->is_object()) metadata->as_object().erase("model");
  }
  return body;
}

// "Duration: 3m 05s." is in what a parent is told of a child.
std::string without_durations(std::string text) {
  constexpr std::string_view kBefore = "Duration: ";
  for (std::size_t at = text.find(kBefore); at != std::string::npos; at = text.find(kBefore, at + 1)) {
    const std::size_t from = at + kBefore.size();
    const std::size_t end = std::min(text.find_first_not_of("0123456789dhms ", from), text.size());
    text.erase(from, end - from);
  }
  return text;
}

// Run, step, call: the calls of one step may end in any order, what is told of one of them has an order.
using Where = std::tuple<int, int, int>;

struct Told {
  std::map<Where, std::vector<std::string>> lines;
  std::size_t events = 0;
  bool has_ended = false;
};

// By the session's place.
std::map<std::string, Told> told_in(const std::vector<Event>& events) {
  const auto places = places_in(events);
  std::map<std::string, std::string> names;
  for (const Event& event : events) {
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (!created) continue;
    const std::string& place = places.at(event.run.session);
    names[event.run.session.value] = fmt::format("<{}>", place);
    if (!created->session->uuid.empty())
      names[created->session->uuid.value] = fmt::format("<uuid {}>", place);
  }
  std::map<std::string, int> words;  // of the person, by place: each has a random name
  for (const Event& event : events) {
    const auto* nudge = std::get_if<Nudged>(&event.fact);
    if (!nudge || nudge->source != Source::person || nudge->id.empty()) continue;
    const std::string& place = places.at(event.run.session);
    names[nudge->id + '"'] = fmt::format("<word {} to {}>\"", ++words[place], place);
  }
  std::map<std::string, Told> told;
  for (const Event& event : events) {
    Told& session = told[places.at(event.run.session)];
    session.has_ended = session.has_ended || std::holds_alternative<RunEnded>(event.fact);
    if (!is_compared(event.fact)) continue;
    std::string text = to_json_text(comparable(event.fact));
    for (const auto& [id, name] : names) text = replaced(std::move(text), id, name);
    text = without_durations(std::move(text));
    session.lines[{event.run.number, event.step, event.call}].push_back(
        fmt::format("{} {}", kind_of(event.fact), text));
    ++session.events;
  }
  return told;
}

// Around the place from which the two differ.
std::string shown(const std::string& text, std::size_t differs_at) {
  const std::string_view kind = std::string_view(text).substr(0, text.find(' '));
  const std::size_t from = differs_at - std::min(differs_at, kShownBefore);
  return fmt::format(
      "{} {}{}", kind, from > kind.size() ? "…" : "",
      shorten(to_utf8(std::string_view(text).substr(std::max(from, kind.size()))), kShownCharacters));
}

std::string difference(const Where& where, const std::string& then, const std::string& now) {
  const auto differs_at = static_cast<std::size_t>(std::ranges::mismatch(then, now).in1 - then.begin());
  const auto& [run, step, call] = where;
  return fmt::format("run {}, step {}{}: then {}; now {}", run, step,
                     call < 0 ? "" : fmt::format(", call {}", call), shown(then, differs_at),
                     shown(now, differs_at));
}

// The first, if any. What had not ended goes on now.
std::optional<std::string> difference(const Told& then, const Told& now) {
  const auto line = [](const std::vector<std::string>& lines, std::size_t at) {
    return at < lines.size() ? lines[at] : std::string("nothing");
  };
  std::set<Where> everywhere;
  for (const auto& [where, lines] : then.lines) everywhere.insert(where);
  for (const auto& [where, lines] : now.lines) everywhere.insert(where);
  for (const Where& where : everywhere) {
    const auto before = then.lines.find(where);
    const auto after = now.lines.find(where);
    const auto lines = before == then.lines.end() ? std::vector<std::string>{} : before->second;
    const auto again = after == now.lines.end() ? std::vector<std::string>{} : after->second;
    const auto differ = std::ranges::mismatch(lines, again);
    if (differ.in1 == lines.end() && (differ.in2 == again.end() || !then.has_ended)) continue;
    const auto at = static_cast<std::size_t>(differ.in1 - lines.begin());
    return difference(where, line(lines, at), line(again, at));
  }
  return std::nullopt;
}

}  // namespace

bool is_compared(const Fact& fact) {
  return !std::holds_alternative<StateChanged>(fact) && !std::holds_alternative<Retried>(fact) &&
         !std::holds_alternative<BudgetReserved>(fact) && !std::holds_alternative<DeadlineMoved>(fact) &&
         !std::holds_alternative<ProcessEnded>(fact) && !std::holds_alternative<ReplyHeard>(fact) &&
         !std::holds_alternative<TakenUp>(fact);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Replayed compared(const std::vector<Event>& then, const std::vector<Event>& now) {
  const auto expected = told_in(then);
  auto found = told_in(now);
  Replayed replayed{.sessions = expected.size()};
  for (const auto& [place, told] : expected) {
    replayed.events += told.events;
    if (const auto differ = difference(told, found[place]))
      replayed.differences.push_back(fmt::format("session {}, {}", place, *differ));
  }
  for (const auto& [place, told] : found) {
    if (!expected.contains(place) && expected.at("root").has_ended)
      replayed.differences.push_back(fmt::format("session {} is new", place));
  }
  return replayed;
}

}  // namespace deputy
