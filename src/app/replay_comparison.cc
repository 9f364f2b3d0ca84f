#include "app/replay_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "app/replay_names.h"
#include "app/replay_places.h"
#include "base/json.h"
#include "base/redaction.h"
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

bool is_redacted(const std::vector<Event>& events) {
  return std::ranges::any_of(
      events, [](const Event& event) { return to_json_text(fact_to_json(event.fact)).contains(kRedacted); });
}

// What is left of a budget is told to who is asked for some of it.
QuestionAsked without_numbers(QuestionAsked asked) {
  std::erase_if(asked.question.text, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
  return asked;
}

// Of a session that waits for several at once one is told, by the order in which its waits began.
json::object comparable(const Fact& fact, bool is_redacted) {
  if (is_redacted && std::holds_alternative<BudgetReserved>(fact)) return {};
  if (const auto* asked = std::get_if<QuestionAsked>(&fact); asked && is_redacted)
    return comparable(without_numbers(*asked), false);
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

// What the session does, and what is told beside it: the words that come in meanwhile, and how it waits and
// how its time moves.
enum class Strand { does, hears, waits };

// Run, step, call: the calls of one step may end in any order, what is told of one of them has an order.
using Where = std::tuple<int, int, int, Strand>;

Strand strand_of(const Fact& fact) {
  if (std::holds_alternative<StateChanged>(fact) || std::holds_alternative<DeadlineMoved>(fact))
    return Strand::waits;
  return std::holds_alternative<Nudged>(fact) ? Strand::hears : Strand::does;
}

// That time was up, or how it was spent.
bool tells_of_time(const Fact& fact) {
  if (strand_of(fact) == Strand::waits || std::holds_alternative<RequestStopped>(fact)) return true;
  if (const auto* answered = std::get_if<QuestionAnswered>(&fact))
    return answered->answer.kind == AnswerKind::nobody;
  const auto* input = std::get_if<InputGiven>(&fact);
  const auto* ended = std::get_if<RunEnded>(&fact);
  const Reason reason = input ? input->about : ended ? ended->report->reason : Reason::none;
  return reason == Reason::timeout || reason == Reason::stalled || reason == Reason::parent_stopped;
}

struct Line {
  std::string text;
  std::size_t event = 0;
  bool is_of_time = false;
  bool operator==(const Line& other) const { return text == other.text; }
};

struct Told {
  std::map<Where, std::vector<Line>> lines;
  bool has_ended = false;
};

// What the random names of a tree, of its sessions and of the person's words, stand for.
std::map<std::string, std::string> names_in(const std::vector<Event>& events, const Places& places) {
  std::map<std::string, std::string> names;
  std::map<std::string, int> words;  // by place
  for (const Event& event : events) {
    const std::string& place = places.of(event.run.session);
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      names[event.run.session.value] = fmt::format("<{}>", place);
      names[created->session->uuid.value] = fmt::format("<uuid {}>", place);
    }
    const auto* nudge = std::get_if<Nudged>(&event.fact);
    if (nudge && nudge->source == Source::person && !nudge->id.empty())
      names[nudge->id + '"'] = fmt::format("<word {} to {}>\"", ++words[place], place);
  }
  return names;
}

class Teller {
 public:
  Teller(const std::vector<Event>& events, bool is_redacted)
      : is_redacted_(is_redacted),
        places_(events),
        others_(names_in(events, places_)),
        names_(keys_of(others_)) {}

  const std::string& place(const Event& event) const { return places_.of(event.run.session); }
  Line line(const Event& event, std::size_t at) const {
    const std::string text =
        names_.replaced(to_json_text(comparable(event.fact, is_redacted_)),
                        [this](const std::string& name) { return std::string_view(others_.at(name)); });
    return {fmt::format("{} {}", kind_of(event.fact), without_durations(text)), at,
            tells_of_time(event.fact)};
  }

 private:
  static std::vector<std::string> keys_of(const std::map<std::string, std::string>& names) {
    std::vector<std::string> keys;
    for (const auto& [name, other] : names) keys.push_back(name);
    return keys;
  }

  const bool is_redacted_;
  const Places places_;
  const std::map<std::string, std::string> others_;
  const Names names_;
};

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
  const auto& [run, step, call, strand] = where;
  return fmt::format("run {}, step {}{}: then {}; now {}", run, step,
                     call < 0 ? "" : fmt::format(", call {}", call), shown(then, differs_at),
                     shown(now, differs_at));
}

const std::vector<Line>& lines_at(const Told& told, const Where& where) {
  static const std::vector<Line> nothing;
  const auto found = told.lines.find(where);
  return found == told.lines.end() ? nothing : found->second;
}

