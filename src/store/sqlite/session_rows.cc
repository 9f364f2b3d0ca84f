#include "store/sqlite/session_rows.h"

#include <fmt/format.h>

#include "transcript/codec.h"
#include "transcript/names.h"

namespace deputy {

namespace {

std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }

std::optional<std::int64_t> micros(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return micros(*time);
}

WallTime wall(std::int64_t value) { return WallTime{std::chrono::microseconds{value}}; }

std::optional<WallTime> wall(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return wall(*value);
}

}  // namespace

std::string delegation_text(const DelegationKey& key) {
  return fmt::format("{}/{}", to_text(key.call), key.task);
}

Result<Session> session_of_row(const Statement& row) {
  TRY(const auto fixed, parse_json_object(row.text(17)));
  TRY(auto session, session_from_json(fixed));
  const auto state = session_state_from(row.text(1));
  const auto reason = value_in(kReasons, row.text(5));
  if (!state || !reason)
    return fail(ErrorCode::corrupt, "session " + session.id.value + " has an unknown state");
  session.state = *state;
  session.run = static_cast<int>(row.integer(2));
  session.result = row.text(3);
  session.error = row.text(4);
  session.reason = *reason;
  session.created_at = wall(row.integer(6));
  session.started_at = wall(row.maybe_integer(7));
  session.ended_at = wall(row.maybe_integer(8));
  session.last_event_at = wall(row.integer(9));
  session.last_activity = row.text(10);
  session.steps = static_cast<int>(row.integer(11));
  session.usage = {.input = row.integer(12),
                   .output = row.integer(13),
                   .cache_read = row.integer(14),
                   .cache_write = row.integer(15),
                   .cost_micros = row.maybe_integer(16)};
  if (const auto wait = row.maybe_text(18)) {
    TRY(const auto read, parse_json_object(*wait));
    session.wait = wait_from_json(read);
  }
  return session;
}

Result<Statement> prepare_put_session(const Database& database) {
  return database.prepare(
      "INSERT INTO sessions (id, uuid, tree, parent, delegation, profile, label, depth, prompt, permissions, "
      "fixed, "
      "state, run, result, error, reason, created_us, started_us, ended_us, last_event_us, last_activity, "
      "steps, "
      "input_tokens, output_tokens, cache_read, cache_write, cost_micros, wait) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT (id) DO UPDATE SET wait=excluded.wait, state=excluded.state, "
      "run=excluded.run, result=excluded.result, "
      "error=excluded.error, reason=excluded.reason, started_us=excluded.started_us, "
      "ended_us=excluded.ended_us, "
      "last_event_us=excluded.last_event_us, last_activity=excluded.last_activity, steps=excluded.steps, "
      "input_tokens=excluded.input_tokens, output_tokens=excluded.output_tokens, "
      "cache_read=excluded.cache_read, "
      "cache_write=excluded.cache_write, cost_micros=excluded.cost_micros");
}

Result<void> put_session(Statement& put, const Session& session) {
  std::optional<std::string> parent;
  if (session.parent) parent = session.parent->value;
  std::optional<std::string> delegation;
  if (session.delegation) delegation = delegation_text(*session.delegation);
  put.bind(session.id.value).bind(session.uuid.value).bind(session.tree.value).bind(parent).bind(delegation);
  put.bind(session.agent).bind(session.label).bind(std::int64_t{session.depth}).bind(session.prompt);
  put.bind(session.permissions).bind(to_json_text(to_json(session)));
  put.bind(name_of(session.state)).bind(std::int64_t{session.run}).bind(session.result).bind(session.error);
  put.bind(name_of(session.reason)).bind(micros(session.created_at)).bind(micros(session.started_at));
  put.bind(micros(session.ended_at)).bind(micros(session.last_event_at)).bind(session.last_activity);
  put.bind(std::int64_t{session.steps}).bind(session.usage.input).bind(session.usage.output);
  put.bind(session.usage.cache_read).bind(session.usage.cache_write).bind(session.usage.cost_micros);
  put.bind(session.wait ? std::optional(to_json_text(to_json(*session.wait))) : std::nullopt);
  return put.run();
}

Result<void> put_deadline(const Database& database, const Session& session) {
  TRY(auto put, database.prepare("UPDATE sessions SET fixed=? WHERE id=?"));
  return put.bind(to_json_text(to_json(session))).bind(session.id.value).run();
}

}  // namespace deputy
