// What a failure of curl's means to the caller of an exchange. For curl_network.cc only.
#pragma once

#include <curl/curl.h>

#include <string_view>

#include "base/result.h"

namespace deputy {

struct CurlFailure {
  CURLcode code = CURLE_OK;
  std::string_view detail;  // curl's own words; may be empty
  std::string_view origin;  // such as https://host:443
  bool started = false;     // status and headers had come
  long proxy_status = 0;    // what a proxy answered, 0 without one
  long system_error = 0;    // what the system said where no connection came about, as errno has it
};

Error error_from_curl(const CurlFailure& failure);

}  // namespace deputy
