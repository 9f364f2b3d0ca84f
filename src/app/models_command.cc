#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/commands.h"
#include "app/looks.h"
#include "app/tree_command.h"
#include "base/json.h"
#include "base/text.h"
#include "tui/line.h"

namespace deputy {
namespace {

const ProviderAccess& access_of(const ModelOffer& offer, const ModelName& model) {
  const std::string_view provider = std::string_view(model.value).substr(0, model.value.find('/'));
  return *std::ranges::find(offer.providers, provider, &ProviderAccess::name);
}

std::string dollars(std::optional<double> price) { return price ? fmt::format("{:g}", *price) : "-"; }

std::string tokens(std::optional<std::int64_t> count) {
  return count ? with_thousands(static_cast<std::uint64_t>(*count)) : "?";
}

using Cells = std::vector<std::string>;

// The numbers end where the others of their column do.
Cells cells_of(std::string_view model, std::string_view window, std::string_view reply,
               const std::array<std::string, 4>& prices, std::string_view usable) {
  Cells cells{fmt::format("{:<34}", model), fmt::format("{:>9}", window), fmt::format("{:>8}", reply)};
  for (const auto& price : prices) cells.push_back(fmt::format("{:>7}", price));
  cells.emplace_back(usable);
  return cells;
}

Cells cells_of(const ModelName& model, const ModelOffer& offer) {
  const ModelFacts facts = offer.catalog.facts(model);
  const Price price = facts.price.value_or(Price{});
  const auto known = [&](std::optional<double> dollar) { return facts.price ? dollars(dollar) : "?"; };
  return cells_of(
      model.value, tokens(facts.window), tokens(facts.max_output),
      {known(price.input), known(price.output), known(price.cache_read), known(price.cache_write)},
      access_of(offer, model).is_usable() ? "yes" : "-");
}

std::string standing_of(const ProviderAccess& access) {
  if (!access.wrong_address.empty()) return fmt::format("{} is no address", access.wrong_address);
  if (access.endpoint.base_url.empty()) return "no address: set base_url or DEPUTY_BASE_URL";
  if (access.has_key()) return fmt::format("key from {}", access.key_variable);
  return access.needs_key ? fmt::format("no key: set {}", access.key_variable) : "needs no key";
}

void show_text(Program& program, const ModelOffer& offer, const std::string& used) {
  constexpr std::size_t kReadable = 105;
  const std::size_t width = row_width(program.out.descriptor());
  std::vector<Cells> rows{cells_of("MODEL", "WINDOW", "REPLY", {"IN", "OUT", "CACHED", "CACHING"}, "USABLE")};
  for (const auto& model : offer.catalog.known()) rows.push_back(cells_of(model, offer));
  for (const auto& line : aligned(rows, width)) program.out.write_line(line);
  program.out.write_line(wrapped_text(
      "\nWindow and longest reply in tokens; dollars for a million tokens: read, written, read from and put "
      "into a cache (- where that has no price of its own); ? is not known. A provider's other models can "
      "be named too: they count as holding 128,000 tokens (32,768 with ollama and compatible), and their "
      "price as unknown, until the settings say more.\n",
      std::min(width, kReadable)));
  const auto add = [&](std::string_view name, std::string_view about) {
    program.out.write_line(wrapped_text(fmt::format("{:<18}{}", name, about), width, std::string(18, ' ')));
  };
  for (const auto& provider : known_providers(offer)) {
    add(provider.written, provider.about);
    const auto access = std::ranges::find(offer.providers, provider.name, &ProviderAccess::name);
    if (access != offer.providers.end()) add("", standing_of(*access));
  }
  program.out.write_line(wrapped_text(fmt::format("\n{}", used), width));
}

json::value or_null(const auto& known) { return known ? json::value(*known) : json::value(nullptr); }

json::object to_json(const ModelName& model, const ModelOffer& offer) {
  const ModelFacts facts = offer.catalog.facts(model);
  json::object value{{"model", model.value},
                     {"window", or_null(facts.window)},
                     {"max_output", or_null(facts.max_output)},
                     {"price", nullptr},
                     {"usable", access_of(offer, model).is_usable()}};
  if (const auto& price = facts.price) {
    value["price"] = json::object{{"input", price->input},
                                  {"output", price->output},
                                  {"cache_read", or_null(price->cache_read)},
                                  {"cache_write", or_null(price->cache_write)}};
  }
  return value;
}

json::object to_json(const KnownProvider& provider, const ModelOffer& offer) {
  json::object value{{"provider", provider.name}, {"model", provider.written}, {"about", provider.about}};
  const auto access = std::ranges::find(offer.providers, provider.name, &ProviderAccess::name);
  if (access == offer.providers.end()) return value;
  value["base_url"] = access->endpoint.base_url;
  value["key_variable"] = access->key_variable;
  value["needs_key"] = access->needs_key;
  value["has_key"] = access->has_key();
  value["usable"] = access->is_usable();
  return value;
}

}  // namespace

Ended models_command(Program& program) {
  TRY(const auto offer, program.offer());
  const auto used = chosen_model(program);
  if (program.common.output == OutputForm::text) {
    show_text(program, offer,
              used ? fmt::format("used without --model: {}", used->value)
                   : fmt::format("the model that is set cannot be used: {}; {}", used.error().error.message,
                                 program.as_typed_here(used.error().error.advice)));
    return ExitStatus::completed;
  }
  json::array models;
  for (const auto& model : offer.catalog.known()) models.emplace_back(to_json(model, offer));
  json::array providers;
  for (const auto& provider : known_providers(offer)) providers.emplace_back(to_json(provider, offer));
  json::object document{
      {"models", std::move(models)}, {"providers", std::move(providers)}, {"used", used ? used->value : ""}};
  if (!used) document["error"] = program.told(used.error().error);
  program.print(document);
  return ExitStatus::completed;
}

}  // namespace deputy
