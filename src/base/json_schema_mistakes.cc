#include "base/json_schema_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_schema_keywords.h"
#include "base/pattern.h"
#include "base/text.h"

namespace deputy {
namespace {

std::string shown(const json::value& value) { return shorten(made_visible(to_json_text(value)), 60); }

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

bool is_whole(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() && std::trunc(value.get_double()) == value.get_double();
}

bool has_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return is_whole(value);
  if (type == "boolean") return value.is_bool();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

std::string type_phrase(std::string_view type) {
  if (type == "null") return "null";
  const bool vowel = type == "integer" || type == "array" || type == "object";
  return fmt::format("{} {}", vowel ? "an" : "a", type);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

class Explanation {
 public:
  Explanation(const json::value& root, std::vector<std::string>& mistakes)
      : root_(root), mistakes_(mistakes) {}

  void explain(const json::value& schema, const json::value& value, const std::string& path) {
    if (mistakes_.size() >= kMaxMistakes) return;
    if (schema.is_bool()) {
      if (!schema.get_bool()) add(path, "is not allowed here");
      return;
    }
    const json::object& rules = schema.get_object();
    if (rules.contains("$ref")) return explain(target_of(rules), value, path);
    // With the wrong type nothing else that is said about it helps.
    if (!explain_type(rules, value, path)) return;
    explain_choice(rules, value, path);
    if (value.is_string()) explain_string(rules, view(value.get_string()), path);
    if (value.is_number()) explain_number(rules, value, path);
    if (value.is_array()) explain_array(rules, value.get_array(), path);
    if (value.is_object()) explain_object(rules, value.get_object(), path);
    explain_combined(rules, value, path);
  }

 private:
  void add(const std::string& path, std::string_view text) {
    if (mistakes_.size() >= kMaxMistakes) return;
    mistakes_.push_back(path.empty() ? std::string(text) : fmt::format("{}: {}", path, text));
  }

  const json::value& target_of(const json::object& rules) const {
    return root_.at_pointer(view(rules.at("$ref").get_string()).substr(1));
  }

  bool type_fits(const json::value& schema, const json::value& value) const {
    if (!schema.is_object()) return true;
    const json::object& rules = schema.get_object();
    if (rules.contains("$ref")) return type_fits(target_of(rules), value);
    std::vector<std::string> unused;
    return Explanation(root_, unused).explain_type(rules, value, "");
  }

  bool explain_type(const json::object& rules, const json::value& value, const std::string& path) {
    const json::value* type = find(rules, "type");
    if (type == nullptr) return true;
    std::vector<std::string> phrases;
    const auto try_one = [&](const json::value& name) {
      if (!name.is_string()) return true;
      phrases.push_back(type_phrase(view(name.get_string())));
      return has_type(value, view(name.get_string()));
    };
    const bool fits = type->is_array() ? std::ranges::any_of(type->get_array(), try_one) : try_one(*type);
    if (!fits) {
      const std::string found =
          value.is_number() ? fmt::format("the number {}", shown(value)) : std::string(kind_name(value));
      add(path, fmt::format("must be {}, not {}", joined(phrases, " or "), found));
    }
    return fits;
  }

  void explain_choice(const json::object& rules, const json::value& value, const std::string& path) {
    if (const json::array* choices = array_at(rules, "enum")) {
      if (std::ranges::find(*choices, value) == choices->end()) {
        constexpr std::size_t kMaxShown = 30;
        std::vector<std::string> phrases;
        for (const json::value& choice : *choices) {
          if (phrases.size() < kMaxShown) phrases.push_back(shown(choice));
        }
        if (choices->size() > kMaxShown) phrases.emplace_back("…");
        add(path, fmt::format("must be one of {}, not {}", joined(phrases, ", "), shown(value)));
      }
    }
    if (const json::value* constant = find(rules, "const"); constant != nullptr && *constant != value) {
      add(path, fmt::format("must be {}, not {}", shown(*constant), shown(value)));
    }
  }

  // "must be at least 2 items (it has 1)" and the like, for whatever is counted.
  void explain_count(const json::object& rules, std::string_view least_key, std::string_view most_key,
                     std::size_t count, std::string_view unit, std::string_view verb,
                     const std::string& path) {
    const auto plural = [unit](std::int64_t number) {
      if (number == 1) return fmt::format("1 {}", unit);
      return unit == "property" ? fmt::format("{} properties", number) : fmt::format("{} {}s", number, unit);
    };
    if (const auto least = integer_at(rules, least_key); least && static_cast<std::int64_t>(count) < *least) {
      add(path, fmt::format("must {} at least {} (it has {})", verb, plural(*least), count));
    }
    if (const auto most = integer_at(rules, most_key); most && static_cast<std::int64_t>(count) > *most) {
      add(path, fmt::format("must {} at most {} (it has {})", verb, plural(*most), count));
    }
  }

  void explain_string(const json::object& rules, std::string_view text, const std::string& path) {
    explain_count(rules, "minLength", "maxLength", utf8_length(text), "character", "be", path);
    const auto expression = string_at(rules, kPatternKeyword);
    if (!expression) return;
    const auto pattern = Pattern::compile(*expression);
    if (!pattern) return;
    switch (pattern->search(text)) {
      case Pattern::Match::yes:
        return;
      case Pattern::Match::no:
        return add(path, fmt::format("must match the pattern {}", *expression));
      case Pattern::Match::gave_up:
        return add(
            path, fmt::format("takes too long to compare with the pattern {}: make it shorter", *expression));
    }
  }

  void explain_number(const json::object& rules, const json::value& value, const std::string& path) {
    const auto number = value.to_number<double>();
    const auto compare = [&](std::string_view key, std::string_view phrase, auto fits) {
      const auto limit = number_at(rules, key);
      if (limit && !fits(*limit)) {
        add(path, fmt::format("must be {} {}, not {}", phrase, shown(*find(rules, key)), shown(value)));
      }
    };
    compare("minimum", "at least", [=](double limit) { return number >= limit; });
    compare("maximum", "at most", [=](double limit) { return number <= limit; });
    compare("exclusiveMinimum", "more than", [=](double limit) { return number > limit; });
    compare("exclusiveMaximum", "less than", [=](double limit) { return number < limit; });
    compare(kMultipleKeyword, "a multiple of", [=](double step) { return is_multiple(number, step); });
  }

  void explain_array(const json::object& rules, const json::array& array, const std::string& path) {
    explain_count(rules, "minItems", "maxItems", array.size(), "item", "have", path);
    if (bool_at(rules, "uniqueItems").value_or(false)) explain_repetition(array, path);
    const json::value* items = find(rules, "items");
    const json::array* by_position = items != nullptr ? items->if_array() : nullptr;
    const json::value* others = by_position != nullptr ? find(rules, "additionalItems") : items;
    const std::size_t positions = by_position != nullptr ? by_position->size() : 0;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const json::value* schema = i < positions ? &(*by_position)[i] : others;
      if (schema != nullptr) explain(*schema, array[i], path_to_element(path, i));
    }
  }

  void explain_repetition(const json::array& array, const std::string& path) {
    for (std::size_t i = 1; i < array.size(); ++i) {
      const auto* const here = array.begin() + static_cast<std::ptrdiff_t>(i);
      const auto* const earlier = std::find(array.begin(), here, *here);
      if (earlier == here) continue;
      return add(path,
                 fmt::format("must not repeat an item ({} and {} are equal)", earlier - array.begin(), i));
    }
  }

  void explain_object(const json::object& rules, const json::object& object, const std::string& path) {
    explain_count(rules, "minProperties", "maxProperties", object.size(), "property", "have", path);
    if (const json::array* required = array_at(rules, "required")) {
      for (const json::value& name : *required) {
        if (!name.is_string() || object.contains(name.get_string())) continue;
        add(path, fmt::format("the property {} is required", shown(name)));
      }
    }
    const json::object* known = object_at(rules, "properties");
    const json::value* others = find(rules, "additionalProperties");
    for (const auto& [key, member] : object) {
      const std::string_view name(key.data(), key.size());
      const json::value* schema = known != nullptr ? find(*known, name) : nullptr;
      if (schema != nullptr) {
        explain(*schema, member, path_to_member(path, name));
      } else if (others != nullptr && *others == false) {
        add(path, unknown_property(name, known));
      } else if (others != nullptr) {
        explain(*others, member, path_to_member(path, name));
      }
    }
  }

  static std::string unknown_property(std::string_view name, const json::object* known) {
    std::vector<std::string> allowed;
    if (known != nullptr) {
      for (const auto& [key, unused] : *known) allowed.emplace_back(key.data(), key.size());
    }
    const std::string unknown = fmt::format("the property {} is unknown", shown(json::string(name)));
    if (allowed.empty()) return unknown + "; none are allowed";
    const std::vector<std::string> meant = nearest(name, allowed, 1);
    return fmt::format("{}; {}allowed are {}", unknown,
                       meant.empty() ? "" : fmt::format("did you mean {}? ", meant.front()),
                       shorten(joined(allowed, ", "), 400));
  }

  void explain_combined(const json::object& rules, const json::value& value, const std::string& path) {
    if (const json::array* all = array_at(rules, "allOf")) {
      for (const json::value& schema : *all) explain(schema, value, path);
    }
    for (const std::string_view key : {"anyOf", "oneOf"}) {
      if (const json::array* choices = array_at(rules, key)) explain_alternatives(*choices, value, path);
    }
  }

  // When no alternative fits: those whose type fits are what was meant, if there are any.
  void explain_alternatives(const json::array& choices, const json::value& value, const std::string& path) {
    std::vector<std::string> of_right_type;
    std::vector<std::string> of_wrong_type;
    for (const json::value& schema : choices) {
      std::vector<std::string> mistakes;
      Explanation(root_, mistakes).explain(schema, value, path);
      if (mistakes.empty()) return;
      std::vector<std::string>& phrases = type_fits(schema, value) ? of_right_type : of_wrong_type;
      if (std::ranges::find(phrases, mistakes.front()) == phrases.end()) phrases.push_back(mistakes.front());
    }
    std::vector<std::string>& phrases = of_right_type.empty() ? of_wrong_type : of_right_type;
    constexpr std::size_t kMaxAlternatives = 4;
    if (phrases.size() > kMaxAlternatives) phrases.resize(kMaxAlternatives);
    if (!phrases.empty()) add("", joined(phrases, ", or "));
  }

  const json::value& root_;
  std::vector<std::string>& mistakes_;
};

bool is_plain_word(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::vector<std::string> explain_mistakes(const json::value& prepared, const json::value& value) {
  std::vector<std::string> mistakes;
  Explanation(prepared, mistakes).explain(prepared, value, "");
  return mistakes;
}

std::string path_to_member(std::string_view path, std::string_view name) {
  if (!is_plain_word(name)) return fmt::format("{}[{}]", path, shown(json::string(name)));
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string path_to_element(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

}  // namespace deputy
