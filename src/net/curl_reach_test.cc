// Reach::public_only: what is connected to is what was judged. Each refusal has its control: without the gate
// the same request reaches the server.
#include <netdb.h>

#include <fstream>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "net/curl_test.h"
#include "net/curl_url.h"
#include "net/url_spellings.h"
#include "net/web_url.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using testing::HasSubstr;

// Whether the system takes its host for an address, without a lookup.
bool is_numeric(const std::string& text) {
  CurlUrl url;
  if (!url.take(text)) return true;  // nor will it be looked up
  std::string host = url.part(CURLUPART_HOST);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const addrinfo hints{.ai_flags = AI_NUMERICHOST};
  addrinfo* found = nullptr;
  const bool numeric = ::getaddrinfo(host.c_str(), nullptr, &hints, &found) == 0;
  if (found) ::freeaddrinfo(found);
  return numeric;
}

class CurlReachTest : public CurlTest {
 protected:
  std::string fetch(const std::string& url, Reach reach = Reach::public_only) {
    const auto end = ask({.url = url, .reach = reach}, seen.sink());
    return end ? "reached" : std::string(name_of(end.error().code));
  }
  std::string port() const { return std::to_string(server.port()); }
  // Names lead to the loopback server's port at these addresses; 127.0.0.2 is taken for public, at any port.
  void use_names(const std::vector<std::string>& answers) {
    CurlOptions options{
        .is_public = [](const SocketAddress& peer) { return to_text(peer.address) == "127.0.0.2"; }};
    for (const auto& answer : answers) {
      const auto at = answer.find(' ');
      options.lookups.push_back(answer.substr(0, at) + ":" + port() + ":" + answer.substr(at + 1));
    }
    use(options);
  }
  const LoopbackServer server{[](Peer& peer) { answer_all(peer, "inside"); }};
  // At the same port, so that only the address tells them apart.
  const LoopbackServer outside{
      [](Peer& peer) { answer_all(peer, "outside"); }, nullptr, {"127.0.0.2", server.port()}};
};

