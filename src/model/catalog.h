// The models that are known by name: windows and prices as their providers published them, and what a person
// set to be true instead. A model that is not in it can be used all the same: it has a cautious window and an
// unknown price. The figures themselves: catalog_data.cc.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_facts.h"

namespace deputy {

// What a model of unknown size is taken to hold. Whatever the three large providers brought out since 2024
// holds at least the first; what runs on a server of one's own may well hold less.
inline constexpr std::int64_t kUnknownWindow = 128'000;
inline constexpr std::int64_t kUnknownWindowElsewhere = 32'768;

// A row of the built-in table. Dollars for a million tokens, at the price of short conversations; what is
// not known is 0 where it counts tokens and kUnknown where it is money.
struct CatalogRow {
  std::string_view provider;
  std::string_view name;
  std::int64_t window;
  std::int64_t max_output;
  double input;
  double output;
  double cache_read;
  double cache_write;
};
std::span<const CatalogRow> catalog_rows();
// Names that the same provider sells and that are like this one's, the nearest first: none for one it sells.
std::vector<std::string> names_near(const ModelName& model);

// What a person knows better, figure by figure.
struct FactsOverride {
  std::optional<std::int64_t> window;
  std::optional<std::int64_t> max_output;
  std::optional<double> input;
  std::optional<double> output;
  std::optional<double> cache_read;
  std::optional<double> cache_write;
  bool operator==(const FactsOverride&) const = default;
};

class Catalog {
 public:
  Catalog() = default;
  // Keys are provider/name.
  explicit Catalog(std::map<std::string, FactsOverride> overrides) : overrides_(std::move(overrides)) {}

  // `model` is provider/name. A dated name (claude-opus-4-5-20251101) counts as the undated one, and
  // openai-chat sells what openai sells. The window is never absent.
  ModelFacts facts(const ModelName& model) const;
  // Whose model a bare name is; nothing where nobody's.
  std::optional<std::string> provider_of(std::string_view bare_name) const;
  // Every known model as provider/name, in the order of the table, then what only the person knows of.
  std::vector<ModelName> known() const;

 private:
  std::map<std::string, FactsOverride> overrides_;
};

}  // namespace deputy
