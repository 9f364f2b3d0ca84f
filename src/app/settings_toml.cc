#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <limits>

#include "app/settings.h"
#include "base/text.h"
#include "base/toml.h"

namespace deputy {
namespace {

constexpr std::size_t kMostShown = 60;
constexpr std::int64_t kMostTokens = 1'000'000'000;
constexpr double kMostDollars = 1'000'000;
constexpr std::int64_t kLeastReportBytes = 1024;
constexpr std::int64_t kMostReportBytes = 16 * 1024 * 1024;
constexpr Duration kLongestClock = std::chrono::hours(24);

const std::vector<std::string> kProviders{"anthropic", "openai", "openai-chat",
                                          "gemini",    "ollama", "compatible"};

std::string shown(std::string_view text) { return shorten(made_visible(to_utf8(text)), kMostShown); }

// Where a value stands: for messages.
struct Spot {
  std::string_view file;
  std::string key;  // with those above it: "clocks.connect"

  Spot in(std::string_view name) const {
    const bool is_plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-';
    });
    const std::string word = is_plain ? shown(name) : fmt::format("\"{}\"", shown(name));
    return {file, key.empty() ? word : fmt::format("{}.{}", key, word)};
  }
};

std::unexpected<Error> mistake(const Spot& place, int line, std::string_view what, std::string advice) {
  return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", place.file, line, what), std::move(advice));
}

std::unexpected<Error> wrong(const Spot& place, const TomlValue& node, std::string_view must_be) {
  std::string found = "a date or time";
  if (const auto* text = node.as<std::string>()) {
    // A proxy's address may hold a password.
    found = text->contains('@') ? "a text" : fmt::format("\"{}\"", shown(*text));
  } else if (const auto* number = node.as<std::int64_t>()) {
    found = fmt::format("{}", *number);
  } else if (node.as<double>()) {
    found = "a fraction";
  } else if (node.as<bool>()) {
    found = "a yes or no";
  } else if (node.as<TomlList>()) {
    found = "a list";
  } else if (node.as<TomlTable>()) {
    found = "a table";
  }
  return mistake(place, node.line, fmt::format("{} is {}", place.key, found),
                 fmt::format("it must be {}", must_be));
}

Result<std::string> text_of(const TomlValue& node, const Spot& place, std::string_view must_be) {
  const auto* text = node.as<std::string>();
  if (!text || text->empty() || made_visible(*text) != *text ||
      text->find_first_of("\n\r\t") != std::string::npos)
    return wrong(place, node, must_be);
  return *text;
}

Result<std::string> url_of(const TomlValue& node, const Spot& place) {
  constexpr std::string_view kMust = "an address such as \"http://127.0.0.1:8080/v1\"";
  TRY(auto text, text_of(node, place, kMust));
  const bool is_web = text.starts_with("http://") || text.starts_with("https://");
  if (!is_web || text.contains(' ')) return wrong(place, node, kMust);
  return text;
}

