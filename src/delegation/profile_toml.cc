#include <fmt/format.h>

#include "base/text.h"
#include "base/toml.h"
#include "delegation/profile_node.h"

namespace deputy {
namespace {

class TreeReader {
 public:
  Result<ProfileNode> read(const TomlValue& value, int depth) {
    if (depth > kMostNodeDepth)
      return too_much(value.line, fmt::format("nested more than {} deep", kMostNodeDepth));
    if (++nodes_ > kMostNodes) return too_much(value.line, fmt::format("more than {} values", kMostNodes));
    ProfileNode read{.line = value.line};
    if (const auto* table = value.as<TomlTable>()) {
      read.kind = ProfileNode::Kind::map;
      for (const auto& member : *table) {
        TRY(auto item, this->read(member.value, depth + 1));
        read.keys.push_back(member.name);
        read.items.push_back(std::move(item));
      }
    } else if (const auto* list = value.as<TomlList>()) {
      read.kind = ProfileNode::Kind::list;
      for (const auto& each : *list) {
        TRY(auto item, this->read(each, depth + 1));
        read.items.push_back(std::move(item));
      }
    } else {
      read.kind = ProfileNode::Kind::text;
      read.is_quoted = value.as<std::string>() != nullptr;
      read.text = text_of(value);
    }
    return read;
  }

 private:
  static std::unexpected<Error> too_much(int line, std::string_view what) {
    return fail(ErrorCode::exhausted, fmt::format("line {}: {}", line, what), "make it simpler");
  }
  static std::string text_of(const TomlValue& value) {
    if (const auto* text = value.as<std::string>()) return *text;
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = value.as<double>()) return fmt::format("{}", *number);
    if (const auto* truth = value.as<bool>()) return *truth ? "true" : "false";
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
  TRY(const auto tree, parse_toml(text, "line"));
  return TreeReader().read(tree, 0);
}

}  // namespace deputy
