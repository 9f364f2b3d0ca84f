#include "app/session_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

#include "base/text.h"
#include "transcript/codec.h"
#include "transcript/profile.h"

namespace deputy {
namespace {

constexpr std::size_t kGoalCharacters = 48;
constexpr std::size_t kMostShownBytes = 16 * 1024;

std::string one_line(std::string_view text, std::size_t characters) {
  return shorten(made_visible(on_one_line(to_utf8(text))), characters);
}

std::string local_time(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  localtime_r(&seconds, &parts);  // seam: the time was given; only the person's zone is looked up
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts));
}

std::string tokens(const Usage& usage) {
  return fmt::format("in={} out={}", short_count(static_cast<std::uint64_t>(usage.input)),
                     short_count(static_cast<std::uint64_t>(usage.output)));
}

std::string cost(const Usage& usage, bool was_answered) {
  if (!was_answered) return "-";
  return usage.cost_micros ? fmt::format("${:.4f}", static_cast<double>(*usage.cost_micros) / 1e6) : "$?";
}

// Whether a model told it anything, or took anything for it.
bool was_answered(const Session& session) { return session.steps > 0 || session.usage != Usage{}; }

bool was_anyone_answered(const Session& session, const std::vector<Session>& sessions) {
  return was_answered(session) ||
         std::ranges::any_of(children_of(session.id, sessions),
                             [&](const Session& child) { return was_anyone_answered(child, sessions); });
}

// When something was last recorded of it or of those below it, for whom it may have waited.
WallTime last_heard_of(const Session& session, const std::vector<Session>& sessions) {
  WallTime last = session.last_event_at;
  for (const auto& child : children_of(session.id, sessions))
    last = std::max(last, last_heard_of(child, sessions));
  return last;
}

// Of one that was left without an end so much is known to have passed: it may have been more.
std::string duration_of(const Session& session, const std::vector<Session>& sessions, WallTime now) {
  if (!session.started_at) return "-";
  const bool was_left = session.state == SessionState::interrupted;
  const WallTime until = was_left                     ? last_heard_of(session, sessions)
                         : is_terminal(session.state) ? session.ended_at.value_or(session.last_event_at)
                                                      : now;
  return to_text(std::max(Duration::zero(), Duration(until - *session.started_at))) + (was_left ? "+" : "");
}

Tone tone_of(SessionState state) {
  switch (state) {
    case SessionState::completed:
      return Tone::good;
    case SessionState::failed:
    case SessionState::cancelled:
      return Tone::bad;
    case SessionState::partial:
    case SessionState::blocked:
    case SessionState::interrupted:
      return Tone::doubtful;
    default:
      return Tone::plain;
  }
}

// Its own, and with all below it where there is anything below.
std::string costs(const Session& session, const std::vector<Session>& sessions) {
  std::string own = cost(session.usage, was_answered(session));
  if (children_of(session.id, sessions).empty()) return own;
  return fmt::format("{} (all {})", own,
                     cost(usage_with_children(session, sessions), was_anyone_answered(session, sessions)));
}

// For how long nothing was heard of it.
Duration idle_time(const Session& session, WallTime now) {
  return std::max(Duration::zero(), Duration(now - session.last_event_at));
}

// Nothing where it has started none.
std::string processes_of(const Resources& resources) {
  if (resources.processes == 0) return {};
  return fmt::format("{} process{}: {} of CPU, {} MiB of memory", resources.processes,
                     resources.processes == 1 ? "" : "es", to_text(resources.cpu),
                     (resources.memory + (1 << 20) - 1) >> 20);
}

constexpr Duration kMuchCpu = std::chrono::seconds(1);  // from here on a tree names what took it

// Why it ended; of a cancel also whose it was, which its reason does not tell, nor of a command what kept its
// children from coming to be.
std::string why_ended(const Session& session) {
  const bool is_of_children = session.agent == kCommandAgent && session.reason == Reason::denied;
  const bool is_told = is_of_children || session.reason == Reason::cancelled_by_user;
  return is_told && !session.error.empty() ? one_line(session.error, 80) : to_words(session.reason);
}

struct TreeRow {
  std::vector<std::string> cells;
  SessionState state;
};

void add_rows(const Session& session, const std::vector<Session>& sessions, WallTime now, std::size_t depth,
              const std::map<SessionId, Resources>& resources, std::vector<TreeRow>& rows) {
  std::string state(name_of(session.state));
  if (session.reason != Reason::none) state += fmt::format(" ({})", why_ended(session));
  if (session.wait)
    state += fmt::format(" for {} since {}", session.wait->owner, local_time(session.wait->since));
  rows.push_back({{fmt::format("{}[{}]", std::string(depth * 2, ' '), one_line(session.label, 40)),
                   session.agent, std::move(state), tokens(session.usage), costs(session, sessions),
                   duration_of(session, sessions, now), session.id.value},
                  session.state});
  const auto used = resources.find(session.id);
  if (used != resources.end() && used->second.cpu >= kMuchCpu)
    rows.back().cells.push_back(processes_of(used->second));
  for (const auto& child : children_of(session.id, sessions))
    add_rows(child, sessions, now, depth + 1, resources, rows);
}

