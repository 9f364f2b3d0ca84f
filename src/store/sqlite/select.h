// All rows of a query as values.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "store/sqlite/database.h"

namespace deputy {

// An empty parameter is none.
template <class Read, class T = typename std::invoke_result_t<Read, const Statement&>::value_type>
Result<std::vector<T>> select(const Database& database, std::string_view sql, std::string_view parameter,
                              Read read) {
  TRY(auto statement, database.prepare(sql));
  if (!parameter.empty()) statement.bind(parameter);
  std::vector<T> found;
  for (;;) {
    TRY(const bool has_row, statement.step());
    if (!has_row) return found;
    TRY(auto value, read(statement));
    found.push_back(std::move(value));
  }
}

}  // namespace deputy
