#include "net/curl_failure.h"

#include <fmt/format.h>

#include <cerrno>

namespace deputy {

Error error_from_curl(const CurlFailure& failure) {
  const std::string_view why = failure.detail.empty() ? curl_easy_strerror(failure.code) : failure.detail;
  const auto unreachable = [&](std::string_view advice) {
    return Error{ErrorCode::unavailable, fmt::format("cannot reach {}: {}", failure.origin, why),
                 std::string(advice)};
  };
  if (!failure.started && failure.proxy_status >= 300) {
    return unreachable("the proxy refused: check its address and password");
  }
  switch (failure.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return unreachable("check the name and the network");
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return unreachable("check the proxy's address");
    case CURLE_COULDNT_CONNECT:
      if (failure.system_error == EMFILE || failure.system_error == ENFILE)
        return {ErrorCode::unavailable,
                fmt::format("cannot reach {}: too many files and connections are open", failure.origin),
                "run fewer at once, or allow more (ulimit -n)"};
      return unreachable("check the address, and that the server runs");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return unreachable(
          "its certificate is not trusted: if it is signed by an authority of your own, name its CA file");
    case CURLE_SSL_CACERT_BADFILE:
      return unreachable("check the CA file");
    case CURLE_SSL_CONNECT_ERROR:
      return unreachable("check that the server speaks TLS at this address, or use http://");
    case CURLE_OPERATION_TIMEDOUT:
      return {ErrorCode::timeout, fmt::format("cannot reach {}: {}", failure.origin, why),
              "check the address and the network, or try again later"};
    case CURLE_URL_MALFORMAT:
      return {ErrorCode::invalid, fmt::format("cannot ask {}: {}", failure.origin, why), "check the URL"};
    case CURLE_OUT_OF_MEMORY:
      return {ErrorCode::exhausted, fmt::format("cannot ask {}: out of memory", failure.origin),
              "run fewer exchanges at once"};
    case CURLE_ABORTED_BY_CALLBACK:
      return Error::cancelled();
    default:
      // What connects has codes of its own above: anything else befell the exchange.
      return {ErrorCode::io, fmt::format("the exchange with {} was cut: {}", failure.origin, why),
              "try again"};
  }
}

}  // namespace deputy
