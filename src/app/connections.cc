#include "app/connections.h"

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kThisMachine = "localhost,127.0.0.1,::1";  // no proxy leads there

// Programs disagree on the case; lower case is the older custom and wins where both are set.
std::optional<std::string> either_case(const Environment& environment, std::string_view name) {
  if (auto value = environment.get(lowered(name))) return value;
  return environment.get(name);
}

}  // namespace

CurlOptions network_options(const NetworkSettings& settings, const Environment& environment) {
  const auto first = [](std::optional<std::string> chosen, const std::optional<std::string>& otherwise) {
    return chosen ? *std::move(chosen) : otherwise.value_or("");
  };
  CurlOptions options;
  options.ca_file = first(environment.get("SSL_CERT_FILE"), settings.ca_file);
  options.https_proxy = first(either_case(environment, "HTTPS_PROXY"), settings.proxy);
  // In lower case only: a web server hands what its visitor calls Proxy down as HTTP_PROXY.
  options.http_proxy = environment.get("http_proxy").value_or("");
  options.no_proxy = first(either_case(environment, "NO_PROXY"), settings.no_proxy);
  if (!options.https_proxy.empty() || !options.http_proxy.empty()) {
    options.no_proxy += (options.no_proxy.empty() ? "" : ",") + std::string(kThisMachine);
  }
  return options;
}

Task<Result<HttpEnd>> LazyNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  if (!network_) network_ = std::make_unique<CurlNetwork>(loop_, options_);
  return network_->exchange(std::move(request), std::move(sink), std::move(stop));
}

}  // namespace deputy
