#include "tools/web_fetch.h"

#include <gmock/gmock.h>

#include "net/sim_network.h"
#include "tools/tool_bench.h"
#include "tools/web_page.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WebFetch : public testing::Test {
 protected:
  void answer(const std::string& url, SimExchange exchange) {
    network.define(url, [this, exchange](const HttpRequest& request) {
      asked.push_back(request);
      return exchange;
    });
  }
  ToolResult fetch(std::string_view url) {
    return bench.call(tool, R"({"url":")" + std::string(url) + R"("})");
  }
  static SimExchange page(std::string body, std::string type = "text/html") {
    return {.headers = {{"content-type", std::move(type)}}, .chunks = {{std::move(body)}}};
  }
  static SimExchange moved(std::string to) {
    return {.status = 302, .headers = {{"location", std::move(to)}}};
  }

  ToolBench bench;
  SimNetwork network{bench.loop};
  std::vector<HttpRequest> asked;
  WebFetchTool tool{network, Decision::ask, {.body_bytes = 100, .kept_bytes = 1000}};
};

TEST_F(WebFetch, GivesThePageAsMarkdown) {
  answer("https://a.example/", page("<title>T</title><h1>H</h1><a href='/b'>b</a>"));
  const auto result = fetch("HTTPS://A.example");
  EXPECT_EQ(result.status, ToolStatus::ok);
  EXPECT_THAT(result.content, HasSubstr("Title: T"));
  EXPECT_THAT(result.content, HasSubstr("# H\n\n[b](https://a.example/b)"));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].reach, Reach::public_only);
}

TEST_F(WebFetch, KeepsAPageForFifteenMinutesAndNoLonger) {
  answer("https://a.example/", page("x", "text/plain"));
  fetch("https://a.example/");
  const auto wait = [this](Duration time) { bench.loop.manual_clock().advance(time); };
  wait(std::chrono::minutes(15) - std::chrono::seconds(1));
  fetch("https://a.example/");
  EXPECT_EQ(asked.size(), 1u);
  wait(std::chrono::seconds(1));
  fetch("https://a.example/");
  EXPECT_EQ(asked.size(), 2u);
}

TEST_F(WebFetch, ForgetsTheOldestPageWhereTheyGrowTooMany) {
  for (int i = 0; i < 12; ++i) {
    const std::string url = "https://a.example/" + std::to_string(i) + "/";
    answer(url, page(std::string(90, 'x'), "text/plain"));
    fetch(url);
  }
  asked.clear();
  fetch("https://a.example/11/");
  EXPECT_TRUE(asked.empty());
  fetch("https://a.example/0/");
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(WebFetch, TakesABodyAtTheLimitWholeAndCutsOnePastIt) {
  answer("https://a.example/at", page(std::string(100, 'x'), "text/plain"));
  EXPECT_THAT(fetch("https://a.example/at").content, Not(HasSubstr("longer")));
  answer("https://a.example/past", page(std::string(101, 'x'), "text/plain"));
  const auto result = fetch("https://a.example/past");
  EXPECT_THAT(result.content, HasSubstr("only its beginning was fetched"));
  EXPECT_THAT(result.content, HasSubstr(std::string(100, 'x')));
}

TEST_F(WebFetch, FollowsFiveRedirectsOnTheSameHostAndNoSixth) {
  for (int i = 0; i < 7; ++i)
    answer("https://a.example/" + std::to_string(i), moved("/" + std::to_string(i + 1)));
  answer("https://a.example/6", page("end", "text/plain"));
  EXPECT_THAT(fetch("https://a.example/1").content, HasSubstr("end"));
  EXPECT_THAT(fetch("https://a.example/0").content, HasSubstr("more than 5 times"));
}

TEST_F(WebFetch, TellsOfARedirectToAnotherHostAndDoesNotFollowIt) {
  answer("https://a.example/", moved("https://b.example/x"));
  answer("https://b.example/", page("b", "text/plain"));
  EXPECT_THAT(fetch("https://a.example/").content, HasSubstr("call WebFetch with https://b.example/x"));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(WebFetch, DoesNotFollowFromHttpsToHttp) {
  answer("https://a.example/", moved("http://a.example/"));
  EXPECT_EQ(fetch("https://a.example/").status, ToolStatus::error);
}

TEST_F(WebFetch, SaysWhatWentWrong) {
  EXPECT_EQ(fetch("ftp://a.example/").status, ToolStatus::error);
  answer("https://a.example/404", {.status = 404, .chunks = {{"no such page"}}});
  EXPECT_THAT(fetch("https://a.example/404").content, HasSubstr("status 404"));
  answer("https://a.example/png", page("\x89PNG", "image/png"));
  EXPECT_THAT(fetch("https://a.example/png").content, HasSubstr("image/png, not text"));
  answer("https://a.example/slow", {.fault = SimFault::silence});
  EXPECT_THAT(fetch("https://a.example/slow").content, HasSubstr("within 30 seconds"));
}

// The time is that of the whole, not that between two bytes.
TEST_F(WebFetch, APageThatDripsIsGivenUpWhenItsTimeIsOver) {
  const auto drips = [](Duration between) {
    SimExchange exchange = page("", "text/plain");
    for (int i = 0; i < 8; ++i) exchange.chunks.push_back({"CANARY", between});
    return exchange;
  };
  answer("https://a.example/drip", drips(std::chrono::seconds(10)));
  const auto given_up = fetch("https://a.example/drip");
  EXPECT_EQ(given_up.status, ToolStatus::error);
  EXPECT_THAT(given_up.content, AllOf(HasSubstr("within 30 seconds"), Not(HasSubstr("CANARY"))));
  answer("https://a.example/drop", drips(std::chrono::seconds(1)));
  EXPECT_THAT(fetch("https://a.example/drop").content, HasSubstr("CANARYCANARY")) << "control";
}

TEST_F(WebFetch, IsJudgedByItsHost) {
  EXPECT_EQ(tool.subject({{"url", "https://WWW.A.example:443/x"}}), "www.a.example");
}

TEST(WebPage, KnowsLatinText) {
  const WebUrl url = *parse_web_url("https://a.example/");
  EXPECT_EQ(page_text(url, "text/plain; charset=ISO-8859-1", "\xe4\x80")->text, "ä€");
  EXPECT_EQ(page_text(url, "text/plain", "\xc3\xa4")->text, "ä");
}

TEST(WebPage, JudgesByTheBytesWhereNoTypeIsSaid) {
  const WebUrl url = *parse_web_url("https://a.example/");
  EXPECT_EQ(page_text(url, "", "<html><p>a")->text, "a");
  EXPECT_EQ(page_text(url, "", "plain")->text, "plain");
  EXPECT_FALSE(page_text(url, "", std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace deputy
