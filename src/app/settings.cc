#include "app/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "app/places.h"
#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kProjectFile = ".deputy/config.toml";

struct SettingsFile {
  std::string path;
  bool was_named = false;  // then it must exist
};

Result<SettingsFile> own_file(const Environment& environment, const std::optional<std::string>& chosen,
                              std::string_view current) {
  for (const auto& named : {chosen, environment.get("DEPUTY_CONFIG")}) {
    if (!named) continue;
    TRY(auto path, absolute_path(*named, current));
    return SettingsFile{std::move(path), true};
  }
  // A relative one is invalid by that variable's own rules.
  if (const auto config = environment.get("XDG_CONFIG_HOME"); config && config->starts_with('/'))
    return SettingsFile{join_path(*config, "deputy/config.toml")};
  if (const auto home = environment.get("HOME"); home && home->starts_with('/'))
    return SettingsFile{join_path(*home, ".config/deputy/config.toml")};
  return SettingsFile{};
}

bool is_absent(const Error& error) { return error.code == ErrorCode::not_found; }

Result<std::optional<Settings>> read_own(const Disk& disk, const SettingsFile& file) {
  if (file.path.empty()) return std::nullopt;
  auto text = read_named_file(disk, file.path, kMostSettingsBytes);
  if (!text && is_absent(text.error()) && !file.was_named) return std::nullopt;
  if (!text)
    return fail(
        text.error().code, fmt::format("the settings: {}", text.error().message),
        file.was_named ? "name a file that can be read with --config" : "make it readable, or remove it");
  return parse_settings(*text, file.path);
}

// The folder is another's to write, so a link in it leads nowhere outside.
Result<std::optional<Settings>> read_project(const Disk& disk, std::string_view workspace) {
  const auto folder = disk.open(workspace, IfAbsent::fail);
  if (!folder) return std::nullopt;  // whoever works in it will say so
  const auto text = (*folder)->read(kProjectFile, 0, kMostSettingsBytes + 1);
  const std::string path = join_path(workspace, kProjectFile);
  if (!text && is_absent(text.error())) return std::nullopt;
  if (!text)
    return fail(text.error().code, fmt::format("the project's settings: {}", text.error().message),
                fmt::format("make {} readable, or remove it", path));
  if (text->size() > kMostSettingsBytes)
    return fail(ErrorCode::exhausted,
                fmt::format("{} is larger than {} bytes", path, with_thousands(kMostSettingsBytes)),
                "make it smaller");
  return parse_settings(*text, path);
}

template <class T, class Read>
Result<void> take_limit(const Environment& environment, const std::string& name, std::optional<T>& limit,
                        Read read, std::string_view must_be) {
  const auto text = environment.get(name);
  if (!text) return {};
  const auto value = read(*text);
  if (!value)
    return fail(ErrorCode::invalid,
                fmt::format("{} is '{}'", name, shorten(made_visible(to_utf8(*text)), 60)),
                std::string(must_be));
  limit = static_cast<T>(*value);
  return {};
}

Result<void> take_limits(const Environment& environment, LimitSettings& limits) {
  for (const auto& [name, limit] : {std::pair("DEPUTY_MAX_DEPTH", &limits.max_depth),
                                    std::pair("DEPUTY_MAX_DELEGATIONS", &limits.max_delegations),
                                    std::pair("DEPUTY_MAX_CHILDREN", &limits.max_children),
                                    std::pair("DEPUTY_MAX_LIVE", &limits.max_live)})
    TRY(take_limit(environment, name, *limit, count_limit, kWholeLimit));
  TRY(take_limit(environment, "DEPUTY_MAX_STEPS", limits.max_steps, whole_limit, kWholeLimit));
  TRY(take_limit(environment, "DEPUTY_MAX_TOKENS", limits.max_tokens, whole_limit, kWholeLimit));
  TRY(take_limit(environment, "DEPUTY_MAX_COST", limits.max_cost_micros, dollar_limit, kDollarLimit));
  return take_limit(environment, "DEPUTY_TIMEOUT", limits.timeout, time_limit, kTimeLimit);
}

}  // namespace

