#define VALIJSON_USE_EXCEPTIONS 1
#include "base/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <valijson/internal/custom_allocator.hpp>

// Valijson's containers use what its allocator gives them, which of its own accord is null where there is no
// memory: so it throws, as everybody's does.
template <>
inline valijson::internal::CustomAllocator<void*>::CustomAllocator()
    : m_allocFn([](std::size_t size) { return ::operator new(size); }), m_freeFn(::operator delete) {}

#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/json_schema_keywords.h"
#include "base/json_schema_mistakes.h"
#include "base/pattern.h"

namespace deputy {
namespace {

using Adapter = valijson::adapters::BoostJsonAdapter;

// What we check instead of valijson. `Check` is made from the keyword's value and says what is wrong, if
// anything is.
template <typename Check>
class OwnConstraint final : public valijson::constraints::PolyConstraint {
 public:
  explicit OwnConstraint(Check check) : check_(std::move(check)) {}

  bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    const char* mistake = check_.mistake_in(target);
    if (mistake != nullptr && results != nullptr) results->pushError(context, mistake);
    return mistake == nullptr;
  }

 private:
  Constraint* cloneInto(void* memory) const override { return new (memory) OwnConstraint(*this); }
  std::size_t sizeOf() const override { return sizeof(OwnConstraint); }

  Check check_;
};

template <typename Check>
class OwnBuilder final : public valijson::ConstraintBuilder {
 public:
  valijson::constraints::Constraint* make(const valijson::adapters::Adapter& value) const override {
    return new OwnConstraint<Check>(Check::from(value));
  }
};

// The parser owns it.
template <typename Check>
void add_check(valijson::SchemaParser& parser, std::string_view keyword) {
  auto builder = std::make_unique<OwnBuilder<Check>>();
  parser.addConstraintBuilder(std::string(keyword), builder.get());
  builder.release();
}

// valijson would use std::regex, whose recursion a long text drives through the end of the stack.
struct PatternCheck {
  static PatternCheck from(const valijson::adapters::Adapter& expression) {
    auto pattern = Pattern::compile(expression.asString());
    if (!pattern) throw std::runtime_error(pattern.error().message);
    return {*std::move(pattern)};
  }
  const char* mistake_in(const valijson::adapters::Adapter& target) const {
    if (!target.isString() || pattern.search(target.asString()) == Pattern::Match::yes) return nullptr;
    return "must match the pattern.";
  }
  Pattern pattern;
};

// valijson would divide by any step, 0 among them, and drops what a number has behind its point.
struct MultipleCheck {
  static MultipleCheck from(const valijson::adapters::Adapter& step) { return {step.asDouble()}; }
  const char* mistake_in(const valijson::adapters::Adapter& target) const {
    if (!target.isNumber() || is_multiple(target.asDouble(), step)) return nullptr;
    return "must be a multiple.";
  }
  double step;
};

// Where a double stands for an integer, as 3.0 does: draft 7 makes no difference, valijson would.
std::optional<std::int64_t> integer_in(const json::value& value) {
  constexpr double kExact = 9007199254740992.0;
  if (!value.is_double() || std::trunc(value.get_double()) != value.get_double()) return std::nullopt;
  if (std::fabs(value.get_double()) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(value.get_double());
}

bool has_such_doubles(const json::value& value) {
  if (const auto* array = value.if_array()) return std::ranges::any_of(*array, has_such_doubles);
  if (const auto* object = value.if_object()) {
    return std::ranges::any_of(*object, [](const auto& member) { return has_such_doubles(member.value()); });
  }
  return integer_in(value).has_value();
}

void make_integers(json::value& value) {
  if (auto* array = value.if_array()) {
    for (json::value& element : *array) make_integers(element);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) make_integers(member.value());
  } else if (const auto integer = integer_in(value)) {
    value = *integer;
  }
}

// "<root>", "[tasks]", "[2]" as "tasks[2]".
std::string path_of(const std::vector<std::string>& context) {
  std::string path;
  for (std::string_view part : context) {
    if (part == "<root>" || part.size() < 2) continue;
    part = part.substr(1, part.size() - 2);
    const bool is_index = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    path = is_index ? fmt::format("{}[{}]", path, part) : path_to_member(path, part);
  }
  return path;
}

std::vector<std::string> reworded(const valijson::ValidationResults& results) {
  std::vector<std::string> mistakes;
  for (const auto& error : results) {
    if (mistakes.size() >= kMaxMistakes) break;
    const std::string path = path_of(error.context);
    mistakes.push_back(path.empty() ? error.description : fmt::format("{}: {}", path, error.description));
  }
  if (mistakes.empty()) mistakes.emplace_back("the value is not allowed by the schema");
  return mistakes;
}

}  // namespace

struct JsonSchema::Compiled {
  json::value prepared;
  valijson::Schema schema;
};

JsonSchema::JsonSchema(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

Result<JsonSchema> JsonSchema::compile(const json::value& schema) {
  try {
    auto compiled = std::make_unique<Compiled>();
    TRY(compiled->prepared, prepare_schema(schema));
    make_integers(compiled->prepared);
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    add_check<PatternCheck>(parser, kPatternKeyword);
    add_check<MultipleCheck>(parser, kMultipleKeyword);
    parser.populateSchema(Adapter(compiled->prepared), compiled->schema);
    return JsonSchema(std::move(compiled));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::invalid, fmt::format("the JSON schema cannot be used: {}", exception.what()));
  }
}

std::vector<std::string> JsonSchema::mistakes_in(const json::value& value) const {
  if (has_such_doubles(value)) {
    json::value with_integers = value;
    make_integers(with_integers);
    return mistakes_in(with_integers);
  }
  try {
    // Reasons cost as much as the check itself, and most values are valid.
    valijson::Validator validator;
    if (validator.validate(compiled_->schema, Adapter(value), nullptr)) return {};
    std::vector<std::string> mistakes = explain_mistakes(compiled_->prepared, value);
    if (!mistakes.empty()) return mistakes;
    valijson::ValidationResults results;
    validator.validate(compiled_->schema, Adapter(value), &results);
    return reworded(results);
  } catch (const std::exception& exception) {
    return {fmt::format("the value cannot be checked: {}", exception.what())};
  }
}

}  // namespace deputy