// Below its parent stands who has not ended, and whose id `task` gave out.
void add_listed(const Session& session, const std::vector<Session>& sessions, std::size_t depth,
                std::vector<TreeRow>& rows) {
  const auto children = children_of(session.id, sessions);
  rows.push_back({{std::string(depth * 2, ' ') + session.id.value, local_time(session.created_at),
                   std::string(name_of(session.state)), session.agent, one_line(session.label, 20),
                   std::to_string(children.size()), tokens(usage_with_children(session, sessions)),
                   goal_of(session, kGoalCharacters)},
                  session.state});
  const bool is_task = session.agent == "command" && session.label == "task";
  for (const auto& child : children) {
    if (is_task || !is_terminal(child.state)) add_listed(child, sessions, depth + 1, rows);
  }
}

// The profiles from the root down, and which of those that share them it is.
std::string path_of(const Session& session) {
  std::string path = one_line(fmt::format("{}", fmt::join(session.path, "/")), 60);
  if (session.label.empty() || session.label == session.agent) return path;
  return fmt::format("{} [{}]", path, one_line(session.label, 20));
}

void add_line(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("{:<12}{}\n", name, value);
}

void add_block(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text += fmt::format("\n{}:\n{}\n", name, made_visible(bounded(to_utf8(value), kMostShownBytes).text));
}

}  // namespace

std::string goal_of(const Session& session, std::size_t characters) {
  const auto command = session.agent == "command" ? parse_json_object(session.prompt) : json::object{};
  const auto* arguments = command ? object_at(*command, "arguments") : nullptr;
  const auto* tasks = arguments ? array_at(*arguments, "tasks") : nullptr;
  if (arguments && !tasks)
    return one_line(
        fmt::format("[{}] {}", string_or(*arguments, "agent", ""), string_or(*arguments, "prompt", "")),
        characters);
  if (!tasks) return one_line(session.prompt, characters);
  std::vector<std::string> goals;
  for (const auto& task : *tasks) {
    if (const auto* object = task.if_object()) {
      goals.push_back(
          fmt::format("[{}] {}", string_or(*object, "label", ""), string_or(*object, "prompt", "")));
    }
  }
  return one_line(fmt::format("{}", fmt::join(goals, "; ")), characters);
}

std::vector<Session> children_of(const SessionId& parent, const std::vector<Session>& sessions) {
  std::vector<Session> children;
  std::ranges::copy_if(sessions, std::back_inserter(children),
                       [&](const Session& session) { return session.parent == parent; });
  std::ranges::sort(children, {}, [](const Session& child) {
    const auto key = child.delegation.value_or(DelegationKey{});
    return std::tuple(key.call.run.number, key.call.step, key.call.index, key.task);
  });
  return children;
}

Usage usage_with_children(const Session& session, const std::vector<Session>& sessions) {
  Usage all = session.usage;
  for (const auto& child : children_of(session.id, sessions))
    all = all + usage_with_children(child, sessions);
  return all;
}

std::vector<Session> with_nearest_deadlines(std::vector<Session> sessions, WallTime now) {
  std::vector<Session*> from_the_root_down;
  for (auto& session : sessions) from_the_root_down.push_back(&session);
  std::ranges::sort(from_the_root_down, {}, &Session::depth);
  std::map<SessionId, std::optional<WallTime>> nearest;
  for (Session* session : from_the_root_down) {
    const auto above = session->parent ? nearest[*session->parent] : std::nullopt;
    const bool is_over = session->deadline && *session->deadline <= now;
    if (above) session->deadline = std::min(*above, session->deadline.value_or(*above));
    nearest[session->id] = is_over ? above : session->deadline;
  }
  return sessions;
}

std::string live_text(const std::vector<Session>& sessions, WallTime now, const Style& style,
                      std::size_t width) {
  std::vector<std::vector<std::string>> rows{
      {"ID", "PATH", "DEPTH", "STATE", "STARTED", "DEADLINE", "IDLE", "PROMPT"}};
  for (const auto& session : sessions) {
    rows.push_back({session.id.value, path_of(session), std::to_string(session.depth),
                    std::string(name_of(session.state)),
                    session.started_at ? local_time(*session.started_at) : "-",
                    session.deadline ? local_time(*session.deadline) : "none",
                    to_text(idle_time(session, now)), goal_of(session, kGoalCharacters)});
  }
  const auto lines = aligned(rows, width);
  std::string text = toned(style, Tone::faint, lines.front()) + "\n";
  for (std::size_t at = 1; at < lines.size(); ++at)
    text += toned(style, tone_of(sessions[at - 1].state), lines[at]) + "\n";
  return text;
}

