#include "base/json_schema_keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/pattern.h"

namespace deputy {
namespace {

enum class Holds {
  note,    // for people; "format" too, which draft 7 leaves to the reader
  plain,   // a constraint without schemas in it
  schema,  // for a part of the value
  same,    // for the value itself
  same_list,
  named,  // a schema for each name
  items,  // a schema or a list of them
  needs,  // a schema or a list of names, for each name
  pattern,
  multiple,
  reference,
};

struct Keyword {
  std::string_view name;
  Holds holds;
};

constexpr Keyword kKeywords[] = {
    {"$comment", Holds::note},
    {"$defs", Holds::named},
    {"$id", Holds::note},
    {"$ref", Holds::reference},
    {"$schema", Holds::note},
    {"additionalItems", Holds::schema},
    {"additionalProperties", Holds::schema},
    {"allOf", Holds::same_list},
    {"anyOf", Holds::same_list},
    {"const", Holds::plain},
    {"contains", Holds::schema},
    {"contentEncoding", Holds::note},
    {"contentMediaType", Holds::note},
    {"default", Holds::note},
    {"definitions", Holds::named},
    {"dependencies", Holds::needs},
    {"deprecated", Holds::note},
    {"description", Holds::note},
    {"else", Holds::same},
    {"enum", Holds::plain},
    {"examples", Holds::note},
    {"exclusiveMaximum", Holds::plain},
    {"exclusiveMinimum", Holds::plain},
    {"format", Holds::note},
    {"if", Holds::same},
    {"items", Holds::items},
    {"maxItems", Holds::plain},
    {"maxLength", Holds::plain},
    {"maxProperties", Holds::plain},
    {"maximum", Holds::plain},
    {"minItems", Holds::plain},
    {"minLength", Holds::plain},
    {"minProperties", Holds::plain},
    {"minimum", Holds::plain},
    {"multipleOf", Holds::multiple},
    {"not", Holds::same},
    {"oneOf", Holds::same_list},
    {"pattern", Holds::pattern},
    {"properties", Holds::named},
    {"propertyNames", Holds::schema},
    {"readOnly", Holds::note},
    {"required", Holds::plain},
    {"then", Holds::same},
    {"title", Holds::note},
    {"type", Holds::plain},
    {"uniqueItems", Holds::plain},
    {"writeOnly", Holds::note},
};

std::string pointer_to(std::string_view parent, std::string_view key) {
  std::string pointer(parent);
  pointer += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::string_view name_for_validator(Holds holds, std::string_view name) {
  if (holds == Holds::pattern) return kPatternKeyword;
  return holds == Holds::multiple ? kMultipleKeyword : name;
}

class Preparation {
 public:
  Result<json::value> run(const json::value& schema) {
    TRY(json::value prepared, schema_at(schema, ""));
    TRY(check_references());
    for (const auto& [pointer, next] : same_value_) TRY(length_from(pointer));
    return prepared;
  }

 private:
  static std::unexpected<Error> refuse(std::string_view pointer, std::string_view reason) {
    return fail(ErrorCode::invalid, fmt::format("JSON schema #{}: {}", pointer, reason));
  }

  Result<json::value> schema_at(const json::value& schema, const std::string& pointer) {
    if (same_value_.size() >= kMaxSchemaNodes) {
      return refuse("", fmt::format("it has more than {} parts", kMaxSchemaNodes));
    }
    same_value_[pointer];
    if (schema.is_bool()) return schema;
    if (!schema.is_object())
      return refuse(pointer, fmt::format("expected a schema, found {}", kind_name(schema)));
    const bool refers = schema.get_object().contains("$ref");
    json::object prepared;
    for (const auto& [key, value] : schema.get_object()) {
      const std::string_view name(key.data(), key.size());
      if (name.starts_with("x-")) continue;
      const auto* known = std::ranges::find(kKeywords, name, &Keyword::name);
      if (known == std::end(kKeywords)) {
        return refuse(pointer, fmt::format("the keyword \"{}\" is not one that can be checked", name));
      }
      const Holds holds = known->holds;
      if (name == "$id" && !pointer.empty()) return refuse(pointer, "\"$id\" is understood at the top only");
      if (holds == Holds::note) continue;
      if (refers && name != "$ref" && name != "definitions" && name != "$defs") {
        return refuse(pointer,
                      fmt::format("\"{}\" has no effect beside \"$ref\": put both into \"allOf\"", name));
      }
      TRY(json::value part, keyword_at(holds, value, pointer, name));
      prepared[name_for_validator(holds, name)] = std::move(part);
    }
    return prepared;
  }

  Result<json::value> keyword_at(Holds holds, const json::value& value, const std::string& parent,
                                 std::string_view name) {
    const std::string pointer = pointer_to(parent, name);
    switch (holds) {
      case Holds::note:
      case Holds::plain:
        return value;
      case Holds::same:
        same_value_[parent].push_back(pointer);
        return schema_at(value, pointer);
      case Holds::schema:
        return schema_at(value, pointer);
      case Holds::items:
        return value.is_array() ? list_at(value, parent, pointer, holds) : schema_at(value, pointer);
      case Holds::same_list:
        return list_at(value, parent, pointer, holds);
      case Holds::named:
      case Holds::needs:
        return named_at(value, parent, pointer, holds);
      case Holds::pattern: {
        if (!value.is_string())
          return refuse(pointer, fmt::format("expected a string, found {}", kind_name(value)));
        auto compiled = Pattern::compile(std::string_view(value.get_string()));
        if (!compiled) return refuse(pointer, compiled.error().message);
        return value;
      }
      case Holds::multiple: {
        if (!value.is_number() || value.to_number<double>() <= 0) {
          return refuse(pointer, fmt::format("expected a number above 0, found {}", to_json_text(value)));
        }
        return value;
      }
      case Holds::reference: {
        if (!value.is_string() || !value.get_string().starts_with('#')) {
          return refuse(pointer, "only references that begin with # can be followed");
        }
        std::string target(value.get_string().subview(1));
        same_value_[parent].push_back(target);
        references_.emplace_back(pointer, std::move(target));
        return value;
      }
    }
    return value;
  }

  Result<json::value> list_at(const json::value& list, const std::string& parent, const std::string& pointer,
                              Holds holds) {
    if (!list.is_array()) return refuse(pointer, fmt::format("expected an array, found {}", kind_name(list)));
    json::array prepared;
    for (const json::value& element : list.get_array()) {
      const std::string place = pointer_to(pointer, std::to_string(prepared.size()));
      if (holds == Holds::same_list) same_value_[parent].push_back(place);
      TRY(json::value part, schema_at(element, place));
      prepared.push_back(std::move(part));
    }
    return prepared;
  }

  Result<json::value> named_at(const json::value& named, const std::string& parent,
                               const std::string& pointer, Holds holds) {
    if (!named.is_object())
      return refuse(pointer, fmt::format("expected an object, found {}", kind_name(named)));
    json::object prepared;
    for (const auto& [key, value] : named.get_object()) {
      const std::string place = pointer_to(pointer, std::string_view(key.data(), key.size()));
      if (holds == Holds::needs && value.is_array()) {
        prepared[key] = value;
        continue;
      }
      if (holds == Holds::needs) same_value_[parent].push_back(place);
      TRY(prepared[key], schema_at(value, place));
    }
    return prepared;
  }

  Result<void> check_references() const {
    for (const auto& [pointer, target] : references_) {
      if (!same_value_.contains(target)) {
        return refuse(pointer, fmt::format("\"#{}\" does not lead to a schema in it", target));
      }
    }
    return {};
  }

  // How many schemas in a row apply to the same value from here on. One that leads back to itself would be
  // followed for ever, and each step of a long way costs stack at each level of the value.
  Result<std::size_t> length_from(const std::string& pointer) {
    if (const auto known = lengths_.find(pointer); known != lengths_.end()) return known->second;
    if (!open_.insert(pointer).second) return refuse(pointer, "it refers to itself without end");
    std::size_t length = 1;
    for (const std::string& next : same_value_[pointer]) {
      TRY(const std::size_t rest, open_.size() < kMaxSchemaChain ? length_from(next) : kMaxSchemaChain);
      length = std::max(length, rest + 1);
    }
    if (length > kMaxSchemaChain) {
      return refuse(pointer, fmt::format("it leads through more than {} schemas in a row", kMaxSchemaChain));
    }
    open_.erase(pointer);
    return lengths_[pointer] = length;
  }

  // Every schema by its JSON pointer, with those that apply to the same value.
  std::map<std::string, std::vector<std::string>> same_value_;
  std::vector<std::pair<std::string, std::string>> references_;
  std::map<std::string, std::size_t> lengths_;
  std::set<std::string> open_;
};

}  // namespace

Result<json::value> prepare_schema(const json::value& schema) { return Preparation().run(schema); }

bool is_multiple(double number, double step) {
  const double times = number / step;
  if (!std::isfinite(times)) return true;  // more often than can be counted
  return std::fabs(times - std::round(times)) <=
         4 * std::numeric_limits<double>::epsilon() * std::fabs(times);
}

}  // namespace deputy
