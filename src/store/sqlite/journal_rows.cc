#include "store/sqlite/journal_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/digest.h"
#include "base/json.h"
#include "store/sqlite/select.h"
#include "transcript/codec.h"

namespace deputy {
namespace {

// More than there can ever be.
constexpr std::int64_t kMostRecords = std::int64_t{1} << 40;

// Of the record itself: what an index has too, SQLite takes from there unless it is asked for another row.
constexpr std::string_view kColumns =
    "record.number, record.tree, record.session, record.run, record.step, record.call, record.kind, "
    "record.at_us, record.body, record.crc, record.nth";
constexpr std::string_view kFound = "journal AS found CROSS JOIN journal AS record ON record.seq=found.seq";

struct Row {
  Event event;
  std::int64_t nth = 0;
};

std::uint32_t checksum(const Event& event, std::int64_t nth, std::string_view kind, std::string_view body) {
  Crc32 crc;
  if (nth != 0)  // otherwise it was written before a record's place was part of it
    crc.feed(
        fmt::format("{}/{}/{}/{}/", event.tree.value, event.seq, nth, event.at.time_since_epoch().count()));
  crc.feed(fmt::format("{}/{}/{}/{}/{}/", event.run.session.value, event.run.number, event.step, event.call,
                       kind));
  crc.feed(body);
  return crc.value();
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

std::unexpected<Error> unproven(const SessionId& what) {
  return fail(ErrorCode::corrupt,
              fmt::format("{} is damaged: neither its rows nor all records can be read", what.value),
              "the other sessions can still be read: `deputy sessions ls`");
}

// Yields which of its session it is.
Result<std::int64_t> read_into(Event& event, const Statement& row) {
  event.seq = static_cast<std::uint64_t>(row.integer(0));
  event.tree = SessionId(row.text(1));
  event.run = {SessionId(row.text(2)), static_cast<int>(row.integer(3))};
  event.step = static_cast<int>(row.integer(4));
  event.call = static_cast<int>(row.integer(5));
  event.at = WallTime{std::chrono::microseconds{row.integer(7)}};
  const std::int64_t nth = row.integer(10);
  const std::string_view kind = row.text_until_next_step(6);
  const std::string_view body = row.text_until_next_step(8);
  if (row.integer(9) != checksum(event, nth, kind, body)) return damaged(event, "its checksum does not fit");
  std::array<unsigned char, 4096> memory;  // enough for most, which then need no other
  json::monotonic_resource short_lived(memory.data(), memory.size());
  const auto object = parse_json_object(body, &short_lived);
  if (!object) return damaged(event, object.error().message);
  auto fact = fact_from_json(kind, *object);
  if (!fact) return damaged(event, fact.error().message);
  event.fact = *std::move(fact);
  return nth;
}

Result<Row> row_of(const Statement& row) {
  Row read;
  TRY(read.nth, read_into(read.event, row));
  return read;
}

Result<std::vector<Event>> in_order_of_session(std::vector<Row> rows, const SessionId& session,
                                               std::optional<std::int64_t> count) {
  std::vector<Event> events;
  events.reserve(rows.size());
  for (Row& row : rows) {
    const bool is_next = row.nth == 0 || row.nth == static_cast<std::int64_t>(events.size()) + 1;
    if (!is_next || row.event.run.session != session)  // a damaged index leads to another's
      return incomplete(session.value, events.size(), row.nth);
    events.push_back(std::move(row.event));
  }
  if (count && *count != static_cast<std::int64_t>(events.size()))
    return incomplete(session.value, events.size(), *count);
  return events;
}

// Of the newest, when those before it were looked at.
Result<void> check_newest(const std::vector<Event>& events, const SessionId& tree) {
  const Event& newest = events.back();
  if (newest.seq == events.size() && newest.tree == tree) return {};
  return incomplete(tree.value, events.size() - 1, static_cast<std::int64_t>(newest.seq));
}

Result<void> check_count(const std::vector<Event>& events, const SessionId& tree,
                         std::optional<std::int64_t> at_least) {
  if (!at_least || *at_least <= static_cast<std::int64_t>(events.size())) return {};
  return incomplete(tree.value, events.size(), *at_least);
}

Result<std::vector<Row>> rows_at(const Database& database, const std::vector<std::int64_t>& places) {
  TRY(auto statement,
      database.prepare(fmt::format("SELECT {} FROM journal AS record WHERE seq=?", kColumns)));
  std::vector<Row> rows;
  for (const auto place : places) {
    TRY(const bool has_row, statement.bind(place).step());
    if (has_row) {  // otherwise whoever counts them notices
      TRY(auto row, row_of(statement));
      rows.push_back(std::move(row));
    }
    statement.reset();
  }
  return rows;
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
  const auto sql =
      fmt::format("SELECT {} FROM {} WHERE found.session=? ORDER BY found.seq", kColumns, kFound);
  TRY(auto rows, select(database, sql, session.value, row_of));
  return in_order_of_session(std::move(rows), session, count);
}

Result<std::vector<Event>> select_events_of_tree(const Database& database, const SessionId& tree,
                                                 std::optional<std::int64_t> at_least) {
  const auto sql =
      fmt::format("SELECT {} FROM {} WHERE found.tree=? ORDER BY found.number", kColumns, kFound);
  // They may be many, and each is large: none is moved to another place.
  constexpr std::int64_t kMostExpected = std::int64_t{1} << 17;
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(at_least.value_or(0), 0, kMostExpected)));
  TRY(for_each_row(database, sql, tree.value, [&](const Statement& row) -> Result<void> {
    TRY(read_into(events.emplace_back(), row));
    return check_newest(events, tree);
  }));
  TRY(check_count(events, tree, at_least));
  return events;
}

JournalPlaces journal_places(const Database& database) {
  JournalPlaces found;
  auto statement =
      database.prepare("SELECT seq, tree, session FROM journal NOT INDEXED WHERE seq>? ORDER BY seq");
  if (!statement) return {.is_whole = false};
  // Whether what comes after a number can be read; up to where it can, it is then taken.
  const auto begin_after = [&statement](std::int64_t number) -> Result<bool> {
    statement->reset();
    TRY(const bool has_row, statement->bind(number).step());
    if (has_row && statement->integer(0) <= number) return fail(ErrorCode::corrupt, "a page leads back");
    return has_row;
  };
  std::int64_t from = 0;  // up to here all was taken or is left out: a damaged page may lead back
  for (auto has_row = begin_after(from);;) {
    std::int64_t last = from;
    for (; has_row && *has_row; has_row = statement->step()) {
      const std::int64_t seq = statement->integer(0);
      if (seq <= last) found.is_whole = false;  // a page leads back, and may hide another
      if (seq <= from) continue;
      found.places.push_back({seq, SessionId(statement->text(1)), SessionId(statement->text(2))});
      if (seq < kMostRecords) {
        last = std::max(last, seq);
      } else {
        found.is_whole = false;  // it is its number that is damaged
      }
    }
    if (has_row) return found;
    // Past the page that is damaged.
    found.is_whole = false;
    std::int64_t bad = last;
    std::int64_t step = 1;
    while (step < kMostRecords && !(has_row = begin_after(last + step))) {
      bad = last + step;
      step *= 2;
    }
    if (!has_row) return found;
    std::int64_t good = last + step;
    while (good - bad > 1) {
      const auto middle = std::midpoint(bad, good);
      (begin_after(middle) ? good : bad) = middle;
    }
    from = good;
    has_row = begin_after(good);
  }
}

Result<std::vector<Event>> events_at(const Database& database, const SessionId& session,
                                     const std::vector<std::int64_t>& places,
                                     std::optional<std::int64_t> count) {
  TRY(auto rows, rows_at(database, places));
  return in_order_of_session(std::move(rows), session, count);
}

Result<std::vector<Event>> recover_events(const Database& database, const SessionId& session,
                                          std::optional<std::int64_t> count) {
  auto found = select_events(database, session, count);
  if (found || found.error().code != ErrorCode::corrupt) return found;
  database.note_damage(fmt::format("{}: {}", session.value, found.error().message));
  auto scanned = scan_events(database, session, count);
  return scanned ? scanned : found;
}

Result<std::vector<Event>> scan_events(const Database& database, const SessionId& session,
                                       std::optional<std::int64_t> count) {
  const auto all = journal_places(database);
  if (!all.is_whole && !count) return unproven(session);
  const auto places = all.where([&session](const auto& place) { return place.session == session; });
  return events_at(database, session, places, count);
}

Result<std::vector<Event>> recover_events_of_tree(const Database& database, const SessionId& tree,
                                                  std::optional<std::int64_t> at_least) {
  std::optional<Error> damaged;
  if (at_least) {
    auto found = select_events_of_tree(database, tree, at_least);
    if (found || found.error().code != ErrorCode::corrupt) return found;
    damaged = found.error();
  }
  database.note_damage(fmt::format("{}: {}", tree.value, damaged ? damaged->message : "not counted"));
  const auto all = journal_places(database);
  auto rows = rows_at(database, all.where([&tree](const auto& place) { return place.tree == tree; }));
  if (!rows) return std::unexpected(damaged.value_or(rows.error()));
  std::ranges::sort(*rows, {}, [](const Row& row) { return row.event.seq; });
  std::vector<Event> scanned;
  Result<void> in_order;
  for (Row& row : *rows) {
    scanned.push_back(std::move(row.event));
    if (in_order = check_newest(scanned, tree); !in_order) break;
  }
  if (in_order) in_order = check_count(scanned, tree, at_least);
  if (!in_order) return std::unexpected(damaged.value_or(in_order.error()));
  // What was left out may have been the tree's last; that none is counted proves nothing.
  const bool are_counted = !scanned.empty() && static_cast<std::int64_t>(scanned.size()) == at_least;
  if (all.is_whole || are_counted) return scanned;
  return damaged ? std::unexpected(*damaged) : unproven(tree);
}

}  // namespace deputy
