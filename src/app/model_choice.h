// Which model is used, and the providers that this process has for it: --model, DEPUTY_MODEL, the settings,
// the first provider with a key, a local Ollama that answers, the rehearsal model. A name that nobody knows
// is refused, never replaced by another; a name that only its provider can know is taken as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/connections.h"
#include "app/provider_access.h"
#include "app/settings.h"
#include "async/loop.h"
#include "base/disk.h"
#include "model/attempt.h"
#include "model/models.h"

namespace deputy {

// What there is to choose from.
struct ModelOffer {
  Catalog catalog;
  std::vector<ProviderAccess> providers;
  Settings settings;
};
ModelOffer model_offer(const Settings& settings, const Environment& environment);

// What a person wrote as provider/name. A known name needs no provider, a provider with a default needs no
// name. A script is named by its whole path, so that a resume finds it from any folder.
Result<ModelName> named_model(std::string_view text, const ModelOffer& offer,
                              std::string_view current_folder);

// The default of the first provider that has a key.
std::optional<ModelName> model_by_key(const ModelOffer& offer);

// The first model that the offer's Ollama has, if one answers at once.
Task<std::optional<ModelName>> model_of_ollama(Network& network, Loop& loop, ModelOffer offer);
// The names in what Ollama answers on /api/tags; none where it is no such answer.
std::vector<std::string> ollama_model_names(std::string_view body);

// Whether it can be used at all: its provider has a key, where it needs one, and an address.
Result<void> check_access(const ModelName& model, const ModelOffer& offer);

bool is_rehearsal(const ModelName& model);

// Every provider that can be named here, so that a task may name another model than `model`, and the one that
// plays commands.
Result<Models> models_for(const ModelName& model, const ModelOffer& offer, Connections& connections,
                          Loop& loop, const Disk& disk);

// What a person set, and the usual for the rest.
Clocks clocks_of(const ClockSettings& settings);

struct KnownProvider {
  std::string name;
  std::string written;  // how a model of it is named
  std::string about;
};
// Those of the offer and those that need no network.
std::vector<KnownProvider> known_providers(const ModelOffer& offer);

}  // namespace deputy
