// What a model's server may do wrong, and what comes of it: every case runs against every dialect. None
// hangs, none crashes, and none is taken for a success that it was not.
#include <gmock/gmock.h>

#include "base/text.h"
#include "fault_world.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using Programs = std::vector<FaultProgram>;

FaultStep all_of(const Shape& shape, const std::string& body) {
  return fault::Send{http_answer(200, {{"Content-Type", shape.content_type}}, body)};
}
FaultProgram good(const Shape& shape) { return {all_of(shape, joined(shape.text))}; }
FaultProgram status(int code, std::vector<std::pair<std::string, std::string>> headers = {},
                    const std::string& body = R"({"error":{"message":"no"}})") {
  headers.emplace_back("Content-Length", std::to_string(body.size()));
  return {fault::Send{http_answer(code, headers, body)}};
}
std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}
std::string call_without_end(const Shape& shape) {
  return joined(shape.calls, shape.calls.size() - shape.ending);
}
std::string half_of(const Shape& shape) { return joined(shape.text, shape.text.size() / 2); }

enum class Ends {
  well,    // the whole text, said once
  badly,   // failed, with nothing said and nothing called
  safely,  // one of the two
};

struct FaultCase {
  std::string name;
  std::function<Programs(const Shape&)> programs;
  Ends ends;
  int requests = 0;  // 0: as many as it takes
  Temper temper = Temper::patient;
  std::string says = "";  // in its error
};
std::ostream& operator<<(std::ostream& out, const FaultCase& one) { return out << one.name; }

