#include "model/anthropic_block.h"

#include <utility>

#include "base/text.h"
#include "model/json_string.h"
#include "model/wire.h"

namespace deputy::anthropic {

std::optional<Block> Block::from(std::string raw) {
  auto members = parse_json_object(raw);
  if (!members) return std::nullopt;
  Block block;
  block.raw_ = std::move(raw);
  block.members_ = *std::move(members);
  block.type_ = string_or(block.members_, "type", "");
  return block;
}

std::string_view Block::text_at(std::string_view key) const {
  const json::value* member = find(members_, key);
  const json::string* text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

std::string Block::arguments() const {
  if (!partial_input_.empty()) return partial_input_;
  const json::object* input = object_at(members_, "input");
  return input == nullptr ? "{}" : to_json_text(*input);
}

std::size_t Block::grow(api::Object delta) {
  std::size_t added = 0;
  for (const auto& [key, value] : api::members_of(delta)) {
    if (key == "type") continue;
    const auto text = api::text_in(value);
    const std::string other = text ? "" : api::json_of(value);
    added += text.value_or("").size() + other.size();
    if (text && text->empty()) continue;
    has_changed_ = true;
    if (key == "partial_json") {
      partial_input_ += text.value_or("");
      members_.emplace("input", json::object{});
    } else if (key == "citation") {
      json::value& citations = members_["citations"];
      if (!citations.is_array()) citations.emplace_array();
      citations.get_array().push_back(parse_json(other).value_or(nullptr));
    } else if (text) {
      json::value& member = members_[key];
      if (!member.is_string()) member.emplace_string();
      member.get_string().append(*text);
    } else {
      members_[key] = parse_json(other).value_or(nullptr);
    }
  }
  return added;
}

void Block::rename(const std::string& id) {
  if (text_at("id") == id) return;
  members_["id"] = id;
  has_changed_ = true;
}

bool Block::may_return() const {
  if (type_ == "text") return !trimmed(text_at("text")).empty();
  if (type_ == "thinking") return !text_at("signature").empty();
  return true;
}

std::string Block::to_json() const {
  if (!has_changed_) return raw_;
  std::string out = "{";
  for (const auto& [key, value] : members_) {
    if (out.size() > 1) out += ',';
    out += json_string(key);
    out += ':';
    const bool is_input = key == "input" && !partial_input_.empty();
    out += is_input ? api::as_object(partial_input_) : to_json_text(value);
  }
  return out + '}';
}

}  // namespace deputy::anthropic
