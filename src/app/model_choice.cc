#include "app/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/places.h"
#include "base/disk_names.h"
#include "base/json.h"
#include "base/text.h"
#include "model/command.h"
#include "model/http_provider.h"
#include "model/rehearsal.h"
#include "model/scripted.h"

namespace deputy {
namespace {

constexpr std::string_view kRehearsal = "rehearsal";
constexpr std::string_view kScripted = "scripted";
constexpr std::size_t kMostScriptBytes = 64 * 1024 * 1024;
constexpr std::size_t kMostTagsBytes = 1024 * 1024;
constexpr std::size_t kMostNameBytes = 200;
constexpr auto kOllamaConnects = std::chrono::milliseconds(300);
constexpr auto kOllamaAnswers = std::chrono::seconds(1);

struct Named {
  std::string_view provider;
  std::string_view rest;
};

Named parts_of(std::string_view model) {
  const std::size_t slash = model.find('/');
  if (slash == std::string_view::npos) return {model, {}};
  return {model.substr(0, slash), model.substr(slash + 1)};
}

const ProviderAccess* access_of(const ModelOffer& offer, std::string_view provider) {
  const auto found = std::ranges::find(offer.providers, provider, &ProviderAccess::name);
  return found == offer.providers.end() ? nullptr : &*found;
}

std::vector<std::string> provider_names(const ModelOffer& offer) {
  std::vector<std::string> names;
  for (const auto& provider : known_providers(offer)) names.push_back(provider.name);
  return names;
}

// Where the script says, a line a request. A log that cannot be written must not change what is tested.
ScriptedProvider::Log log_to(const Disk& disk, std::shared_ptr<std::string> path) {
  return [&disk, path = std::move(path)](std::string_view line) {
    const auto [parent, leaf] = split_name(*path);
    if (const auto folder = disk.open(parent.empty() ? "/" : parent, IfAbsent::fail)) {
      (void)(*folder)->append_to(leaf, fmt::format("{}\n", line));
    }
  };
}

Result<std::unique_ptr<ScriptedProvider>> script_at(std::string_view path, Loop& loop, const Disk& disk) {
  auto script = read_named_file(disk, path, kMostScriptBytes);
  if (!script)
    return fail(script.error().code, fmt::format("the script of the model: {}", script.error().message),
                script.error().advice);
  auto log_path = std::make_shared<std::string>();
  auto provider = ScriptedProvider::parse(*script, loop, log_to(disk, log_path));
  if (!provider)
    return fail(provider.error().code, fmt::format("{}: {}", path, provider.error().message),
                provider.error().advice);
  if (!(*provider)->log_path().empty()) {
    TRY(*log_path, absolute_path((*provider)->log_path(), disk.current_folder()));
  }
  return provider;
}

Result<ModelName> model_with_provider(Named named, const ProviderAccess& access) {
  const std::string_view name = named.rest.empty() ? access.default_model : named.rest;
  if (name.empty())
    return fail(ErrorCode::invalid, fmt::format("'{}' does not say which model", access.name),
                fmt::format("write {}/NAME with a model of that server", access.name));
  if (made_visible(to_utf8(name)) != name || name.find_first_of(" \t\r\n") != std::string_view::npos)
    return fail(
        ErrorCode::invalid, fmt::format("'{}' is no model's name", shorten(made_visible(to_utf8(name)), 80)),
        "a name has no spaces and no invisible characters; `deputy models` lists those that are known");
  return ModelName(fmt::format("{}/{}", access.name, name));
}

// A model may go by its bare name here; its facts are found under the whole one.
std::unique_ptr<Provider> http_provider(const ProviderAccess& access, const ModelOffer& offer,
                                        Connections& connections, Loop& loop) {
  return std::make_unique<HttpProvider>(HttpProvider::Parts{
      .dialect = dialect_of(access, offer.catalog),
      .endpoint = access.endpoint,
      .key_variable = access.needs_key ? access.key_variable : "",
      .network = connections.network,
      .loop = loop,
      .random = connections.random,
      .governors = connections.governors,
      .facts =
          [catalog = offer.catalog, provider = access.name](const ModelName& model) {
            return catalog.facts(ModelName(fmt::format("{}/{}", provider, bare_name(model))));
          },
      .clocks = clocks_of(offer.settings.clocks),
      .patience = patience_with(access.endpoint.base_url)});
}

}  // namespace

Clocks clocks_of(const ClockSettings& settings) {
  Clocks clocks;
  clocks.connect = settings.connect.value_or(clocks.connect);
  clocks.first_event = settings.first_event.value_or(clocks.first_event);
  clocks.no_event = settings.no_event.value_or(clocks.no_event);
  return clocks;
}

ModelOffer model_offer(const Settings& settings, const Environment& environment) {
  return {.catalog = Catalog(settings.models),
          .providers = provider_access(settings, environment),
          .settings = settings};
}

std::vector<KnownProvider> known_providers(const ModelOffer& offer) {
  std::vector<KnownProvider> known;
  for (const auto& access : offer.providers)
    known.push_back({access.name, fmt::format("{}/NAME", access.name), std::string(access.about)});
  known.push_back({std::string(kRehearsal), "rehearsal",
                   "built in: a rule-based planner, not a language model; no key, no network"});
  known.push_back(
      {std::string(kScripted), "scripted/FILE", "plays a file of replies: for tests, demos and bug reports"});
  return known;
}

bool is_rehearsal(const ModelName& model) { return parts_of(model.value).provider == kRehearsal; }

Result<ModelName> named_model(std::string_view text, const ModelOffer& offer,
                              std::string_view current_folder) {
  const Named named = parts_of(text);
  if (text == kRehearsal) return ModelName(std::string(text));
  if (named.provider == kRehearsal)
    return fail(ErrorCode::invalid,
                fmt::format("there is one rehearsal model, and none called '{}'",
                            shorten(made_visible(to_utf8(named.rest)), 80)),
                "write rehearsal alone");
  if (named.provider == kScripted) {
    if (named.rest.empty())
      return fail(ErrorCode::invalid, "the scripted model needs a script", "write scripted/FILE");
    TRY(const auto path, absolute_path(named.rest, current_folder));
    return ModelName(fmt::format("{}/{}", kScripted, path));
  }
  if (const auto* access = access_of(offer, named.provider)) return model_with_provider(named, *access);
  if (const auto owner = offer.catalog.provider_of(text))
    return ModelName(fmt::format("{}/{}", *owner, text));
  return std::unexpected(unknown_model(text, provider_names(offer), offer.catalog));
}

std::optional<ModelName> model_by_key(const ModelOffer& offer) {
  for (const auto& access : offer.providers) {
    if (access.has_key() && access.needs_key)
      return ModelName(fmt::format("{}/{}", access.name, access.default_model));
  }
  return std::nullopt;
}

std::vector<std::string> ollama_model_names(std::string_view body) {
  std::vector<std::string> names;
  const auto answer = parse_json_object(body);
  const auto* models = answer ? array_at(*answer, "models") : nullptr;
  for (const auto& model : models ? *models : json::array()) {
    const auto name = model.is_object() ? string_at(model.as_object(), "name") : std::nullopt;
    const bool can_be_used = name && !name->empty() && name->size() <= kMostNameBytes &&
                             made_visible(*name) == *name &&
                             name->find_first_of(" \t\r\n") == std::string::npos;
    if (can_be_used) names.push_back(*name);
  }
  return names;
}

Task<std::optional<ModelName>> model_of_ollama(Network& network, Loop& loop, ModelOffer offer) {
  const auto* access = access_of(offer, "ollama");
  if (!access || access->endpoint.base_url.empty()) co_return std::nullopt;
  StopSource deadline;
  deadline.set_deadline(loop.timers(), loop.clock().now() + kOllamaAnswers);
  std::string body;
  HttpRequest request{.url = access->endpoint.base_url + "/api/tags", .connect_timeout = kOllamaConnects};
  HttpSink sink{.start = {}, .bytes = [&body, &deadline](std::string_view bytes) {
                  body += bytes;
                  if (body.size() > kMostTagsBytes) deadline.request(StopReason::stalled);
                }};
  const auto end = co_await network.exchange(std::move(request), std::move(sink), deadline.token());
  if (!end || end->status != 200) co_return std::nullopt;
  const auto names = ollama_model_names(body);
  if (names.empty()) co_return std::nullopt;
  co_return ModelName(fmt::format("ollama/{}", names.front()));
}

Result<void> check_access(const ModelName& model, const ModelOffer& offer) {
  const auto* access = access_of(offer, parts_of(model.value).provider);
  if (!access || access->is_usable()) return {};
  if (!access->wrong_address.empty())
    return fail(ErrorCode::invalid, fmt::format("{} is no address that can be used", access->wrong_address),
                "it must begin with http:// or https:// and hold no spaces");
  if (access->endpoint.base_url.empty())
    return fail(ErrorCode::invalid, fmt::format("no address for provider {}", access->name),
                "set base_url in the settings, or DEPUTY_BASE_URL, to the server's address, such as "
                "http://127.0.0.1:8080/v1");
  std::vector<std::string_view> others;
  for (const auto& other : offer.providers) {
    if (other.has_key()) others.push_back(other.name);
  }
  return fail(
      ErrorCode::denied, fmt::format("no API key for provider {}", access->name),
      fmt::format("set {}; {}", access->key_variable,
                  others.empty() ? "no provider has a key here; --model rehearsal needs none"
                                 : fmt::format("providers with a key here: {}", fmt::join(others, ", "))));
}

Result<Models> models_for(const ModelName& model, const ModelOffer& offer, Connections& connections,
                          Loop& loop, const Disk& disk) {
  Models models(offer.catalog);
  models.add_driver(std::make_unique<CommandProvider>());
  models.add(std::make_unique<RehearsalProvider>());
  for (const auto& access : offer.providers) {
    if (!access.endpoint.base_url.empty()) models.add(http_provider(access, offer, connections, loop));
  }
  // Only where the person plays scripts: what a profile or a model names opens no file of theirs.
  if (parts_of(model.value).provider == kScripted) {
    models.add_maker(std::string(kScripted),
                     [&loop, &disk](std::string_view path) -> Result<std::unique_ptr<Provider>> {
                       return script_at(path, loop, disk);
                     });
  }
  TRY(models.find(model));
  return models;
}

}  // namespace deputy