Result<std::string> variable_of(const TomlValue& node, const Spot& place) {
  constexpr std::string_view kMust =
      "the name of an environment variable such as \"MY_API_KEY\", not a key itself";
  const auto* text = node.as<std::string>();
  const bool is_name =
      text && !text->empty() && !(text->front() >= '0' && text->front() <= '9') &&
      std::ranges::all_of(*text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (is_name) return *text;
  // Never shown: it may be the key.
  return mistake(place, node.line, fmt::format("{} is not a variable's name", place.key),
                 fmt::format("it must be {}", kMust));
}

Result<std::int64_t> tokens_of(const TomlValue& node, const Spot& place) {
  const auto* number = node.as<std::int64_t>();
  if (number && *number >= 1 && *number <= kMostTokens) return *number;
  return wrong(place, node, "a whole number of tokens");
}

Result<double> dollars_of(const TomlValue& node, const Spot& place) {
  const auto* whole = node.as<std::int64_t>();
  const auto* fraction = node.as<double>();
  const double number = whole ? static_cast<double>(*whole) : fraction ? *fraction : -1;
  if (std::isfinite(number) && number >= 0 && number <= kMostDollars) return number;
  return wrong(place, node, "dollars for a million tokens, such as 2.5");
}

Result<Duration> duration_of(const TomlValue& node, const Spot& place) {
  const auto* text = node.as<std::string>();
  const auto duration = text ? parse_duration(*text) : std::nullopt;
  if (duration && *duration > Duration::zero() && *duration <= kLongestClock) return *duration;
  return wrong(place, node, "a time such as \"10s\" or \"2m\", at most 24h");
}

// A number may stand as it is; `read` knows its text.
template <class Read>
auto limit_by(Read read, std::string_view must_be) {
  using T = typename std::invoke_result_t<Read, std::string_view>::value_type;
  return [read, must_be](const TomlValue& node, const Spot& place) -> Result<T> {
    std::optional<T> limit;
    if (const auto* text = node.as<std::string>()) limit = read(*text);
    if (const auto* number = node.as<std::int64_t>()) limit = read(fmt::format("{}", *number));
    if (const auto* number = node.as<double>()) limit = read(fmt::format("{}", *number));
    if (limit) return *limit;
    return wrong(place, node, must_be.substr(must_be.find("be ") + 3));
  };
}

Result<int> bytes_of(const TomlValue& node, const Spot& place) {
  const auto* number = node.as<std::int64_t>();
  if (number && *number >= kLeastReportBytes && *number <= kMostReportBytes) return static_cast<int>(*number);
  return wrong(place, node,
               fmt::format("a number of bytes from {} to {}", kLeastReportBytes, kMostReportBytes));
}

Result<SandboxLevel> level_of(const TomlValue& node, const Spot& place) {
  const auto* number = node.as<std::int64_t>();
  if (number && *number >= 0 && *number <= 3) return static_cast<SandboxLevel>(*number);
  return wrong(place, node, "a level from 0 to 3; `deputy doctor` tells what this machine has");
}

Result<bool> yes_or_no(const TomlValue& node, const Spot& place) {
  if (const auto* value = node.as<bool>()) return *value;
  return wrong(place, node, "true or false");
}

Result<SearchService> service_of(const TomlValue& node, const Spot& place) {
  const auto* text = node.as<std::string>();
  if (const auto service = text ? search_service_from(*text) : std::nullopt) return *service;
  return wrong(place, node, "\"searxng\", \"brave\" or \"tavily\"");
}

using Take = std::function<Result<void>(const TomlValue&, const Spot&)>;
struct Key {
  std::string name;
  Take take;
};

// Into an optional, by the function that knows what the value may be.
template <class T, class Read>
Take into(std::optional<T>& target, Read read) {
  return [&target, read](const TomlValue& node, const Spot& place) -> Result<void> {
    TRY(target, read(node, place));
    return {};
  };
}

Result<std::string> plain_text(const TomlValue& node, const Spot& place) {
  return text_of(node, place, "a text on one line");
}

Result<void> read_table(const TomlValue& node, const Spot& place, const std::vector<Key>& keys) {
  const auto* table = node.as<TomlTable>();
  if (!table) return wrong(place, node, "a table");
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(key.name);
  for (const auto& [name, line, value] : *table) {
    const auto known = std::ranges::find(keys, name, &Key::name);
    if (known != keys.end()) {
      TRY(known->take(value, place.in(name)));
      continue;
    }
    const auto near = nearest(name, names, 1);
    return mistake(place, line, fmt::format("unknown key {}", place.in(name).key),
                   near.empty() ? fmt::format("known here: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean {}?", near.front()));
  }
  return {};
}

Take table_of(std::vector<Key> keys) {
  return [keys = std::move(keys)](const TomlValue& node, const Spot& place) {
    return read_table(node, place, keys);
  };
}

Take rules_into(std::vector<Rule>& rules, Decision decision) {
  return [&rules, decision](const TomlValue& node, const Spot& place) -> Result<void> {
    constexpr std::string_view kMust = "a list of rules such as [\"Read(secrets/**)\"]";
    const auto* list = node.as<TomlList>();
    if (!list) return wrong(place, node, kMust);
    for (const auto& each : *list) {
      const auto* text = each.as<std::string>();
      if (!text) return wrong(place, each, kMust);
      auto rule = parse_rule(decision, *text);
      if (!rule)
        return mistake(place, each.line, fmt::format("{}: {}", place.key, rule.error().message),
                       rule.error().advice);
      rules.push_back(*std::move(rule));
    }
    return {};
  };
}

Take paths_into(std::vector<std::string>& paths) {
  return [&paths](const TomlValue& node, const Spot& place) -> Result<void> {
    const std::string must =
        fmt::format("a list of at most {} folders, each absolute or in your home, such as [\"~/notes\"]",
                    kMostAllowedPaths);
    const auto* list = node.as<TomlList>();
    if (!list || list->size() > kMostAllowedPaths) return wrong(place, node, must);
    for (const auto& each : *list) {
      TRY(auto path, text_of(each, place, must));
      const bool is_folder = (path.starts_with('/') && path.size() > 1) || path.starts_with("~/");
      if (!is_folder) return wrong(place, each, must);
      paths.push_back(std::move(path));
    }
    return {};
  };
}

Result<void> read_providers(std::map<std::string, ProviderSettings>& providers, const TomlValue& node,
                            const Spot& place) {
  std::vector<Key> keys;
  for (const auto& name : kProviders) {
    keys.push_back({name, [&providers, name](const TomlValue& value, const Spot& at) {
                      auto& provider = providers[name];
                      return read_table(value, at,
                                        {{"base_url", into(provider.base_url, url_of)},
                                         {"key_env", into(provider.key_env, variable_of)}});
                    }});
  }
  return read_table(node, place, keys);
}

Result<void> read_models(std::map<std::string, FactsOverride>& models, const TomlValue& node,
                         const Spot& place) {
  const auto* table = node.as<TomlTable>();
  if (!table) return wrong(place, node, "a table");
  for (const auto& [model, line, value] : *table) {
    const Spot at = place.in(model);
    const std::size_t slash = model.find('/');
    if (slash == std::string::npos || slash + 1 == model.size() ||
        std::ranges::find(kProviders, model.substr(0, slash)) == kProviders.end())
      return mistake(
          at, line, fmt::format("{} is no model's name", at.key),
          fmt::format("write [models.\"PROVIDER/NAME\"] with one of: {}", fmt::join(kProviders, ", ")));
    auto& facts = models[model];
    TRY(read_table(value, at,
                   {{"window", into(facts.window, tokens_of)},
                    {"max_output", into(facts.max_output, tokens_of)},
                    {"input", into(facts.input, dollars_of)},
                    {"output", into(facts.output, dollars_of)},
                    {"cache_read", into(facts.cache_read, dollars_of)},
                    {"cache_write", into(facts.cache_write, dollars_of)}}));
  }
  return {};
}

Take limits_into(LimitSettings& limits) {
  const auto count = limit_by(count_limit, kWholeLimit);
  const auto whole = limit_by(whole_limit, kWholeLimit);
  return table_of({{"max_depth", into(limits.max_depth, count)},
                   {"max_delegations", into(limits.max_delegations, count)},
                   {"max_children", into(limits.max_children, count)},
                   {"max_live", into(limits.max_live, count)},
                   {"max_steps", into(limits.max_steps, whole)},
                   {"max_tokens", into(limits.max_tokens, whole)},
                   {"max_cost", into(limits.max_cost_micros, limit_by(dollar_limit, kDollarLimit))},
                   {"timeout", into(limits.timeout, limit_by(time_limit, kTimeLimit))}});
}

std::vector<Key> keys_of(Settings& settings) {
  auto& [model, base_url, providers, models, network, clocks, limits, sandbox, search, reports, context,
         rules, allowed_paths] = settings;
  return {
      {"model", into(model, plain_text)},
      {"base_url", into(base_url, url_of)},
      {"allowed_paths", paths_into(allowed_paths)},
      {"providers",
       [&providers](const auto& node, const auto& at) { return read_providers(providers, node, at); }},
      {"models", [&models](const auto& node, const auto& at) { return read_models(models, node, at); }},
      {"network", table_of({{"proxy", into(network.proxy, url_of)},
                            {"no_proxy", into(network.no_proxy, plain_text)},
                            {"ca_file", into(network.ca_file, plain_text)}})},
      {"clocks", table_of({{"connect", into(clocks.connect, duration_of)},
                           {"first_event", into(clocks.first_event, duration_of)},
                           {"no_event", into(clocks.no_event, duration_of)}})},
      {"limits", limits_into(limits)},
      {"sandbox",
       table_of({{"least", into(sandbox.least, level_of)}, {"network", into(sandbox.network, yes_or_no)}})},
      {"search", table_of({{"service", into(search.service, service_of)},
                           {"base_url", into(search.base_url, url_of)},
                           {"key_env", into(search.key_env, variable_of)}})},
      {"reports", table_of({{"report_bytes", into(reports.report_bytes, bytes_of)},
                            {"batch_bytes", into(reports.batch_bytes, bytes_of)}})},
      {"context", table_of({{"file_bytes", into(context.file_bytes, bytes_of)},
                            {"task_bytes", into(context.task_bytes, bytes_of)}})},
      {"permissions", table_of({{"allow", rules_into(rules, Decision::allow)},
                                {"ask", rules_into(rules, Decision::ask)},
                                {"deny", rules_into(rules, Decision::deny)}})},
  };
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, std::string_view file) {
  TRY(const auto table, parse_toml(text, file));
  Settings settings;
  TRY(read_table(table, {.file = file, .key = ""}, keys_of(settings)));
  return settings;
}

}  // namespace deputy
