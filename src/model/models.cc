#include "model/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostShown = 80;

std::string_view provider_part(std::string_view model) { return model.substr(0, model.find('/')); }

}  // namespace

void Models::add(std::unique_ptr<Provider> provider) {
  std::string name(provider->name());
  providers_.insert_or_assign(std::move(name), std::move(provider));
}

void Models::add_maker(std::string provider, Maker maker) {
  makers_.insert_or_assign(std::move(provider), std::move(maker));
}

void Models::add_driver(std::unique_ptr<Provider> driver) {
  std::string name(driver->name());
  drivers_.insert_or_assign(std::move(name), std::move(driver));
}

Result<Provider*> Models::made(std::string_view model, const Maker& maker) const {
  if (const auto known = made_.find(model); known != made_.end()) return known->second.get();
  const std::size_t slash = std::min(model.find('/'), model.size() - 1);
  TRY(auto provider, maker(model.substr(slash + 1)));
  return made_.emplace(model, std::move(provider)).first->second.get();
}

Result<Provider*> Models::find(const ModelName& model) const {
  const auto maker = makers_.find(provider_part(model.value));
  if (maker != makers_.end()) return made(model.value, maker->second);
  auto found = providers_.find(provider_part(model.value));
  if (const auto owner = catalog_.provider_of(model.value); found == providers_.end() && owner) {
    found = providers_.find(*owner);
  }
  if (found != providers_.end()) return found->second.get();
  return std::unexpected(unknown_model(model.value, provider_names(), catalog_));
}

Result<Provider*> Models::driver(std::string_view name) const {
  if (const auto found = drivers_.find(name); found != drivers_.end()) return found->second.get();
  return fail(ErrorCode::internal, fmt::format("nothing plays '{}' here", name));
}

std::vector<std::string> Models::provider_names() const {
  std::vector<std::string> names;
  for (const auto& [name, provider] : providers_) names.push_back(name);
  for (const auto& [name, maker] : makers_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

Error unknown_model(std::string_view model, const std::vector<std::string>& providers,
                    const Catalog& catalog) {
  const std::string shown = shorten(to_utf8(model), kMostShown);
  const std::string provider = shorten(to_utf8(provider_part(model)), kMostShown);
  std::vector<std::string> candidates = providers;
  if (!model.contains('/')) {
    for (const auto& known : catalog.known()) {
      candidates.emplace_back(std::string_view(known.value).substr(known.value.find('/') + 1));
    }
  }
  const auto near = nearest(provider, candidates);
  return {ErrorCode::not_found,
          model.contains('/')
              ? fmt::format("unknown model '{}': there is no provider '{}' here", shown, provider)
              : fmt::format("unknown model '{}': neither a known model nor a provider has that name", shown),
          fmt::format("{}write it as PROVIDER/NAME with one of: {}",
                      near.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(near, " or ")),
                      fmt::join(providers, ", "))};
}

}  // namespace deputy
