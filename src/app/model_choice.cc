#include "app/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/places.h"
#include "base/disk_names.h"
#include "base/text.h"
#include "model/command.h"
#include "model/rehearsal.h"
#include "model/scripted.h"

namespace deputy {
namespace {

constexpr std::string_view kRehearsal = "rehearsal";
constexpr std::string_view kScripted = "scripted";
constexpr std::size_t kMostScriptBytes = 64 * 1024 * 1024;

struct Named {
  std::string_view provider;
  std::string_view rest;
};

Named parts_of(std::string_view model) {
  const std::size_t slash = model.find('/');
  if (slash == std::string_view::npos) return {model, {}};
  return {model.substr(0, slash), model.substr(slash + 1)};
}

Error unknown_provider(std::string_view model) {
  std::vector<std::string> names;
  std::vector<std::string_view> written;
  for (const auto& provider : known_providers()) {
    names.emplace_back(provider.name);
    written.push_back(provider.written);
  }
  const std::string_view provider = parts_of(model).provider;
  const auto near = nearest(provider, names, 1);
  return {ErrorCode::not_found,
          fmt::format("unknown model '{}': there is no provider '{}' here", shorten(to_utf8(model), 80),
                      shorten(to_utf8(provider), 40)),
          fmt::format("{}models here: {}", near.empty() ? "" : fmt::format("did you mean {}? ", near.front()),
                      fmt::join(written, ", "))};
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

}  // namespace

const std::vector<KnownProvider>& known_providers() {
  static const std::vector<KnownProvider> known{
      {kRehearsal, "rehearsal", "built in: a rule-based planner, not a language model; no key, no network"},
      {kScripted, "scripted/FILE", "plays a file of replies: for tests, demos and bug reports"},
  };
  return known;
}

bool is_rehearsal(const ModelName& model) { return parts_of(model.value).provider == kRehearsal; }

Result<ModelName> wanted_model(const CommonArguments& common, const Environment& environment,
                               std::string_view current_folder) {
  const std::string name =
      common.model ? *common.model : environment.get("DEPUTY_MODEL").value_or(std::string(kRehearsal));
  const auto [provider, rest] = parts_of(name);
  if (provider == kRehearsal) return ModelName(name);
  if (provider != kScripted) return std::unexpected(unknown_provider(name));
  if (rest.empty())
    return fail(ErrorCode::invalid, "the scripted model needs a script", "write scripted/FILE");
  TRY(const auto path, absolute_path(rest, current_folder));
  return ModelName(fmt::format("{}/{}", kScripted, path));
}

Result<Models> models_for(const ModelName& model, Loop& loop, const Disk& disk) {
  Models models;
  models.add(std::make_unique<CommandProvider>());
  models.add(std::make_unique<RehearsalProvider>());
  const auto [provider, rest] = parts_of(model.value);
  if (provider == kScripted) {
    TRY(auto scripted, script_at(rest, loop, disk));
    models.add(std::move(scripted));
  }
  if (!models.find(model)) return std::unexpected(unknown_provider(model.value));
  return models;
}

}  // namespace deputy
