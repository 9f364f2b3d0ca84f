#include "net/curl_failure.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace deputy {
namespace {

Error error_of(CURLcode code) {
  return error_from_curl({.code = code, .detail = {}, .origin = "https://a:443"});
}

// What nobody got can be asked again, and cost nothing.
TEST(CurlFailure, WithoutAConnectionThePeerIsUnavailable) {
  for (const CURLcode code : {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY,
                              CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION,
                              CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE}) {
    const Error error = error_of(code);
    EXPECT_EQ(error.code, ErrorCode::unavailable) << curl_easy_strerror(code);
    EXPECT_TRUE(error.message.starts_with("cannot reach https://a:443: ")) << error.message;
    EXPECT_NE(error.advice, "") << curl_easy_strerror(code);
  }
  EXPECT_EQ(error_of(CURLE_OPERATION_TIMEDOUT).code, ErrorCode::timeout);
}

TEST(CurlFailure, ForWantOfDescriptorsSaysSo) {
  for (const int reason : {EMFILE, ENFILE}) {
    const Error error = error_from_curl(
        {.code = CURLE_COULDNT_CONNECT, .detail = {}, .origin = "https://a:443", .system_error = reason});
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_EQ(error.message, "cannot reach https://a:443: too many files and connections are open");
    EXPECT_EQ(error.advice, "run fewer at once, or allow more (ulimit -n)");
  }
}

TEST(CurlFailure, WithOneTheExchangeWasCut) {
  for (const CURLcode code : {CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
                              CURLE_HTTP2, CURLE_HTTP2_STREAM}) {
    EXPECT_EQ(error_of(code).code, ErrorCode::io) << curl_easy_strerror(code);
  }
}

TEST(CurlFailure, ThatCannotPassIsInvalid) {
  EXPECT_EQ(error_of(CURLE_URL_MALFORMAT).code, ErrorCode::invalid);
}

}  // namespace
}  // namespace deputy
