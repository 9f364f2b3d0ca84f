// A URL as the parser reads it that will ask it: libcurl's own. For this folder only.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

namespace deputy {

class CurlUrl {
 public:
  // Takes a text; a relative one is resolved against what was taken before. False when it is no URL.
  bool take(const std::string& text) {
    return url_ && !text.contains('\0') &&
           curl_url_set(url_.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  // Empty where there is none. The port is never left out.
  std::string part(CURLUPart which, unsigned how = 0) const {
    char* value = nullptr;
    if (which == CURLUPART_PORT) how |= CURLU_DEFAULT_PORT;
    if (curl_url_get(url_.get(), which, &value, how) != CURLUE_OK) return {};
    const std::unique_ptr<char, void (*)(void*)> freed(value, curl_free);
    return value;
  }

 private:
  std::unique_ptr<CURLU, void (*)(CURLU*)> url_{curl_url(), curl_url_cleanup};
};

}  // namespace deputy
