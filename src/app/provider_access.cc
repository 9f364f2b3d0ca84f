#include "app/provider_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/anthropic.h"
#include "model/gemini.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"

namespace deputy {
namespace {

// A provider as it is without any setting.
struct Usual {
  std::string_view name;
  std::vector<std::string_view> key_variables;  // the first that is set holds the key
  bool needs_key;
  std::string_view address_variable;
  std::string_view address;
  std::string_view default_model;
  std::string_view about;
};

const std::vector<Usual>& usual_providers() {
  static const std::vector<Usual> usual{
      {"anthropic",
       {"ANTHROPIC_API_KEY"},
       true,
       "ANTHROPIC_BASE_URL",
       "https://api.anthropic.com",
       "claude-sonnet-5",
       "Claude, by the Messages API"},
      {"openai",
       {"OPENAI_API_KEY"},
       true,
       "OPENAI_BASE_URL",
       "https://api.openai.com/v1",
       "gpt-5.6-terra",
       "OpenAI, by the Responses API"},
      {"gemini",
       {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
       true,
       "GEMINI_BASE_URL",
       "https://generativelanguage.googleapis.com",
       "gemini-3.6-flash",
       "Gemini, by Google's Gemini API"},
      {"openai-chat",
       {"OPENAI_API_KEY"},
       true,
       "OPENAI_BASE_URL",
       "https://api.openai.com/v1",
       "gpt-5.6-terra",
       "OpenAI, by the older Chat Completions API"},
      {"ollama",
       {"OLLAMA_API_KEY"},
       false,
       "OLLAMA_HOST",
       "http://127.0.0.1:11434",
       "",
       "an Ollama server, on this machine or where OLLAMA_HOST says"},
      {"compatible",
       {"COMPATIBLE_API_KEY"},
       false,
       "DEPUTY_BASE_URL",
       "",
       "",
       "any server that speaks OpenAI's Chat Completions: llama.cpp, vLLM, LM Studio, OpenRouter"},
  };
  return usual;
}

bool is_address(std::string_view text) {
  return (text.starts_with("http://") || text.starts_with("https://")) &&
         std::ranges::none_of(text, [](unsigned char c) { return c <= ' ' || c >= 0x7f; });
}

// OpenAI is one account, by either of its APIs: what is set for `openai` holds for `openai-chat` too. Not in
// part: a key goes to no other address than the one that it was named with.
const ProviderSettings* set_for(std::string_view provider, const Settings& settings) {
  auto found = settings.providers.find(std::string(provider));
  if (found == settings.providers.end() && provider == "openai-chat")
    found = settings.providers.find("openai");
  return found == settings.providers.end() ? nullptr : &found->second;
}

struct Address {
  std::string text;
  std::string from;
};

// The environment, then the settings, then what is usual.
Address address_of(const Usual& usual, const Settings& settings, const Environment& environment) {
  if (const auto set = environment.get(usual.address_variable)) {
    return {usual.name == "ollama" ? ollama_address(*set) : *set, std::string(usual.address_variable)};
  }
  if (usual.name == "compatible" && settings.base_url) return {*settings.base_url, "base_url"};
  if (const auto* set = set_for(usual.name, settings); set != nullptr && set->base_url)
    return {*set->base_url, fmt::format("base_url of {}", usual.name)};
  return {std::string(usual.address), ""};
}

void take_key(ProviderAccess& access, const Usual& usual, const Settings& settings,
              const Environment& environment) {
  if (const auto* set = set_for(usual.name, settings); set != nullptr && set->key_env) {
    access.key_variable = *set->key_env;
    access.endpoint.key = environment.get(access.key_variable).value_or("");
    return;
  }
  access.key_variable = usual.key_variables.front();
  for (const std::string_view variable : usual.key_variables) {
    auto key = environment.get(variable);
    if (!key) continue;
    access.key_variable = variable;
    access.endpoint.key = *std::move(key);
    return;
  }
}

ProviderAccess access_to(const Usual& usual, const Settings& settings, const Environment& environment) {
  ProviderAccess access{.name = std::string(usual.name),
                        .endpoint = {},
                        .key_variable = {},
                        .needs_key = usual.needs_key,
                        .default_model = std::string(usual.default_model),
                        .about = usual.about,
                        .wrong_address = {}};
  auto [address, from] = address_of(usual, settings, environment);
  while (address.ends_with('/')) address.pop_back();
  if (address.empty() || is_address(address)) {
    access.endpoint.base_url = std::move(address);
  } else {
    access.wrong_address = std::move(from);
  }
  take_key(access, usual, settings, environment);
  return access;
}

}  // namespace

std::optional<std::string> credentials_in(std::string_view address) {
  const std::size_t scheme = address.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::string_view authority = address.substr(begin, address.find('/', begin) - begin);
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view user_and_password = authority.substr(0, at);
  return std::string(user_and_password.substr(std::min(user_and_password.find(':') + 1, at)));
}

std::vector<ProviderAccess> provider_access(const Settings& settings, const Environment& environment) {
  std::vector<ProviderAccess> all;
  for (const Usual& usual : usual_providers()) all.push_back(access_to(usual, settings, environment));
  return all;
}

std::unique_ptr<Dialect> dialect_of(const ProviderAccess& access, Catalog catalog) {
  if (access.name == "anthropic") return anthropic_dialect();
  if (access.name == "gemini") return gemini_dialect();
  if (access.name == "openai") return openai_responses_dialect();
  if (access.name == "openai-chat") return openai_chat_dialect(ChatFlavour::openai);
  if (access.name == "ollama") {
    return ollama_dialect([catalog = std::move(catalog)](const ModelName& model) {
      return catalog.facts(ModelName(fmt::format("ollama/{}", bare_name(model)))).window;
    });
  }
  return openai_chat_dialect(ChatFlavour::compatible);
}

std::string ollama_address(std::string_view host) {
  constexpr std::string_view kPort = "11434";
  std::string_view rest = trimmed(host);
  const std::size_t scheme_end = rest.find("://");
  const bool has_scheme = scheme_end != std::string_view::npos;
  const std::string_view scheme = has_scheme ? rest.substr(0, scheme_end) : "http";
  if (has_scheme) rest.remove_prefix(scheme_end + 3);
  const std::size_t path_at = std::min(rest.find('/'), rest.size());
  const std::string_view path = rest.substr(path_at);
  const std::string_view authority = rest.substr(0, path_at);
  const std::size_t bracket = authority.find(']');  // an address of IPv6 has colons of its own
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view name = authority.substr(0, colon);
  std::string_view port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon + 1);
  // Where it listens on every address, it is found on this machine.
  if (name.empty() || name == "0.0.0.0") name = "127.0.0.1";
  if (port.empty()) port = !has_scheme ? kPort : scheme == "https" ? "443" : "80";
  return fmt::format("{}://{}:{}{}", scheme, name, port, path);
}

std::vector<std::string> secrets_of(const Settings& settings, const Environment& environment) {
  std::vector<std::string> secrets;
  const auto add = [&](const std::optional<std::string>& secret) {
    if (secret) secrets.push_back(*secret);
  };
  const auto add_address = [&](const std::optional<std::string>& address) {
    if (address) add(credentials_in(*address));
  };
  for (const auto& name : environment.names()) {
    if (name.ends_with("_API_KEY")) add(environment.get(name));
    if (name.ends_with("_BASE_URL") || name == "OLLAMA_HOST" || lowered(name).ends_with("_proxy"))
      add_address(environment.get(name));
  }
  add_address(settings.base_url);
  add_address(settings.network.proxy);
  for (const auto& [name, provider] : settings.providers) {
    add_address(provider.base_url);
    if (provider.key_env) add(environment.get(*provider.key_env));
  }
  return secrets;
}

}  // namespace deputy
