#include "store/sqlite/journal_rows.h"

#include <fmt/format.h>

#include "base/text.h"
#include "store/sqlite/select.h"
#include "transcript/codec.h"

namespace deputy {
namespace {

constexpr std::string_view kColumns = "number, tree, session, run, step, call, kind, at_us, body, crc, nth";

struct Row {
  Event event;
  std::int64_t nth = 0;
};

std::uint32_t checksum(const Event& event, std::int64_t nth, std::string_view kind, std::string_view body) {
  const std::string meaning = fmt::format("{}/{}/{}/{}/{}/{}", event.run.session.value, event.run.number,
                                          event.step, event.call, kind, body);
  if (nth == 0) return crc32(meaning);  // written before a record's place was part of it
  return crc32(fmt::format("{}/{}/{}/{}/{}", event.tree.value, event.seq, nth,
                           event.at.time_since_epoch().count(), meaning));
}

std::unexpected<Error> damaged(const Event& event, std::string_view why) {
  return fail(ErrorCode::corrupt,
              fmt::format("record {} of {} (session {}) is damaged: {}", event.seq, event.tree.value,
                          event.run.session.value, why),
              "the other sessions can still be read: `deputy sessions ls`");
}

std::unexpected<Error> incomplete(std::string_view what, std::size_t found, std::int64_t expected) {
  return fail(ErrorCode::corrupt,
              fmt::format("the journal of {} is damaged: record {} is missing or double", what,
                          std::min(static_cast<std::int64_t>(found) + 1, expected)),
              "the other sessions can still be read: `deputy sessions ls`");
}

Result<Row> row_of(const Statement& row) {
  Row read;
  Event& event = read.event;
  event.seq = static_cast<std::uint64_t>(row.integer(0));
  event.tree = SessionId(row.text(1));
  event.run = {SessionId(row.text(2)), static_cast<int>(row.integer(3))};
  event.step = static_cast<int>(row.integer(4));
  event.call = static_cast<int>(row.integer(5));
  event.at = WallTime{std::chrono::microseconds{row.integer(7)}};
  read.nth = row.integer(10);
  const std::string kind = row.text(6);
  const std::string body = row.text(8);
  if (row.integer(9) != checksum(event, read.nth, kind, body))
    return damaged(event, "its checksum does not fit");
  const auto object = parse_json_object(body);
  if (!object) return damaged(event, object.error().message);
  auto fact = fact_from_json(kind, *object);
  if (!fact) return damaged(event, fact.error().message);
  event.fact = *std::move(fact);
  return read;
}

}  // namespace

Result<Statement> prepare_put_event(const Database& database) {
  return database.prepare(
      "INSERT INTO journal (tree, number, epoch, session, run, step, call, kind, at_us, body, crc, nth) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
}

Result<void> put_event(Statement& put, const Event& event, std::int64_t epoch, std::int64_t nth) {
  const std::string body = to_json_text(fact_to_json(event.fact));
  const std::string_view kind = kind_of(event.fact);
  put.bind(event.tree.value).bind(static_cast<std::int64_t>(event.seq)).bind(epoch);
  put.bind(event.run.session.value).bind(std::int64_t{event.run.number}).bind(std::int64_t{event.step});
  put.bind(std::int64_t{event.call}).bind(kind).bind(event.at.time_since_epoch().count()).bind(body);
  put.bind(std::int64_t{checksum(event, nth, kind, body)}).bind(nth);
  return put.run();
}

Result<std::vector<Event>> select_events(const Database& database, const SessionId& session,
                                         std::optional<std::int64_t> count) {
  const auto sql = fmt::format("SELECT {} FROM journal WHERE session=? ORDER BY seq", kColumns);
  TRY(auto rows, select(database, sql, session.value, row_of));
  std::vector<Event> events;
  for (Row& row : rows) {
    if (row.nth != 0 && row.nth != static_cast<std::int64_t>(events.size()) + 1)
      return incomplete(session.value, events.size(), row.nth);
    events.push_back(std::move(row.event));
  }
  if (count && *count != static_cast<std::int64_t>(events.size()))
    return incomplete(session.value, events.size(), *count);
  return events;
}

Result<std::vector<Event>> select_events_of_tree(const Database& database, const SessionId& tree) {
  const auto sql = fmt::format("SELECT {} FROM journal WHERE tree=? ORDER BY number", kColumns);
  TRY(auto rows, select(database, sql, tree.value, row_of));
  std::vector<Event> events;
  for (Row& row : rows) {
    if (row.event.seq != events.size() + 1)
      return incomplete(tree.value, events.size(), static_cast<std::int64_t>(row.event.seq));
    events.push_back(std::move(row.event));
  }
  return events;
}

}  // namespace deputy
