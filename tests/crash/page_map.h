// Which records lie on which page of a database file, read from the file as its format says
// (https://www.sqlite.org/fileformat2.html), apart from the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

inline constexpr std::size_t kPage = 4096;

struct PageMap {
  std::map<std::uint32_t, std::vector<std::int64_t>> records;  // of pages that hold some of the table
  std::set<std::uint32_t> leading;                             // pages of the table that lead to others
  std::vector<std::size_t> ways;                               // where in the file they say to which

  PageMap() = default;
  // `root` is the table's first page.
  PageMap(std::string_view file, std::int64_t root);

 private:
  void walk(std::string_view file, std::uint32_t page);
};

// The pages that a log holds anew.
std::set<std::uint32_t> pages_in_log(std::string_view log);

}  // namespace deputy
