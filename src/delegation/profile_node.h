// The data at the head of a profile, as it was written: texts, lists and maps with their lines, whether they
// stood in YAML or in TOML. Reading is pure. It is bounded in bytes and depth, and knows no aliases, so that
// a few bytes stay a few values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace deputy {

struct ProfileNode {
  enum class Kind { nothing, text, list, map };
  Kind kind = Kind::nothing;
  std::string text = {};                // numbers and true or false too, as they were written
  bool is_quoted = false;               // then it is a text, whatever it looks like
  std::vector<ProfileNode> items = {};  // of a list, or the values of a map
  std::vector<std::string> keys = {};   // of a map, one for each item
  int line = 1;                         // in the file, from 1
};

inline constexpr std::size_t kMostProfileBytes = 256 * 1024;
inline constexpr std::size_t kMostHeadBytes = 64 * 1024;
inline constexpr std::size_t kMostNodes = 10'000;
inline constexpr int kMostNodeDepth = 32;

// A Markdown file with YAML between two lines of "---" at its top.
struct MarkdownProfile {
  ProfileNode head;  // a map; empty where there is none
  bool has_head = false;
  bool is_list = false;       // the head is one, of agents or whatever else: no map can be made of it
  std::string body;           // without the blank lines around it
  std::string not_yaml = {};  // where and why the head had to be read line by line; mostly empty
};

// Files in the wild hold colons that YAML does not allow where they stand: what is not YAML is read as lines
// of "key: value". An Error is for what is no such file at all.
Result<MarkdownProfile> read_markdown_profile(std::string_view text);
// The two ways; `first_line` is where the text stands in its file. A map, or an Error with its line.
Result<ProfileNode> read_yaml(std::string_view text, int first_line);
ProfileNode read_line_by_line(std::string_view text, int first_line);

// All of a TOML file.
Result<ProfileNode> read_toml_profile(std::string_view text);

// As it stood, for keeping what nobody knows.
json::value to_json(const ProfileNode& node);
// "a text", "a list", … for messages.
std::string_view kind_name(const ProfileNode& node);

}  // namespace deputy
