// What a person wrote down once instead of typing it each time. Read from the person's own file, narrowed by
// the project's, then the environment; flags come last and are not known here. The text is taken apart by a
// pure function (settings_toml.cc): a key that nobody knows, or a
// value that cannot be meant, is an Error with file, line and what may have been meant. No secret stands in a
// settings file: it names the variable that holds one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/environment.h"
#include "base/result.h"
#include "delegation/admission.h"
#include "guard/rules.h"
#include "model/catalog.h"
#include "sandbox/processes.h"
#include "tools/search_engine.h"

namespace deputy {

struct ProviderSettings {
  std::optional<std::string> base_url;
  std::optional<std::string> key_env;  // the variable that holds the key
  bool operator==(const ProviderSettings&) const = default;
};

struct NetworkSettings {
  std::optional<std::string> proxy;
  std::optional<std::string> no_proxy;
  std::optional<std::string> ca_file;
  bool operator==(const NetworkSettings&) const = default;
};

struct ClockSettings {
  std::optional<Duration> connect;
  std::optional<Duration> first_event;
  std::optional<Duration> no_event;
  bool operator==(const ClockSettings&) const = default;
};

// As the flags of the same names; the largest number there is where it says none.
struct LimitSettings {
  std::optional<int> max_depth;
  std::optional<int> max_delegations;
  std::optional<int> max_children;
  std::optional<int> max_live;
  std::optional<std::int64_t> max_steps = std::nullopt;
  std::optional<std::int64_t> max_tokens = std::nullopt;
  std::optional<std::int64_t> max_cost_micros = std::nullopt;
  std::optional<Duration> timeout = std::nullopt;
  bool operator==(const LimitSettings&) const = default;
};

// A limit as it is typed: "none", or a number from 0 on. Nothing where it is neither.
std::optional<int> count_limit(std::string_view text);
std::optional<std::int64_t> whole_limit(std::string_view text);
std::optional<std::int64_t> dollar_limit(std::string_view text);  // in millionths
std::optional<Duration> time_limit(std::string_view text);        // "90s", "5m", "1h"

inline constexpr std::string_view kWholeLimit = "it must be a whole number from 0 on, or none";
inline constexpr std::string_view kDollarLimit = "it must be US dollars such as 0.50, or none";
inline constexpr std::string_view kTimeLimit = "it must be a time above 0 such as 90s, 5m or 1h, or none";

// Those that were given in place of what stands there.
TreeLimits changed_by(TreeLimits limits, const LimitSettings& given);

struct SandboxChoice {
  std::optional<SandboxLevel> least;  // below it no command runs
  std::optional<bool> network;        // whether commands may have one
  bool operator==(const SandboxChoice&) const = default;
};

struct SearchChoice {
  std::optional<SearchService> service;
  std::optional<std::string> base_url;
  std::optional<std::string> key_env;  // the variable that holds the key
  bool operator==(const SearchChoice&) const = default;
};

// How much of a long report a parent is shown; see ReportBounds.
struct ReportSettings {
  std::optional<int> report_bytes;
  std::optional<int> batch_bytes;
  bool operator==(const ReportSettings&) const = default;
};

// How much the context files of a task may hold; see ContextBounds.
struct ContextSettings {
  std::optional<int> file_bytes;
  std::optional<int> task_bytes;
  bool operator==(const ContextSettings&) const = default;
};

struct Settings {
  std::optional<std::string> model;
  std::optional<std::string> base_url;  // of the provider `compatible`
  std::map<std::string, ProviderSettings> providers;
  std::map<std::string, FactsOverride> models;  // by provider/name
  NetworkSettings network;
  ClockSettings clocks;
  LimitSettings limits;
  SandboxChoice sandbox;
  SearchChoice search;
  ReportSettings reports;
  ContextSettings context;
  std::vector<Rule> rules;
  std::vector<std::string> allowed_paths;  // folders beside the workspace: absolute, or in the home (~/…)
  bool operator==(const Settings&) const = default;
};

// The service that WebSearch asks: the one that is set, else one whose key stands in its usual variable.
std::optional<SearchSettings> search_of(const Settings& settings, const Environment& environment);

inline constexpr std::size_t kMostAllowedPaths = 8;
inline constexpr std::size_t kMostSettingsBytes = 1024 * 1024;

// `file` is for messages alone.
Result<Settings> parse_settings(std::string_view text, std::string_view file);

// What counts of a project's own file while nobody has said that the folder is trusted: what it asks about
// and denies.
Settings narrowing_part(const Settings& project);

// Settings of the environment, DEPUTY_…, over those of a file.
Result<Settings> with_environment(Settings settings, const Environment& environment);

// Where the person's own settings lie, or would lie: see load_settings.
Result<std::string> own_settings_file(const Environment& environment,
                                      const std::optional<std::string>& chosen,
                                      std::string_view current_folder);

struct LoadedSettings {
  Settings settings;
  std::string file;            // the person's own; empty where there is none
  std::string ignored_notice;  // for the person: what of the project's file does not count; mostly empty
};

// `chosen` is --config, a file that must exist; without it DEPUTY_CONFIG,
// $XDG_CONFIG_HOME/deputy/config.toml,
// ~/.config/deputy/config.toml. `workspace` is an absolute path.
Result<LoadedSettings> load_settings(const Disk& disk, const Environment& environment,
                                     const std::optional<std::string>& chosen, std::string_view workspace);

}  // namespace deputy
