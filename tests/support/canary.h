// Looks for a key where none may be: in texts, in files and on command lines, however it is spelled.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

class Canary {
 public:
  // `key` should have characters that every encoding changes, `url_encoded` is how it looks in a URL.
  Canary(std::string_view key, std::string_view url_encoded);

  const std::string& key() const { return spellings_.at(0); }
  const std::string& url_encoded() const { return spellings_.at(1); }
  bool is_in(std::string_view text) const;
  std::vector<std::string> files_below(const std::filesystem::path& folder) const;  // that hold it
  static std::string base64(std::string_view bytes);                                // whole characters only
  std::vector<std::string> command_lines() const;  // of this machine's processes, that hold it

 private:
  std::vector<std::string> spellings_;
};

// The program has it as a key in all tests that run it, and nothing that it says or keeps may show it. Under
// ./test it is the one of scripts/canary.sh, which looks at everything else.
const Canary& canary_of_all_tests();

}  // namespace deputy
