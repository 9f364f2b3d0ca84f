// All rows of a query, one after the other or as values.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "store/sqlite/database.h"

namespace deputy {

// Until one of them fails. An empty parameter is none.
template <class Take>
Result<void> for_each_row(const Database& database, std::string_view sql, std::string_view parameter,
                          Take take) {
  TRY(auto statement, database.prepare(sql));
  if (!parameter.empty()) statement.bind(parameter);
  for (;;) {
    TRY(const bool has_row, statement.step());
    if (!has_row) return {};
    TRY(take(statement));
  }
}

template <class Read, class T = typename std::invoke_result_t<Read, const Statement&>::value_type>
Result<std::vector<T>> select(const Database& database, std::string_view sql, std::string_view parameter,
                              Read read) {
  std::vector<T> found;
  TRY(for_each_row(database, sql, parameter, [&](const Statement& row) -> Result<void> {
    TRY(auto value, read(row));
    found.push_back(std::move(value));
    return {};
  }));
  return found;
}

}  // namespace deputy