TEST_F(CurlReachTest, ALoopbackServerIsReachedOnlyWithoutTheGate) {
  for (const std::string host : {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0"}) {
    const std::string url = "http://" + host + ":" + port() + "/";
    EXPECT_EQ(fetch(url), "denied") << url;
    EXPECT_EQ(server.connections(), 0) << url;
  }
  EXPECT_TRUE(seen.starts.empty());
  for (const std::string host : {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0"}) {
    EXPECT_EQ(fetch("http://" + host + ":" + port() + "/", Reach::anywhere), "reached") << host;
  }
}

TEST_F(CurlReachTest, TheErrorSaysTheAddress) {
  const auto end = ask({.url = server.url(), .reach = Reach::public_only});
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("127.0.0.1 port"));
  EXPECT_NE(end.error().advice, "");
}

TEST_F(CurlReachTest, APrivateAnswerOfALookupIsRefused) {
  use_names({"inside.test 127.0.0.1", "outside.test 127.0.0.2"});
  EXPECT_EQ(fetch("http://inside.test:" + port() + "/"), "denied");
  EXPECT_EQ(server.connections(), 0);
  EXPECT_EQ(fetch("http://inside.test:" + port() + "/", Reach::anywhere), "reached");
  EXPECT_EQ(fetch("http://outside.test:" + port() + "/"), "reached");
}

TEST_F(CurlReachTest, ANameThatLeadsInsideAndOutsideIsRefused) {
  use_names({"mixed.test 127.0.0.1,127.0.0.2"});
  EXPECT_EQ(fetch("http://mixed.test:" + port() + "/"), "denied");
  EXPECT_EQ(server.connections() + outside.connections(), 0);
  EXPECT_EQ(fetch("http://mixed.test:" + port() + "/", Reach::anywhere), "reached") << "control";
}

TEST_F(CurlReachTest, AReboundNameIsJudgedAnew) {
  use_names({"rebind.test 127.0.0.2"});
  EXPECT_EQ(fetch("http://rebind.test:" + port() + "/"), "reached");
  use_names({"rebind.test 127.0.0.1"});
  EXPECT_EQ(fetch("http://rebind.test:" + port() + "/"), "denied");
  EXPECT_EQ(outside.connections(), 1);
  EXPECT_EQ(server.connections(), 0);
  EXPECT_EQ(fetch("http://rebind.test:" + port() + "/", Reach::anywhere), "reached") << "control";
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlReachTest, AConnectionThatOthersMadeDoesNotServeIt) {
  EXPECT_EQ(fetch(server.url(), Reach::anywhere), "reached");
  EXPECT_EQ(fetch(server.url()), "denied");
  EXPECT_EQ(fetch(server.url(), Reach::anywhere), "reached");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlReachTest, NoProxyIsAsked) {
  const LoopbackServer proxy([](Peer& peer) { answer_all(peer, "by proxy"); });
  use({.https_proxy = "http://" + proxy.address(), .http_proxy = "http://" + proxy.address()});
  EXPECT_EQ(fetch(server.url()), "denied");
  EXPECT_EQ(fetch("https://" + server.address() + "/"), "denied");
  EXPECT_EQ(proxy.connections(), 0);
  EXPECT_EQ(fetch(server.url(), Reach::anywhere), "reached");
  EXPECT_EQ(proxy.connections(), 1);
}

TEST_F(CurlReachTest, OnlyTheWebsOwnPortsAreReached) {
  int asked = 0;
  use({.is_public = [&](const SocketAddress& peer) {
    ++asked;
    return is_public_web({IpAddress(IpAddress::V4{8, 8, 8, 8}), peer.port});  // as if it were a public one
  }});
  EXPECT_EQ(fetch(server.url()), "denied");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(server.connections(), 0);
  EXPECT_EQ(fetch(server.url(), Reach::anywhere), "reached") << "control";
}

// What libcurl brings of a URL as it comes, with nobody to look at it.
std::string brought_unguarded(const std::string& url) {
  std::string body;
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT, 30L);
  curl_easy_setopt(easy.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(
      easy.get(), CURLOPT_WRITEFUNCTION, +[](char* bytes, size_t, size_t count, std::string* to) {
        to->append(bytes, count);
        return count;
      });
  curl_easy_perform(easy.get());
  return body;
}

std::string refusal_of(const std::string& url) {
  const auto parsed = parse_web_url(url);
  return parsed ? "taken" : parsed.error().message;
}

TEST_F(CurlReachTest, AUrlOfTwoReadingsIsRefusedThoughTheLibraryWouldTakeOne) {  // ssrf-17, ssrf-19
  const std::string cut_short = server.address() + std::string(1, '\0') + ".example.org/";
  EXPECT_THAT(refusal_of("http://" + cut_short), HasSubstr("control character"));
  EXPECT_EQ(brought_unguarded("http://" + cut_short), "inside") << "control";
  // example.org to a browser.
  const std::string after_a_user = "http://example.org\\@" + server.address() + "/";
  EXPECT_THAT(refusal_of(after_a_user), HasSubstr("backslash"));
  EXPECT_EQ(brought_unguarded(after_a_user), "inside") << "control";
}

TEST_F(CurlReachTest, NothingButTheWebIsAskedThoughTheLibraryKnowsMore) {  // ssrf-20, ssrf-21
  const TempFolder folder;
  std::ofstream(folder.file("secret")) << "CANARY-91ce";
  const LoopbackServer gopher([](Peer& peer) {
    if (peer.read_exactly(3) == "x\r\n") peer.write("CANARY-91ce");
  });
  for (const std::string& url : {"file://" + folder.file("secret"), "gopher://" + gopher.address() + "/_x"}) {
    EXPECT_THAT(refusal_of(url), HasSubstr("of no kind that can be fetched"));
    EXPECT_NE(fetch(url), "reached") << url;
    EXPECT_NE(fetch(url, Reach::anywhere), "reached") << url;
    EXPECT_EQ(seen.body, "");
    EXPECT_EQ(brought_unguarded(url), "CANARY-91ce") << "control";
  }
  EXPECT_EQ(gopher.connections(), 1) << "the control's";
}

// No proof by itself that the gate holds, since most of these lead nowhere here: the opened sockets are its
// proof.
TEST_F(CurlReachTest, NoSpellingOfAPrivateAddressOpensASocket) {
  int tried = 0;
  int judged = 0;
  std::set<std::string> public_ones;
  use({.is_public = [&](const SocketAddress& peer) {
    ++judged;
    if (is_public(peer.address)) public_ones.insert(to_text(peer.address));
    return false;
  }});
  for (const Spelling& spelling : spellings_of_private_addresses()) {
    if (!is_numeric(spelling.url)) continue;  // would be looked up as a name, and its answer judged
    ++tried;
    const std::string told = fetch(spelling.url);
    EXPECT_TRUE(told == "denied" || told == "invalid" || told == "unavailable")
        << spelling.url << ": " << told;
  }
  EXPECT_GT(tried, 4'000);
  EXPECT_GT(judged, 4'000);
  EXPECT_TRUE(public_ones.empty()) << *public_ones.begin();
}

}  // namespace
}  // namespace deputy