std::optional<int> count_limit(std::string_view text) {
  const auto number = whole_limit(text);
  if (!number) return std::nullopt;
  if (*number == kUnlimited<std::int64_t>) return kUnlimited<int>;
  return *number <= kUnlimited<int> ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<std::int64_t> whole_limit(std::string_view text) {
  if (text == "none") return kUnlimited<std::int64_t>;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<std::int64_t> dollar_limit(std::string_view text) {
  constexpr double kMost = 1e12;  // of millionths
  if (text == "none") return kUnlimited<std::int64_t>;
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const double micros = std::floor(number * 1e6 + 0.5);
  if (!(micros >= 0 && micros <= kMost) || std::signbit(number)) return std::nullopt;
  return static_cast<std::int64_t>(micros);
}

std::optional<Duration> time_limit(std::string_view text) {
  constexpr Duration kMost = std::chrono::hours(24 * 365);
  if (text == "none") return Duration::max();
  const auto time = parse_duration(text);
  return time && *time > Duration::zero() && *time <= kMost ? time : std::nullopt;
}

TreeLimits changed_by(TreeLimits limits, const LimitSettings& given) {
  const auto take = []<class T>(T& limit, std::optional<T> wanted) { limit = wanted.value_or(limit); };
  take(limits.depth, given.max_depth);
  take(limits.delegations, given.max_delegations);
  take(limits.live_children, given.max_children);
  take(limits.live_sessions, given.max_live);
  take(limits.steps, given.max_steps);
  take(limits.tokens, given.max_tokens);
  take(limits.cost_micros, given.max_cost_micros);
  take(limits.time, given.timeout);
  return limits;
}

std::optional<SearchSettings> search_of(const Settings& settings, const Environment& environment) {
  struct Usual {
    SearchService service;
    const char* address;
    const char* key;
  };
  constexpr Usual kUsual[] = {{SearchService::searxng, "SEARXNG_URL", nullptr},
                              {SearchService::brave, nullptr, "BRAVE_API_KEY"},
                              {SearchService::tavily, nullptr, "TAVILY_API_KEY"}};
  const SearchChoice& choice = settings.search;
  for (const Usual& usual : kUsual) {
    if (choice.service && *choice.service != usual.service) continue;
    SearchSettings found{.service = usual.service};
    if (usual.address) found.base_url = choice.base_url.value_or(environment.get(usual.address).value_or(""));
    if (!usual.address) found.base_url = choice.service ? choice.base_url.value_or("") : "";
    const std::string variable = choice.key_env.value_or(usual.key ? usual.key : "");
    if (!variable.empty()) found.key = environment.get(variable).value_or("");
    if (usual.address ? !found.base_url.empty() : !found.key.empty()) return found;
  }
  return std::nullopt;
}

Settings narrowing_part(const Settings& project) {
  Settings part;
  for (const Rule& rule : project.rules) {
    if (rule.decision != Decision::allow) part.rules.push_back(rule);
  }
  return part;
}

Result<Settings> with_environment(Settings settings, const Environment& environment) {
  if (auto model = environment.get("DEPUTY_MODEL")) settings.model = std::move(model);
  TRY(take_limits(environment, settings.limits));
  return settings;
}

Result<std::string> own_settings_file(const Environment& environment,
                                      const std::optional<std::string>& chosen,
                                      std::string_view current_folder) {
  TRY(auto file, own_file(environment, chosen, current_folder));
  if (file.path.empty())
    return fail(ErrorCode::unavailable, "there is no place for settings: HOME is not set",
                "set HOME, or use --config");
  return std::move(file.path);
}

Result<LoadedSettings> load_settings(const Disk& disk, const Environment& environment,
                                     const std::optional<std::string>& chosen, std::string_view workspace) {
  LoadedSettings loaded;
  TRY(const auto file, own_file(environment, chosen, disk.current_folder()));
  TRY(auto own, read_own(disk, file));
  if (own) loaded.file = file.path;
  TRY(const auto project, read_project(disk, workspace));
  TRY(loaded.settings, with_environment(std::move(own).value_or(Settings{}), environment));
  if (!project) return loaded;
  const Settings counted = narrowing_part(*project);
  loaded.settings.rules.insert(loaded.settings.rules.end(), counted.rules.begin(), counted.rules.end());
  if (counted != *project)
    loaded.ignored_notice =
        fmt::format("of {} only what it asks about and denies counts: a project cannot widen what is allowed",
                    join_path(workspace, kProjectFile));
  return loaded;
}

}  // namespace deputy
