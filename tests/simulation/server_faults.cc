#include "server_faults.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "model/tongues.h"
#include "support/paths.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

SimExchange good(const Said& said = {.text = "at last"}) { return answer_in(Tongue::anthropic, said); }
SimExchange a_call(const std::string& arguments) {
  return good({.text = "I look.", .calls = {{"call_1", "Read", arguments}}});
}
std::string body_of(const SimExchange& exchange) { return exchange.chunks.front().bytes; }

SimExchange status(int code, HttpHeaders headers = {}) {
  return {.status = code, .headers = std::move(headers)};
}
SimExchange limited(std::string retry_after) {
  return status(429, {{"retry-after", std::move(retry_after)}});
}
SimExchange streamed(std::string body) {
  SimExchange exchange = good();
  exchange.chunks = {{std::move(body)}};
  return exchange;
}
// Breaks off, or falls silent, when so much of the answer has come.
SimExchange broken(SimExchange exchange, SimFault fault, std::size_t after) {
  exchange.fault = fault;
  exchange.fault_after = after;
  return exchange;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string each_event_twice(std::string_view body) {
  std::string twice;
  while (!body.empty()) {
    const std::string_view event = body.substr(0, std::min(body.find("\n\n"), body.size() - 2) + 2);
    twice.append(event).append(event);
    body.remove_prefix(event.size());
  }
  return twice;
}

SimExchange in_pieces(std::string_view bytes, std::size_t piece, Duration apart) {
  SimExchange exchange = good();
  exchange.chunks.clear();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    exchange.chunks.push_back({std::string(bytes.substr(0, piece)), apart});
  return exchange;
}

std::vector<SimExchange> times(std::size_t count, const SimExchange& exchange) {
  std::vector<SimExchange> says(count, exchange);
  says.push_back(good());
  return says;
}

constexpr std::string_view kPing = ": ping\n\n";
constexpr std::string_view kEndOfACall = "event: message_delta";
constexpr const char* kGoodCall = R"({"file_path":"a.txt"})";

std::vector<ServerFault> made() {
  const std::string text = body_of(good());
  const std::string call = body_of(a_call(kGoodCall));
  const std::size_t before_end = call.find(kEndOfACall);
  std::string pings;
  for (int i = 0; i < 90; ++i) pings += kPing;
  Said crowd{.text = "All at once."};
  for (int i = 0; i < 500; ++i) crowd.calls.push_back({fmt::format("call_{}", i), "Read", "{}"});
  return {
      {"http-02", times(10, limited("0.1"))},
      {"http-03", {limited("86400")}},
      {"http-04",
       {limited("Thu, 01 Jan 1970 00:00:00 GMT"), limited("-5"), limited("NaN"), limited("1e309"),
        limited(std::string(20'000, '9')), good()}},
      {"http-05", {status(529)}},
      {"http-06", {status(503), good()}},
      {"http-07", {status(500, {{"x-should-retry", "false"}})}},
      {"http-08", {status(400)}},
      {"http-09", {status(401)}},
      {"http-11", {status(413)}},
      {"http-12",
       {{.headers = {{"content-type", "text/html"}}, .chunks = {{"<html>Sign in</html>"}}}, good()}},
      {"http-13", {status(307, {{"location", "http://elsewhere/"}})}},
      {"tcp-01", {{.fault = SimFault::refused}, {.fault = SimFault::unreachable}, good()}},
      {"tcp-02", {{.fault = SimFault::silence}, good()}},
      {"tcp-03", {broken(good(), SimFault::silence, text.size() / 2), good()}},
      {"tcp-05", {broken(streamed(call), SimFault::cut, before_end), good()}},
      {"tcp-06", {streamed(call.substr(0, before_end)), good()}},
      {"tcp-07", {broken(good(), SimFault::silence, text.size())}},
      {"tcp-09", {in_pieces(text, 1, 20s), good()}},
      {"tcp-10", {in_pieces(pings, kPing.size(), 20s), good()}},
      {"sse-01", {in_pieces(call, 1, {})}},
      {"sse-03", {streamed("\xef\xbb\xbf" + replaced(text, "\n", "\r\n"))}},
      {"sse-07", {streamed("event: novelty\ndata: {\"type\":\"novelty\"}\n\n" + text)}},
      {"sse-09", {streamed(each_event_twice(call))}},
      {"sse-12", {streamed(replaced(text, "at last", std::string("\0\xc0\x80\\ud800", 9)))}},
      {"sse-19", {streamed(replaced(text, "end_turn", "pause_turn"))}},
      {"tool-01", {good({.calls = {{"call_1", "Read", R"({"file_path":"a.t)"}}, .is_cut_off = true})}},
      {"tool-02", {a_call(R"({'file_path': 'a.txt',})")}},
      {"tool-07",
       {good({.calls = {{"call_1", "Read", R"({"file_path":"a.txt"})"}, {"call_1", "List", "{}"}}})}},
      {"tool-08", {good(crowd)}},
      {"tool-14", {a_call(R"({"file_path":1e400})")}},
  };
}

TEST(ServerFaults, AreThoseOfTheCorpus) {
  std::set<std::string> corpus;
  std::ifstream cases(source_dir() + "/tests/faults/cases");
  for (std::string line; std::getline(cases, line);) corpus.insert(line.substr(0, line.find(' ')));
  std::set<std::string_view> ids;
  for (const ServerFault& fault : server_faults()) {
    EXPECT_TRUE(corpus.contains(std::string(fault.id))) << fault.id;
    EXPECT_TRUE(ids.insert(fault.id).second) << fault.id << " is there twice";
    EXPECT_FALSE(fault.says.empty()) << fault.id;
  }
}

// What a fault is made of may change its shape: then it would be none.
TEST(ServerFaults, GoWrong) {
  EXPECT_NE(body_of(a_call(kGoodCall)).find(kEndOfACall), std::string::npos);
  for (const ServerFault& fault : server_faults()) {
    const SimExchange& first = fault.says.front();
    if (first.fault != SimFault::none || first.status != 200) continue;
    std::string body;
    const bool is_in_pieces = first.chunks.size() > 1;
    for (const auto& chunk : first.chunks) body += chunk.bytes;
    EXPECT_TRUE(is_in_pieces || (body != body_of(good()) && body != body_of(a_call(kGoodCall)))) << fault.id;
  }
}

}  // namespace

const std::vector<ServerFault>& server_faults() {
  static const std::vector<ServerFault> faults = made();
  return faults;
}

}  // namespace deputy
