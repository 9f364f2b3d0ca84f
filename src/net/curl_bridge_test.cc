#include "net/curl_bridge.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace deputy {
namespace {

// What curl asked for when the handle was added is posted to the loop, which outlives the bridge.
TEST(CurlBridge, MayGoBeforeTheLoopComesToWhatWasAdded) {
  SystemLoop loop;
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), &curl_easy_cleanup);
  ASSERT_TRUE(easy);
  ASSERT_EQ(curl_easy_setopt(easy.get(), CURLOPT_URL, "http://127.0.0.1:1/"), CURLE_OK);
  std::optional<CURLcode> ended;
  auto bridge = std::make_unique<CurlBridge>(loop);
  bridge->add(easy.get(), [&ended](CURLcode code) { ended = code; });
  EXPECT_EQ(ended, std::nullopt);
  bridge.reset();
  EXPECT_EQ(ended, CURLE_ABORTED_BY_CALLBACK);
  ended.reset();
  loop.post([&loop] { loop.stop(); });
  loop.run();
  EXPECT_EQ(ended, std::nullopt) << "it ended twice";
}

}  // namespace
}  // namespace deputy
