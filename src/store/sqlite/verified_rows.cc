#include "store/sqlite/verified_rows.h"

#include <fmt/format.h>

#include "store/sqlite/select.h"

namespace deputy {

namespace {

std::unexpected<Error> damaged(const SessionId& session, std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("{} is damaged: {}", session.value, why),
              "the other sessions can still be read: `deputy sessions ls`; nothing was changed");
}

// Whether an index leads to that place. Then there is no need to read what is there once more.
Result<bool> leads_to(std::int64_t place, Statement& by_index, std::string_view value) {
  TRY(const bool has_row, by_index.bind(value).step());
  const bool is_led_to = has_row && by_index.integer(0) == place;
  by_index.reset();
  return is_led_to;
}

}  // namespace

Result<std::map<SessionId, SessionRow>> verified_rows(const Database& database, const SessionId& tree,
                                                      const EventsBySession& sessions,
                                                      std::map<SessionId, SessionRow> rows) {
  TRY(auto by_id, database.prepare("SELECT rowid FROM sessions WHERE id=?"));
  TRY(auto by_delegation, database.prepare("SELECT rowid FROM sessions WHERE delegation=?"));
  for (const auto& [id, events] : sessions) {
    auto found = rows.find(id);
    TRY(const bool has_id, leads_to(found == rows.end() ? 0 : found->second.place, by_id, id.value));
    if (!has_id) {
      TRY(auto row, select_session(database, "id", id.value));
      if (!row) return damaged(id, "its row is missing");
      found = rows.insert_or_assign(id, *std::move(row)).first;
    }
    SessionRow& row = found->second;
    const auto count = static_cast<std::int64_t>(events.size());
    if (row.events != 0 && row.events != count) return damaged(id, "its last records are missing");
    row.events = count;
    if (!row.session.delegation) continue;
    const std::string key = delegation_text(*row.session.delegation);
    TRY(const bool has_key, leads_to(row.place, by_delegation, key));
    if (has_key) continue;
    TRY(const auto other, select_session(database, "delegation", key));
    if (!other || other->session.id != id) return damaged(id, "it is not found by its delegation");
  }
  TRY(const auto found, select(database, "SELECT count(*) FROM sessions WHERE tree=?", tree.value,
                               [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
  if (found.front() != std::ssize(sessions))
    return damaged(tree, "not all of its rows are found by their tree");
  return rows;
}

}  // namespace deputy
