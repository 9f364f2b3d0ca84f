#include "delegation/profile_node.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kFence = "---";

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

ProfileNode text_node(std::string_view text, int line) {
  return {.kind = ProfileNode::Kind::text,
          .text = std::string(without_quotes(text)),
          .is_quoted = without_quotes(text).size() != text.size(),
          .line = line};
}

// Where the key of a line such as "name: value" ends; nothing where it is no such line.
std::optional<std::size_t> end_of_key(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  for (const char c : line.substr(0, colon)) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_letter && c != '_' && c != '-') return std::nullopt;
  }
  if (line.size() > colon + 1 && line[colon + 1] != ' ' && line[colon + 1] != '\t') return std::nullopt;
  return colon;
}

// "|", ">-": what follows, indented, is a text as it stands.
bool is_block_mark(std::string_view text) {
  return (text.starts_with('|') || text.starts_with('>')) && text.size() <= 2;
}

// What follows a " #" is a comment, but not in quotes.
std::string_view without_comment(std::string_view value) {
  const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
  const std::size_t quote = is_quoted ? value.find(value.front(), 1) : 0;
  const std::size_t comment = quote == std::string_view::npos ? quote : value.find(" #", quote);
  return comment == std::string_view::npos ? value : trimmed(value.substr(0, comment));
}

// What follows a key: an item of its list, or more of its text.
void add_line(ProfileNode& value, std::string_view line, int number) {
  const std::string_view text = trimmed(line);
  const bool is_item = text.starts_with("- ") && value.text.empty();
  if (is_item) {
    value.kind = ProfileNode::Kind::list;
    value.items.push_back(text_node(without_comment(trimmed(text.substr(2))), number));
  } else if (value.kind != ProfileNode::Kind::list && !text.empty()) {
    value.kind = ProfileNode::Kind::text;
    if (is_block_mark(value.text)) value.text.clear();
    if (!value.text.empty()) value.text += '\n';
    value.text += text;
  }
}

}  // namespace

ProfileNode read_line_by_line(std::string_view head, int first_line) {
  ProfileNode map{.kind = ProfileNode::Kind::map, .line = first_line};
  int number = first_line - 1;
  bool is_in_block = false;
  for (const auto line : lines_of(head)) {
    ++number;
    const bool is_comment = trimmed(line).starts_with('#') && (line.starts_with('#') || !is_in_block);
    if (is_comment) continue;
    const auto key = end_of_key(line);
    if (map.items.size() >= kMostNodes) break;
    if (!key) {
      if (!map.items.empty()) add_line(map.items.back(), line, number);
    } else {
      const bool is_prose = line.substr(0, *key) == "description";
      const std::string_view said = trimmed(line.substr(*key + 1));
      const std::string_view value = is_prose ? said : without_comment(said);
      is_in_block = is_block_mark(value);
      map.keys.emplace_back(line.substr(0, *key));
      map.items.push_back(value.empty() ? ProfileNode{.line = number} : text_node(value, number));
    }
  }
  return map;
}

Result<MarkdownProfile> read_markdown_profile(std::string_view text) {
  if (text.size() > kMostProfileBytes)
    return fail(ErrorCode::exhausted,
                fmt::format("the file is larger than {} bytes", with_thousands(kMostProfileBytes)),
                "move what an agent can look up out of its instructions");
  if (!is_utf8(text) || text.contains('\0'))
    return fail(ErrorCode::invalid, "the file is not UTF-8 text", "save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as some editors begin a file
  MarkdownProfile read{.head = {.kind = ProfileNode::Kind::map}};
  const auto first_end = text.find('\n');
  if (trimmed(text.substr(0, first_end)) != kFence || first_end == std::string_view::npos) {
    read.body = std::string(trimmed(text));
    return read;
  }
  std::size_t at = first_end + 1;
  const std::size_t begin = at;
  for (;;) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
    if (line.starts_with(kFence) && trimmed(line) == kFence) {
      read.body = end == std::string_view::npos ? "" : std::string(trimmed(text.substr(end + 1)));
      break;
    }
    if (end == std::string_view::npos)
      return fail(ErrorCode::invalid, "line 1: the front matter does not end",
                  "end it with a line of ---, then write the instructions");
    at = end + 1;
  }
  const std::string_view head = text.substr(begin, at - begin);
  if (head.size() > kMostHeadBytes)
    return fail(ErrorCode::exhausted,
                fmt::format("the front matter is larger than {} bytes", with_thousands(kMostHeadBytes)),
                "put the instructions below it");
  read.has_head = true;
  read.is_list = trimmed(head).starts_with("- ");
  auto yaml = read_yaml(head, 2);
  if (yaml) {
    read.head = *std::move(yaml);
  } else {
    read.head = read_line_by_line(head, 2);
    read.not_yaml = yaml.error().message;
  }
  return read;
}

json::value to_json(const ProfileNode& node) {
  switch (node.kind) {
    case ProfileNode::Kind::nothing:
      return nullptr;
    case ProfileNode::Kind::text: {
      // A number or a truth value that was written without quotes is one.
      const auto parsed = node.is_quoted ? std::unexpected(Error{}) : parse_json(node.text);
      if (parsed && (parsed->is_number() || parsed->is_bool())) return *parsed;
      return json::value(node.text);
    }
    case ProfileNode::Kind::list: {
      json::array list;
      for (const auto& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case ProfileNode::Kind::map: {
      json::object map;
      for (std::size_t i = 0; i < node.items.size(); ++i) map[node.keys[i]] = to_json(node.items[i]);
      return map;
    }
  }
  return nullptr;
}

std::string_view kind_name(const ProfileNode& node) {
  switch (node.kind) {
    case ProfileNode::Kind::nothing:
      return "nothing";
    case ProfileNode::Kind::text:
      return "a text";
    case ProfileNode::Kind::list:
      return "a list";
    case ProfileNode::Kind::map:
      return "a table";
  }
  return "nothing";
}

}  // namespace deputy