// The first, if any. What had not ended goes on now.
std::optional<Line> difference(const Told& then, const Told& now) {
  const Line nothing{.text = "nothing"};
  std::size_t reached = 0;  // the last event before the place in question
  std::set<Where> everywhere;
  for (const auto& [where, lines] : then.lines) everywhere.insert(where);
  for (const auto& [where, lines] : now.lines) everywhere.insert(where);
  for (const Where& where : everywhere) {
    const auto& before = lines_at(then, where);
    const auto& after = lines_at(now, where);
    const auto differ = std::ranges::mismatch(before, after);
    if (differ.in1 != before.begin()) reached = std::max(reached, std::prev(differ.in1)->event + 1);
    if (differ.in1 == before.end() && (differ.in2 == after.end() || !then.has_ended)) continue;
    const Line& was = differ.in1 == before.end() ? nothing : *differ.in1;
    const Line& is = differ.in2 == after.end() ? nothing : *differ.in2;
    const bool is_of_time = std::get<Strand>(where) == Strand::waits || was.is_of_time != is.is_of_time;
    return Line{shown(where, was.text, is.text), differ.in1 == before.end() ? reached : was.event,
                is_of_time};
  }
  return std::nullopt;
}

}  // namespace

struct Comparison::Tree {
  Tree(const std::vector<Event>& events, bool is_taken_up, bool is_redacted);

  bool is_taken_up;
  bool is_redacted;
  std::size_t all_events;
  std::size_t events = 0;            // that are compared
  std::map<std::string, Told> told;  // by the session's place
};

Comparison::Tree::Tree(const std::vector<Event>& from, bool was_taken_up, bool was_redacted)
    : is_taken_up(was_taken_up), is_redacted(was_redacted), all_events(from.size()) {
  const Teller teller(from, is_redacted);
  for (std::size_t at = 0; at < from.size(); ++at) {
    const Event& event = from[at];
    Told& session = told[teller.place(event)];
    session.has_ended = session.has_ended || std::holds_alternative<RunEnded>(event.fact);
    if (!is_compared(event.fact, is_taken_up)) continue;
    auto& lines = session.lines[{event.run.number, event.step, event.call, strand_of(event.fact)}];
    Line line = teller.line(event, at);
    const bool is_again = std::holds_alternative<StateChanged>(event.fact) && !lines.empty();
    if (!is_again || lines.back() != line) lines.push_back(std::move(line));
    ++events;
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

bool is_closer(const Replayed& one, const Replayed& other) {
  if (one.differences.empty() || other.differences.empty()) return !other.differences.empty();
  if (one.first != other.first) return one.first > other.first;
  return one.differences.size() < other.differences.size();
}

bool is_compared(const Fact& fact, bool is_taken_up) {
  return !std::holds_alternative<ProcessEnded>(fact) && !std::holds_alternative<ReplyHeard>(fact) &&
         !(is_taken_up && strand_of(fact) == Strand::waits);
}

bool is_taken_up(const std::vector<Event>& events) {
  return std::ranges::any_of(events,
                             [](const Event& event) { return std::holds_alternative<TakenUp>(event.fact); });
}

Comparison::Comparison(const std::vector<Event>& then)
    : then_(std::make_shared<const Tree>(then, is_taken_up(then), is_redacted(then))) {}

Replayed Comparison::with(const std::vector<Event>& now) const {
  const Tree again(now, then_->is_taken_up, then_->is_redacted);
  const Told nothing;
  std::multimap<std::size_t, Line> differences;  // by event
  for (const auto& [place, told] : then_->told) {
    const auto found = again.told.find(place);
    const auto differ = difference(told, found == again.told.end() ? nothing : found->second);
    if (!differ) continue;
    differences.emplace(differ->event, Line{.text = fmt::format("session {}, {}", place, differ->text),
                                            .event = differ->event,
                                            .is_of_time = differ->is_of_time});
  }
  for (const auto& [place, told] : again.told) {
    if (!then_->told.contains(place) && then_->told.at("root").has_ended)
      differences.emplace(then_->all_events, Line{.text = fmt::format("session {} is new", place)});
  }

  Replayed replayed{.sessions = then_->told.size(), .events = then_->events};
  if (differences.empty()) return replayed;
  replayed.first = differences.begin()->first;
  const auto [begin, end] = differences.equal_range(replayed.first);
  replayed.is_of_time = std::all_of(begin, end, [](const auto& each) { return each.second.is_of_time; });
  for (auto& [event, line] : differences) replayed.differences.push_back(std::move(line.text));
  return replayed;
}

}  // namespace deputy
