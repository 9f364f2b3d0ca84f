#include "model/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace deputy {

void Models::add(std::unique_ptr<Provider> provider) {
  std::string name(provider->name());
  providers_.insert_or_assign(std::move(name), std::move(provider));
}

Result<Provider*> Models::find(const ModelName& model) const {
  const std::string_view name = std::string_view(model.value).substr(0, model.value.find('/'));
  if (const auto found = providers_.find(name); found != providers_.end()) return found->second.get();
  const auto known = provider_names();
  const auto near = nearest(name, known);
  return fail(ErrorCode::not_found,
              fmt::format("unknown model '{}': there is no provider '{}'", shorten(model.value, 80),
                          shorten(name, 40)),
              near.empty()
                  ? fmt::format("write it as PROVIDER/NAME; providers here: {}", fmt::join(known, ", "))
                  : fmt::format("did you mean '{}'?", near.front()));
}

std::vector<std::string> Models::provider_names() const {
  std::vector<std::string> names;
  for (const auto& [name, provider] : providers_) names.push_back(name);
  return names;
}

}  // namespace deputy
