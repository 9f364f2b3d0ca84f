// The providers of models over the network: where each is reached, and as whom. Decided from settings and
// environment alone; nothing is connected.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings.h"
#include "base/environment.h"
#include "model/dialect.h"

namespace deputy {

struct ProviderAccess {
  std::string name;
  Endpoint endpoint;         // its address is empty where nobody has said one
  std::string key_variable;  // where the key is looked for first
  bool needs_key = true;
  std::string default_model;  // without its provider; empty where there is none to prefer
  std::string_view about;
  std::string wrong_address;  // what holds an address that cannot be meant, so that there is none

  bool has_key() const { return !endpoint.key.empty(); }
  // Reachable as far as can be told without trying.
  bool is_usable() const { return !endpoint.base_url.empty() && (has_key() || !needs_key); }
};

// All of them, usable or not, in the order in which a default model is looked for.
std::vector<ProviderAccess> provider_access(const Settings& settings, const Environment& environment);

// `catalog` says how much an Ollama is asked to hold; else it decides by itself, and tells nobody.
std::unique_ptr<Dialect> dialect_of(const ProviderAccess& access, Catalog catalog);

// As Ollama reads OLLAMA_HOST: any of scheme, host and port may be missing.
std::string ollama_address(std::string_view host);

// What stands before the @ of an address: the password, or all of it where there is none.
std::optional<std::string> credentials_in(std::string_view address);

// Every value that must not be shown: keys, and what stands before the @ of a proxy's or server's address.
std::vector<std::string> secrets_of(const Settings& settings, const Environment& environment);

}  // namespace deputy
