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
  constexpr std::array kKeys = {"uuid", "suggestions"};
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

// Of a session that waits for several at once one is told, by the order in which its waits began.
json::object comparable(const Fact& fact) {
  if (const auto* changed = std::get_if<StateChanged>(&fact)) return {{"state", name_of(changed->state)}};
  return without_what_differs(fact_to_json(fact)).as_object();
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

// Run, step, call: the calls of one step may end in any order, what is told of one of them has an order. And
// whether it is told beside what the session does: how it waits, and how its time moves meanwhile.
using Where = std::tuple<int, int, int, bool>;

bool is_beside(const Fact& fact) {
  return std::holds_alternative<StateChanged>(fact) || std::holds_alternative<DeadlineMoved>(fact);
}

struct Line {
  std::string text;
  std::size_t event = 0;
  bool operator==(const Line& other) const { return text == other.text; }
};

struct Told {
  std::map<Where, std::vector<Line>> lines;
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
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    Told& session = told[places.at(event.run.session)];
    session.has_ended = session.has_ended || std::holds_alternative<RunEnded>(event.fact);
    if (!is_compared(event.fact)) continue;
    std::string text = to_json_text(comparable(event.fact));
    for (const auto& [id, name] : names) text = replaced(std::move(text), id, name);
    text = without_durations(std::move(text));
    auto& lines = session.lines[{event.run.number, event.step, event.call, is_beside(event.fact)}];
    Line line{fmt::format("{} {}", kind_of(event.fact), text), at};
    const bool is_again = std::holds_alternative<StateChanged>(event.fact) && !lines.empty();
    if (!is_again || lines.back() != line) lines.push_back(std::move(line));
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

std::string shown(const Where& where, const std::string& then, const std::string& now) {
  const auto differs_at = static_cast<std::size_t>(std::ranges::mismatch(then, now).in1 - then.begin());
  const auto& [run, step, call, is_beside] = where;
  return fmt::format("run {}, step {}{}: then {}; now {}", run, step,
                     call < 0 ? "" : fmt::format(", call {}", call), shown(then, differs_at),
                     shown(now, differs_at));
}

// Which of the waits of a program that died or was left are on record hangs on the moment of its end.
bool is_taken_up(const std::vector<Event>& events) {
  return std::ranges::any_of(events,
                             [](const Event& event) { return std::holds_alternative<TakenUp>(event.fact); });
}

// The first, if any. What had not ended goes on now.
std::optional<Line> difference(const Told& then, const Told& now, bool has_waits) {
  const auto line = [](const std::vector<Line>& lines, std::size_t at) {
    return at < lines.size() ? lines[at].text : std::string("nothing");
  };
  std::size_t reached = 0;  // the last event before the place in question
  std::set<Where> everywhere;
  for (const auto& [where, lines] : then.lines) everywhere.insert(where);
  for (const auto& [where, lines] : now.lines) everywhere.insert(where);
  for (const Where& where : everywhere) {
    if (!has_waits && std::get<bool>(where)) continue;
    const auto before = then.lines.find(where);
    const auto after = now.lines.find(where);
    const auto lines = before == then.lines.end() ? std::vector<Line>{} : before->second;
    const auto again = after == now.lines.end() ? std::vector<Line>{} : after->second;
    const auto differ = std::ranges::mismatch(lines, again);
    if (differ.in1 != lines.begin()) reached = std::max(reached, std::prev(differ.in1)->event + 1);
    if (differ.in1 == lines.end() && (differ.in2 == again.end() || !then.has_ended)) continue;
    const auto at = static_cast<std::size_t>(differ.in1 - lines.begin());
    return Line{shown(where, line(lines, at), line(again, at)),
                at < lines.size() ? lines[at].event : reached};
  }
  return std::nullopt;
}

}  // namespace

bool is_compared(const Fact& fact) {
  return !std::holds_alternative<ProcessEnded>(fact) && !std::holds_alternative<ReplyHeard>(fact);
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
  const bool has_waits = !is_taken_up(then);
  Replayed replayed{.sessions = expected.size()};
  const auto add = [&replayed](std::string difference, std::size_t event) {
    replayed.first = replayed.differences.empty() ? event : std::min(replayed.first, event);
    replayed.differences.push_back(std::move(difference));
  };
  for (const auto& [place, told] : expected) {
    replayed.events += told.events;
    if (const auto differ = difference(told, found[place], has_waits))
      add(fmt::format("session {}, {}", place, differ->text), differ->event);
  }
  for (const auto& [place, told] : found) {
    if (!expected.contains(place) && expected.at("root").has_ended)
      add(fmt::format("session {} is new", place), then.size());
  }
  return replayed;
}

}  // namespace deputy