json::object to_live_json(const Session& session, WallTime now) {
  json::object value{{"id", session.id.value}, {"tree", session.tree.value}};
  auto& path = value["path"].emplace_array();
  for (const auto& agent : session.path) path.emplace_back(agent);
  value["label"] = session.label;
  value["depth"] = session.depth;
  value["state"] = name_of(session.state);
  value["started_at"] = session.started_at ? json::value(to_iso8601(*session.started_at)) : nullptr;
  value["deadline"] = session.deadline ? json::value(to_iso8601(*session.deadline)) : nullptr;
  value["idle_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(idle_time(session, now)).count();
  return value;
}

std::string list_text(const std::vector<ListedTree>& trees, const Style& style, std::size_t width) {
  std::vector<TreeRow> rows;
  for (const auto& [root, sessions] : trees) add_listed(root, sessions, 0, rows);
  std::vector<std::vector<std::string>> cells{
      {"ID", "WHEN", "STATE", "AGENT", "LABEL", "CHILDREN", "TOKENS", "PROMPT"}};
  for (const auto& row : rows) cells.push_back(row.cells);
  const auto lines = aligned(cells, width);
  std::string text = toned(style, Tone::faint, lines.front()) + "\n";
  for (std::size_t at = 1; at < lines.size(); ++at)
    text += toned(style, tone_of(rows[at - 1].state), lines[at]) + "\n";
  return text;
}

std::string tree_text(const Session& root, const std::vector<Session>& sessions, WallTime now,
                      const Style& style, const std::map<SessionId, Resources>& resources,
                      std::size_t width) {
  std::vector<TreeRow> rows;
  add_rows(root, sessions, now, 0, resources, rows);
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) cells.push_back(row.cells);
  const auto lines = aligned(cells, width);
  std::string text;
  for (std::size_t at = 0; at < lines.size(); ++at)
    text += toned(style, tone_of(rows[at].state), lines[at]) + "\n";
  return text;
}

std::string details_text(const Session& session, const std::vector<Session>& sessions, WallTime now,
                         const std::string& file, const Resources& resources) {
  std::string text;
  add_line(text, "id", session.id.value);
  add_line(text, "label", one_line(session.label, 80));
  add_line(text, "agent", session.agent);
  add_line(text, "state", name_of(session.state));
  if (session.reason != Reason::none) add_line(text, "reason", why_ended(session));
  add_line(text, "model", one_line(session.model.value, 200));
  add_line(text, "folder", one_line(session.workspace, 400));
  if (const auto level = session.sandbox_level) add_line(text, "sandbox", fmt::format("level {}", *level));
  if (session.parent) add_line(text, "parent", session.parent->value);
  if (const auto& wait = session.wait) {
    add_line(text, "waits for", wait->owner);
    add_line(text, "why", one_line(wait->why, 200));
    add_line(text, "since", local_time(wait->since));
    if (wait->until) add_line(text, "until", local_time(*wait->until));
  }
  add_line(text, "created", local_time(session.created_at));
  if (session.ended_at) add_line(text, "ended", local_time(*session.ended_at));
  add_line(text, "duration", duration_of(session, sessions, now));
  add_line(text, "steps", std::to_string(session.steps));
  if (resources.calls > 0) add_line(text, "calls", std::to_string(resources.calls));
  add_line(text, "processes", processes_of(resources));
  add_line(text, "tokens", tokens(session.usage));
  add_line(text, "cost", cost(session.usage, was_answered(session)));
  add_line(text, "last", one_line(session.last_activity, 200));
  for (const auto& child : children_of(session.id, sessions)) {
    add_line(text, "child",
             fmt::format("{} [{}] {}", child.id.value, one_line(child.label, 40), name_of(child.state)));
  }
  add_line(text, "transcript", file);
  add_block(text, "prompt", session.agent == "command" ? goal_of(session, kMostShownBytes) : session.prompt);
  add_block(text, "error", session.error);
  add_block(text, "result", session.result);
  return text;
}

json::object to_full_json(const Session& session) {
  json::object value = to_json(session);
  value["state"] = name_of(session.state);
  if (session.reason != Reason::none) value["reason"] = name_of(session.reason);
  if (const auto& wait = session.wait) {
    json::object told{{"for", wait->owner}, {"why", wait->why}, {"since", to_iso8601(wait->since)}};
    if (wait->until) told["until"] = to_iso8601(*wait->until);
    value["waits"] = std::move(told);
  }
  value["created_at"] = to_iso8601(session.created_at);
  if (session.started_at) value["started_at"] = to_iso8601(*session.started_at);
  if (session.ended_at) value["ended_at"] = to_iso8601(*session.ended_at);
  value["last_event_at"] = to_iso8601(session.last_event_at);
  value["last_activity"] = session.last_activity;
  value["steps"] = session.steps;
  value["usage"] = to_json(session.usage);
  if (!session.error.empty()) value["error"] = session.error;
  value["result"] = session.result;
  return value;
}

}  // namespace deputy
