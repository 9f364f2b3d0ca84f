#include <fmt/format.h>

#include <sstream>

#include "base/checked_toml.h"
#include "base/text.h"
#include "delegation/profile_node.h"

namespace deputy {
namespace {

class TreeReader {
 public:
  Result<ProfileNode> read(const toml::node& node, int depth) {
    const int line = static_cast<int>(node.source().begin.line);
    if (depth > kMostNodeDepth)
      return too_much(line, fmt::format("nested more than {} deep", kMostNodeDepth));
    if (++nodes_ > kMostNodes) return too_much(line, fmt::format("more than {} values", kMostNodes));
    ProfileNode read{.line = std::max(line, 1)};
    if (const auto* table = node.as_table()) {
      read.kind = ProfileNode::Kind::map;
      for (const auto& [name, value] : *table) {
        TRY(auto item, this->read(value, depth + 1));
        read.keys.push_back(toml_key(name.str()));
        read.items.push_back(std::move(item));
      }
    } else if (const auto* list = node.as_array()) {
      read.kind = ProfileNode::Kind::list;
      for (const auto& value : *list) {
        TRY(auto item, this->read(value, depth + 1));
        read.items.push_back(std::move(item));
      }
    } else {
      read.kind = ProfileNode::Kind::text;
      read.is_quoted = node.is_string();
      read.text = text_of(node);
    }
    return read;
  }

 private:
  static std::unexpected<Error> too_much(int line, std::string_view what) {
    return fail(ErrorCode::exhausted, fmt::format("line {}: {}", line, what), "make it simpler");
  }
  static std::string text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
    return "a date or time";
  }

  std::size_t nodes_ = 0;
};

}  // namespace

Result<ProfileNode> read_toml_profile(std::string_view text) {
  if (text.size() > kMostProfileBytes)
    return fail(ErrorCode::exhausted,
                fmt::format("the file is larger than {} bytes", with_thousands(kMostProfileBytes)),
                "move what an agent can look up out of its instructions");
  TRY(const toml::table table, parse_toml(text, "line"));
  return TreeReader().read(table, 0);
}

}  // namespace deputy
