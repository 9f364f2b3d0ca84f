#include "tools/web_search.h"

#include <gmock/gmock.h>

#include "net/sim_network.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

TEST(SearchEngine, AsksEachServiceInItsOwnWay) {
  const auto searxng = search_request({SearchService::searxng, "http://127.0.0.1:8888/", ""}, "a b&c");
  EXPECT_EQ(searxng.url, "http://127.0.0.1:8888/search?format=json&q=a%20b%26c");
  const auto brave = search_request({SearchService::brave, "", "k"}, "ä");
  EXPECT_EQ(brave.url, "https://api.search.brave.com/res/v1/web/search?count=10&q=%C3%A4");
  EXPECT_EQ(find_header(brave.headers, "X-Subscription-Token"), "k");
  const auto tavily = search_request({SearchService::tavily, "", "k"}, "q");
  EXPECT_EQ(tavily.method, "POST");
  EXPECT_EQ(tavily.body, R"({"query":"q","max_results":10})");
  EXPECT_EQ(find_header(tavily.headers, "authorization"), "Bearer k");
}

TEST(SearchEngine, ReadsEachServicesAnswer) {
  const std::vector<SearchHit> expected{{"T", "https://a.example/", "found it"}};
  EXPECT_EQ(search_hits(SearchService::searxng,
                        R"({"results":[{"title":"T","url":"https://a.example/","content":"found it"}]})"),
            expected);
  EXPECT_EQ(search_hits(SearchService::tavily,
                        R"({"results":[{"title":"T","url":"https://a.example/","content":"found it"}]})"),
            expected);
  EXPECT_EQ(
      search_hits(
          SearchService::brave,
          R"({"web":{"results":[{"title":"T","url":"https://a.example/","description":"<strong>found</strong> it"}]}})"),
      expected);
  EXPECT_TRUE(search_hits(SearchService::brave, R"({"query":{}})")->empty());
  EXPECT_FALSE(search_hits(SearchService::searxng, "<html>"));
  EXPECT_FALSE(search_hits(SearchService::tavily, "{}"));
}

TEST(SearchEngine, KeepsEveryPartOfAHitOnOneLine) {
  const std::vector<SearchHit> expected{{"a b", "https://a.example/ 2. c", "d e"}};
  EXPECT_EQ(
      search_hits(SearchService::searxng,
                  R"({"results":[{"title":"a\nb","url":"https://a.example/\n2. c","content":"d\r\ne"}]})"),
      expected);
}

TEST(SearchEngine, TakesTenHitsAndNoMore) {
  std::string body = R"({"results":[)";
  for (int i = 0; i < 11; ++i) body += R"({"title":"t","url":"u","content":""},)";
  body.back() = ']';
  EXPECT_EQ(search_hits(SearchService::searxng, body + "}")->size(), kMostSearchHits);
}

class WebSearch : public testing::Test {
 protected:
  ToolResult search(SimExchange answer) {
    network.define("http://127.0.0.1:8888/", [answer](const HttpRequest&) { return answer; });
    return bench.call(tool, R"({"query":"what"})");
  }
  ToolBench bench;
  SimNetwork network{bench.loop};
  WebSearchTool tool{network, {SearchService::searxng, "http://127.0.0.1:8888", ""}};
};

TEST_F(WebSearch, TellsWhatWasFound) {
  const auto result =
      search({.chunks = {{R"({"results":[{"title":"T","url":"https://a.example/","content":"it"}]})"}}});
  EXPECT_EQ(result.status, ToolStatus::ok);
  EXPECT_THAT(result.content, HasSubstr("1. T\n   https://a.example/\n   it"));
}

TEST_F(WebSearch, SaysThatNothingWasFound) {
  EXPECT_THAT(search({.chunks = {{R"({"results":[]})"}}}).content, HasSubstr("Nothing was found"));
}

TEST_F(WebSearch, SaysWhyThereIsNoAnswer) {
  EXPECT_THAT(search({.status = 429, .chunks = {{"slow down"}}}).content, HasSubstr("status 429: slow down"));
  EXPECT_THAT(search({.fault = SimFault::silence}).content, HasSubstr("too long"));
  EXPECT_THAT(search({.chunks = {{"<html>"}}}).content, HasSubstr("something else than results"));
}

}  // namespace
}  // namespace deputy