std::vector<FaultCase> cases() {
  std::vector<FaultCase> all{
      {"no fault", [](const Shape& s) { return Programs{good(s)}; }, Ends::well, 1},

      // Statuses.
      {"a 500 that must not be tried again",
       [](const Shape&) { return Programs{status(500, {{"x-should-retry", "false"}})}; }, Ends::badly, 1},
      {"a page of HTML instead of a stream",
       [](const Shape& s) {
         return Programs{status(200, {{"Content-Type", "text/html"}}, "<html>Please log in</html>"), good(s)};
       },
       Ends::well, 2},
      {"nothing but pages of HTML",
       [](const Shape&) {
         return Programs{status(200, {{"Content-Type", "text/html"}}, "<html>Please log in</html>")};
       },
       Ends::badly, kAttempts},
      {"a page of HTML that says it is a stream",
       [](const Shape& s) { return Programs{{all_of(s, "<html>Please log in</html>")}}; }, Ends::badly},
      {"an empty 200", [](const Shape& s) { return Programs{{all_of(s, "")}, good(s)}; }, Ends::well, 2},
      {"a 204", [](const Shape&) { return Programs{status(204, {}, "")}; }, Ends::badly},

      // Connections.
      {"a server that accepts and never answers",
       [](const Shape& s) { return Programs{{fault::Silence{}}, good(s)}; }, Ends::well, 0, Temper::hasty},
      {"half a head, then silence",
       [](const Shape& s) {
         return Programs{{fault::Send{"HTTP/1.1 200 OK\r\nContent-Ty"}, fault::Silence{}}, good(s)};
       },
       Ends::well, 0, Temper::hasty},
      {"half a head, then the end",
       [](const Shape& s) { return Programs{{fault::Send{"HTTP/1.1 200 OK\r\nContent-Ty"}}, good(s)}; },
       Ends::well, 2},
      {"a head that never ends",
       [](const Shape& s) {
         return Programs{
             {fault::Send{"HTTP/1.1 200 OK\r\n"}, fault::Flood{"X-More: 0123456789\r\n", 64 << 20}}, good(s)};
       },
       Ends::well, 2},
      {"interim answers for ever",
       [](const Shape& s) {
         return Programs{
             {fault::Flood{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 1 << 20, milliseconds(5)}},
             good(s)};
       },
       Ends::well, 0, Temper::hasty},
      {"what is not HTTP",
       [](const Shape& s) { return Programs{{fault::Send{"SSH-2.0-OpenSSH_9\r\n"}}, good(s)}; }, Ends::well,
       2},
      {"silence in the middle",
       [](const Shape& s) { return Programs{{all_of(s, half_of(s)), fault::Silence{}}, good(s)}; },
       Ends::well, 0, Temper::hasty},
      {"a RST in the middle",
       [](const Shape& s) { return Programs{{all_of(s, half_of(s)), fault::Reset{}}, good(s)}; }, Ends::well,
       2},
      {"a RST before the head", [](const Shape& s) { return Programs{{fault::Reset{}}, good(s)}; },
       Ends::well, 2},
      {"a RST after a whole call, but before the end",
       [](const Shape& s) { return Programs{{all_of(s, call_without_end(s)), fault::Reset{}}}; }, Ends::badly,
       kAttempts},
      {"an end without the terminal event after a whole call",
       [](const Shape& s) { return Programs{{all_of(s, call_without_end(s))}}; }, Ends::badly, kAttempts},
      {"an end without the terminal event",
       [](const Shape& s) { return Programs{{all_of(s, half_of(s))}, good(s)}; }, Ends::well, 2},
      {"a connection that stays open after the terminal event",
       [](const Shape& s) { return Programs{{all_of(s, joined(s.text)), fault::Silence{}}}; }, Ends::well, 1,
       Temper::hasty},
      {"more after the terminal event",
       [](const Shape& s) { return Programs{{all_of(s, joined(s.text) + "garbage\n")}}; }, Ends::well, 1},
      {"a byte now and then, for ever",
       [](const Shape& s) {
         return Programs{{all_of(s, s.name == "ollama" ? "" : ": "),
                          fault::Drip{std::string(4096, ' '), milliseconds(20)}},
                         good(s)};
       },
       Ends::well, 0, Temper::hasty},
      {"pings only, for ever",
       [](const Shape& s) {
         return Programs{{all_of(s, ""), fault::Flood{s.ping, 1 << 20, milliseconds(10)}}, good(s)};
       },
       Ends::well, 0, Temper::hasty},
      {"pings only after half an answer",
       [](const Shape& s) {
         return Programs{{all_of(s, half_of(s)), fault::Flood{s.ping, 1 << 20, milliseconds(10)}}, good(s)};
       },
       Ends::well, 0, Temper::hasty},
      {"a content length that is too large",
       [](const Shape& s) {
         return Programs{
             {fault::Send{http_answer(200, {{"Content-Type", s.content_type}, {"Content-Length", "99999"}},
                                      half_of(s))}},
             good(s)};
       },
       Ends::well, 2},
      {"a content length that is too small",
       [](const Shape& s) {
         return Programs{
             {fault::Send{http_answer(200, {{"Content-Type", s.content_type}, {"Content-Length", "20"}},
                                      joined(s.text))}},
             good(s)};
       },
       Ends::well, 2},
      {"chunks of garbage",
       [](const Shape& s) {
         return Programs{{fault::Send{http_answer(
                             200, {{"Content-Type", s.content_type}, {"Transfer-Encoding", "chunked"}},
                             "5\r\nab\r\nzzzz\r\n\r\n")}},
                         good(s)};
       },
       Ends::well, 2},

      // Streams.
      {"pieces of one byte",
       [](const Shape& s) {
         return Programs{{fault::Send{
             http_answer(200, {{"Content-Type", s.content_type}, {"Transfer-Encoding", "chunked"}},
                         in_chunks(joined(s.text), 1))}}};
       },
       Ends::well, 1},
      {"a pair of surrogates in pieces of one byte",
       [](const Shape& s) {
         return Programs{{fault::Send{
             http_answer(200, {{"Content-Type", s.content_type}, {"Transfer-Encoding", "chunked"}},
                         in_chunks(replaced(joined(s.text), "\xf0\x9f\x98\x80", "\\ud83d\\ude00"), 1))}}};
       },
       Ends::well, 1},
      {"line ends of CR LF",
       [](const Shape& s) { return Programs{{all_of(s, replaced(joined(s.text), "\n", "\r\n"))}}; },
       Ends::well, 1},
      {"one line without an end",
       [](const Shape& s) {
         return Programs{{all_of(s, s.name == "ollama" ? "" : "data: "),
                          fault::Flood{std::string(1 << 20, 'x'), 80 << 20}}};
       },
       Ends::badly, 1, Temper::patient, " MiB in one "},
      {"each event twice",
       [](const Shape& s) {
         std::string twice;
         for (const std::string& event : s.text) twice += event + event;
         return Programs{{all_of(s, twice)}};
       },
       Ends::well, 1},
      {"garbage between the events",
       [](const Shape& s) {
         return Programs{
             {all_of(s, s.text[0] + (s.name == "ollama" ? "{]\n" : "data: {]\n\n") + joined(s.text))},
             good(s)};
       },
       Ends::well, 2},
      {"bytes that are no UTF-8",
       [](const Shape& s) {
         return Programs{{all_of(s, replaced(joined(s.text), "Hello, ", "Hel\xff\xc0\xaflo, "))}};
       },
       Ends::safely},
      {"a surrogate alone, and a NUL",
       [](const Shape& s) {
         return Programs{{all_of(s, replaced(joined(s.text), "Hello, ", "Hel\\ud800\\u0000lo, "))}};
       },
       Ends::safely},
      {"an encoding that was not asked for",
       [](const Shape& s) {
         return Programs{
             {fault::Send{http_answer(200, {{"Content-Type", s.content_type}, {"Content-Encoding", "gzip"}},
                                      std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03 not gzip", 19))}},
             good(s)};
       },
       Ends::well, 2},
  };
  for (const int code : {408, 409, 429, 500, 502, 503, 504, 529}) {
    all.push_back({fmt::format("a {} once", code),
                   [code](const Shape& s) { return Programs{status(code), good(s)}; }, Ends::well, 2});
  }
  for (const int code : {400, 401, 403, 404, 405, 413, 422}) {
    all.push_back({fmt::format("a {} that tells the key", code),
                   [code](const Shape&) {
                     return Programs{
                         status(code, {}, fmt::format(R"({{"error":{{"message":"bad key {}"}}}})", kKey))};
                   },
                   Ends::badly, 1});
  }
  for (const int code : {301, 302, 307, 308}) {
    all.push_back(
        {fmt::format("a {} to another place", code),
         [code](const Shape&) { return Programs{status(code, {{"Location", "https://192.0.2.1/"}}, "")}; },
         Ends::badly, 1});
  }
  return all;
}

class ModelFaults : public testing::TestWithParam<std::tuple<FaultCase, Shape>> {};

void expect_safe(const Reply& reply) {
  EXPECT_NE(reply.stop, ReplyStop::stopped) << "it hung";
  EXPECT_TRUE(is_utf8(reply.message.text) && is_utf8(reply.error) && is_utf8(reply.message.wire));
  EXPECT_FALSE(reply.error.contains(kKey)) << reply.error;
  EXPECT_TRUE(reply.message.calls.empty());
}

TEST_P(ModelFaults, EndAsTheyMust) {
  const auto& [one, shape] = GetParam();
  if (one.name == "each event twice" && shape.name != "anthropic" && shape.name != "openai-responses") {
    GTEST_SKIP() << shape.name << " numbers nothing: an event that comes twice cannot be told from two";
  }
  const FaultServer server(one.programs(shape));
  FaultWorld world(shape, server.url(), one.temper);
  const Reply reply = world.ask();
  const auto requests = server.requests();

  expect_safe(reply);
  if (one.requests > 0) EXPECT_EQ(requests.size(), std::size_t(one.requests)) << reply.error;
  for (const std::string& request : requests) EXPECT_EQ(request, requests[0]);
  const bool well = reply.stop == ReplyStop::finished;
  if (one.ends == Ends::well) EXPECT_TRUE(well) << name_of(reply.stop) << ": " << reply.error;
  if (one.ends == Ends::badly) EXPECT_FALSE(well) << reply.message.text;
  EXPECT_THAT(reply.error, testing::HasSubstr(one.says));
  if (well && one.ends == Ends::well) {
    EXPECT_EQ(reply.message.text, kSaid);
    EXPECT_THAT(world.shown, testing::EndsWith(kSaid));  // what a cut attempt had shown is void
  } else if (well) {
    EXPECT_EQ(utf8_length(reply.message.text) / 10, utf8_length(kSaid) / 10) << "not said once";
  } else {
    EXPECT_NE(reply.error, "");
    EXPECT_EQ(reply.message.text, "");
  }
}

std::string name_of_case(const testing::TestParamInfo<ModelFaults::ParamType>& info) {
  std::string name = std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ModelFaults,
                         testing::Combine(testing::ValuesIn(cases()), testing::ValuesIn(shapes())),
                         name_of_case);

}  // namespace
}  // namespace deputy
