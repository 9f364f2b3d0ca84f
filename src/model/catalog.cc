#include "model/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

struct Named {
  std::string_view provider;
  std::string_view name;
};

Named parts_of(std::string_view model) {
  const std::size_t slash = std::min(model.find('/'), model.size());
  return {model.substr(0, slash), model.substr(std::min(slash + 1, model.size()))};
}

// "-20251101" or "-2025-11-01".
std::string_view without_date(std::string_view name) {
  for (const std::string_view form : {"-dddddddd", "-dddd-dd-dd"}) {
    if (name.size() <= form.size()) continue;
    const std::string_view end = name.substr(name.size() - form.size());
    const bool fits = std::ranges::equal(
        end, form, [](char c, char wanted) { return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted; });
    if (fits) return name.substr(0, name.size() - form.size());
  }
  return name;
}

std::string_view seller_of(Named model) {
  return model.provider == "openai-chat" ? "openai" : model.provider;
}

const CatalogRow* row_of(Named model) {
  const std::string_view provider = seller_of(model);
  const auto rows = catalog_rows();
  for (const std::string_view name : {model.name, without_date(model.name)}) {
    const auto found = std::ranges::find_if(
        rows, [&](const CatalogRow& row) { return row.provider == provider && row.name == name; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

std::optional<double> known_price(double dollars) {
  return dollars < 0 ? std::nullopt : std::optional(dollars);
}

// What runs on a server of one's own costs nothing by the token; Ollama names what it has run elsewhere.
bool is_free(Named model) { return model.provider == "ollama" && !model.name.ends_with("cloud"); }

bool is_large_provider(std::string_view provider) {
  return provider == "anthropic" || provider == "gemini" || provider.starts_with("openai");
}

ModelFacts published(Named model) {
  ModelFacts facts;
  if (const CatalogRow* row = row_of(model)) {
    facts.window = row->window;
    if (row->max_output > 0) facts.max_output = row->max_output;
    facts.price = {.input = row->input,
                   .output = row->output,
                   .cache_read = known_price(row->cache_read),
                   .cache_write = known_price(row->cache_write)};
  } else {
    facts.window = is_large_provider(model.provider) ? kUnknownWindow : kUnknownWindowElsewhere;
    if (is_free(model)) facts.price = Price{};
  }
  return facts;
}

// A price of which only one half is known is no price.
std::optional<Price> price_with(std::optional<Price> published, const FactsOverride& own) {
  if (!published && !(own.input && own.output)) return std::nullopt;
  Price price = published.value_or(Price{});
  price.input = own.input.value_or(price.input);
  price.output = own.output.value_or(price.output);
  if (own.cache_read) price.cache_read = own.cache_read;
  if (own.cache_write) price.cache_write = own.cache_write;
  return price;
}

}  // namespace

std::vector<std::string> names_near(const ModelName& model) {
  const Named named = parts_of(model.value);
  if (row_of(named)) return {};
  std::vector<std::string> names;
  for (const CatalogRow& row : catalog_rows()) {
    if (row.provider == seller_of(named)) names.emplace_back(row.name);
  }
  return nearest(named.name, names);
}

ModelFacts Catalog::facts(const ModelName& model) const {
  ModelFacts facts = published(parts_of(model.value));
  const auto own = overrides_.find(model.value);
  if (own == overrides_.end()) return facts;
  if (own->second.window) facts.window = own->second.window;
  if (own->second.max_output) facts.max_output = own->second.max_output;
  facts.price = price_with(facts.price, own->second);
  return facts;
}

std::optional<std::string> Catalog::provider_of(std::string_view bare_name) const {
  for (const auto& [model, own] : overrides_) {
    if (const Named named = parts_of(model); named.name == bare_name) return std::string(named.provider);
  }
  for (const std::string_view provider : {"anthropic", "openai", "gemini"}) {
    if (row_of({provider, bare_name})) return std::string(provider);
  }
  return std::nullopt;
}

std::vector<ModelName> Catalog::known() const {
  std::vector<ModelName> models;
  for (const CatalogRow& row : catalog_rows())
    models.emplace_back(fmt::format("{}/{}", row.provider, row.name));
  for (const auto& [model, own] : overrides_) {
    if (std::ranges::find(models, ModelName(model)) == models.end()) models.emplace_back(model);
  }
  return models;
}

}  // namespace deputy
