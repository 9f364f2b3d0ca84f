// Faults that only one dialect can have, limits of rate in all their forms, and storms that last too long for
// real time.
#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "base/text.h"
#include "fault_world.h"
#include "net/sim_network.h"

namespace deputy {
namespace {

using testing::HasSubstr;

FaultProgram stream_of(const Shape& shape, const std::string& body) {
  return {fault::Send{http_answer(200, {{"Content-Type", shape.content_type}}, body)}};
}
std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

struct DialectFault {
  std::string name;
  std::string shape;
  std::string body;
  ReplyStop stop;
  std::size_t requests = 1;  // 0: as many as it takes
  std::string text = kSaid;  // of the reply, where it is not a failure
  std::size_t calls = 0;
};
std::ostream& operator<<(std::ostream& out, const DialectFault& one) { return out << one.name; }

std::string said(const std::string& shape) { return joined(shape_of(shape).text); }
std::string called(const std::string& shape) { return joined(shape_of(shape).calls); }

std::vector<DialectFault> dialect_faults() {
  const auto& anthropic = shape_of("anthropic").text;
  const auto& responses = shape_of("openai-responses").text;
  std::vector<DialectFault> all{
      {"an unknown stop reason", "anthropic", replaced(said("anthropic"), "end_turn", "out_of_coffee"),
       ReplyStop::finished},
      {"a pause", "anthropic", replaced(said("anthropic"), "end_turn", "pause_turn"), ReplyStop::paused},
      {"a refusal", "anthropic", replaced(said("anthropic"), "end_turn", "refusal"), ReplyStop::refused},
      {"a full context at the end", "anthropic",
       replaced(said("anthropic"), "end_turn", "model_context_window_exceeded"),
       ReplyStop::context_exhausted},
      {"a delta before its start", "anthropic", anthropic[0] + anthropic[2] + joined(anthropic),
       ReplyStop::failed, kAttempts},
      {"a delta after its stop", "anthropic",
       joined(anthropic, 5) + anthropic[2] + anthropic[5] + anthropic[6], ReplyStop::failed, kAttempts},
      {"two starts of one block", "anthropic", joined(anthropic, 3) + anthropic[1] + joined(anthropic),
       ReplyStop::failed, kAttempts},
      {"an error in the middle", "anthropic",
       joined(anthropic, 3) +
           "event: error\ndata: "
           "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"broken\"}}\n\n",
       ReplyStop::failed, kAttempts},
      {"arguments cut off by the output cap", "anthropic",
       replaced(replaced(called("anthropic"), R"("\"a\"}")", R"("\"a")"), "\"tool_use\"}", "\"max_tokens\"}"),
       ReplyStop::output_limit, 1, ""},
      {"arguments cut off by the output cap", "openai-chat",
       replaced(called("openai-chat"), "\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"length\""),
       ReplyStop::output_limit, 1, ""},
      {"an incomplete answer", "openai-responses",
       joined(responses, 4) +
           "data: {\"type\":\"response.incomplete\",\"response\":{\"id\":\"r1\",\"status\":\"incomplete\","
           "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n",
       ReplyStop::output_limit},
      {"a content filter", "openai-responses",
       joined(responses, 4) +
           "data: {\"type\":\"response.incomplete\",\"response\":{\"id\":\"r1\",\"status\":\"incomplete\","
           "\"incomplete_details\":{\"reason\":\"content_filter\"}}}\n\n",
       ReplyStop::refused},
      {"each event twice", "openai-responses", said("openai-responses") + said("openai-responses"),
       ReplyStop::finished},
      {"a blocked answer", "gemini", replaced(said("gemini"), "\"STOP\"", "\"SAFETY\""), ReplyStop::refused},
      {"a recited answer", "gemini", replaced(said("gemini"), "\"STOP\"", "\"RECITATION\""),
       ReplyStop::refused},
      {"a call that the model spelled wrong", "gemini",
       replaced(called("gemini"), "\"STOP\"", "\"MALFORMED_FUNCTION_CALL\""), ReplyStop::failed, 2},
      {"no candidates", "gemini", "data: {\"candidates\":[],\"responseId\":\"r1\"}\n\n", ReplyStop::failed,
       0},
  };
  for (const std::string shape : {"anthropic", "openai-chat", "openai-responses", "gemini"}) {
    const std::string text = said(shape);
    all.push_back({"line ends of CR alone, and a byte order mark", shape,
                   [&] {
                     std::string cr = text;
                     std::ranges::replace(cr, '\n', '\r');
                     return "\xef\xbb\xbf" + cr;
                   }(),
                   ReplyStop::finished});
    all.push_back({"line ends of Unicode inside a text", shape,
                   [&] {
                     std::string other = text;
                     for (std::size_t at = 0; (at = other.find("Hello, ", at)) != std::string::npos;
                          at += 12) {
                       other.replace(at, 7, "He\xe2\x80\xa8\xe2\x80\xa9\xc2\x85llo, ");
                     }
                     return other;
                   }(),
                   ReplyStop::finished, 1, "He\xe2\x80\xa8\xe2\x80\xa9\xc2\x85" + kSaid.substr(2)});
    all.push_back({"events on several lines, without data, without a name", shape,
                   "data:\n\nevent: nothing\n\n:\n\nid: 7\nretry: 5\n\n" +
                       replaced(text, "data: {", "data: {\ndata:\ndata: "),
                   ReplyStop::finished});
    all.push_back({"events of an unknown kind", shape,
                   "event: brand_new\ndata: {\"type\":\"brand_new\",\"x\":[1,{\"y\":null}]}\n\n" + text,
                   ReplyStop::finished});
  }
  return all;
}

class DialectFaults : public testing::TestWithParam<DialectFault> {};

TEST_P(DialectFaults, EndAsTheyMust) {
  const DialectFault& one = GetParam();
  const Shape& shape = shape_of(one.shape);
  const FaultServer server({stream_of(shape, one.body)});
  FaultWorld world(shape, server.url(), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, one.stop) << name_of(reply.stop) << ": " << reply.error;
  if (one.requests > 0) EXPECT_EQ(server.requests().size(), one.requests);
  EXPECT_EQ(reply.message.calls.size(), one.calls);
  if (one.stop == ReplyStop::failed) {
    EXPECT_EQ(reply.message.text, "");
  } else if (one.stop == ReplyStop::finished) {
    EXPECT_EQ(reply.message.text, one.text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DialectFaults, testing::ValuesIn(dialect_faults()), [](const auto& info) {
  std::string name = info.param.name + "_" + info.param.shape;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

class ModelFault : public testing::TestWithParam<Shape> {};

TEST_P(ModelFault, ACallComesThroughWhenNothingIsWrong) {
  const FaultServer server({stream_of(GetParam(), joined(GetParam().calls))});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::calls) << reply.error;
  ASSERT_EQ(reply.message.calls.size(), 1u);
  EXPECT_EQ(reply.message.calls[0].name, "Read");
}

TEST_P(ModelFault, ARefusedConnectionIsTriedSomeTimesAndThenSaid) {
  const LoopbackServer nobody;
  FaultWorld world(GetParam(), nobody.url(""), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_EQ(world.shown, std::string(kAttempts - 1, '|'));
  EXPECT_THAT(reply.error, HasSubstr(nobody.address()));
}

TEST_P(ModelFault, FiveThatFallSilentAtOnceAllGoOnOnNewConnections) {
  constexpr int kMany = 5;
  const std::string half = joined(GetParam().text, GetParam().text.size() / 2);
  std::vector<FaultProgram> programs(
      kMany, FaultProgram{fault::Send{http_answer(200, {{"Content-Type", GetParam().content_type}}, half)},
                          fault::Silence{}});
  programs.push_back(stream_of(GetParam(), joined(GetParam().text)));
  const FaultServer server(programs);
  FaultWorld world(GetParam(), server.url(), Temper::hasty);
  for (const Reply& reply : world.ask_many(kMany)) {
    EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
    EXPECT_EQ(reply.message.text, kSaid);
  }
  EXPECT_GE(server.connections(), 2 * kMany);
}

TEST_P(ModelFault, AKeyDoesNotFollowARedirect) {
  const FaultServer elsewhere({stream_of(GetParam(), joined(GetParam().text))});
  const FaultServer server({{fault::Send{
      http_answer(307, {{"Location", elsewhere.url() + "/v1"}, {"Content-Length", "0"}}, "")}}});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  EXPECT_EQ(world.ask().stop, ReplyStop::failed);
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST_P(ModelFault, AMillionCommentsAreBorne) {
  FaultProgram program = stream_of(GetParam(), "");
  std::string comments;
  while (comments.size() < 40'000) comments += GetParam().name == "ollama" ? "\n\n\n\n" : ": c\n";
  program.push_back(fault::Flood{comments, 4'000'000});
  program.push_back(fault::Send{joined(GetParam().text)});
  const FaultServer server({program});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(reply.message.text, kSaid);
}

// Each of these is parsed or passed over; none makes it wait for long, for ever, or not at all.
TEST_P(ModelFault, EveryFormOfRetryAfterIsBorne) {
  std::vector<std::string> forms{"0",
                                 "0.1",
                                 "1",
                                 "-5",
                                 "NaN",
                                 "inf",
                                 "1e309",
                                 "soon",
                                 "",
                                 "\xff",
                                 "0x1",
                                 "1, 2, 3",
                                 "+0.5",
                                 "00000",
                                 std::string(20'000, 'z'),
                                 "Wed, 21 Oct 2015 07:28:00 GMT",
                                 "Wednesday, 21-Oct-15 07:28:00 GMT",
                                 "0;x"};
  std::vector<FaultProgram> programs;
  for (const auto& form : forms) {
    programs.push_back({fault::Send{http_answer(429, {{"Retry-After", form}, {"Content-Length", "0"}}, "")}});
  }
  // One provider and one governor would wait between them: each form has a world of its own.
  std::vector<std::thread> asking;
  for (const FaultProgram& program : programs) {
    asking.emplace_back([&, program] {
      const FaultServer server({program, stream_of(GetParam(), joined(GetParam().text))});
      FaultWorld world(GetParam(), server.url(), Temper::patient);
      const Reply reply = world.ask();
      EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
      EXPECT_EQ(server.requests().size(), 2u);
    });
  }
  for (auto& one : asking) one.join();
}

TEST_P(ModelFault, ALimitThatLastsADayIsSaidAtOnce) {
  const FaultServer server(
      {{fault::Send{http_answer(429, {{"Retry-After", "86400"}, {"Content-Length", "0"}}, "")}}});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(reply.error, HasSubstr("wants no request for at least 24h 00m"));
}

INSTANTIATE_TEST_SUITE_P(All, ModelFault, testing::ValuesIn(shapes()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

// What takes too long for real time runs on a clock that jumps.
class StormSimulation : public testing::Test {
 protected:
  static Task<> keep(Task<Reply> task, Reply* reply) { *reply = co_await std::move(task); }
  Task<> ask_all(std::vector<Reply>* replies) {
    TaskGroup group(loop);
    for (Reply& reply : *replies) {
      group.spawn(keep(provider.ask({.prefix = prefix, .messages = messages, .fragments = fragments}, {}, {}),
                       &reply));
    }
    co_await group.join();
  }
  SimExchange exchange() {
    came.push_back(loop.clock().now());
    if (loop.clock().now() - TimePoint{} < storm) return {.status = rejection, .headers = headers};
    ++successes;
    return {.headers = {{"content-type", "text/event-stream"}},
            .chunks = {{joined(shape_of("anthropic").text)}}};
  }
  StormSimulation() {
    network.define("http://storm", [this](const HttpRequest&) { return exchange(); });
  }

  SimLoop loop{1};
  SimNetwork network{loop};
  SeededRandom random{1};
  Governors governors{loop};
  HttpProvider provider{{.dialect = anthropic_dialect_of(),
                         .endpoint = {"http://storm", kKey},
                         .key_variable = {},
                         .network = network,
                         .loop = loop,
                         .random = random,
                         .governors = governors,
                         .facts = [](const ModelName&) { return ModelFacts{.window = 1'000'000}; }}};
  static std::unique_ptr<Dialect> anthropic_dialect_of() { return shape_of("anthropic").dialect(); }
  std::shared_ptr<const RequestPrefix> prefix = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName("anthropic/m"), .max_output_tokens = 500});
  const std::vector<Message> messages{{.text = "hi"}};
  const std::vector<std::string> fragments{provider.encode(messages[0])};
  Duration storm{};
  int rejection = 529;
  HttpHeaders headers;
  std::vector<TimePoint> came;  // each request
  int successes = 0;
};

TEST_F(StormSimulation, TenMinutesOfOverloadFailNoneOfSixteen) {
  storm = std::chrono::minutes(10);
  std::vector<Reply> replies(16);
  run(loop, ask_all(&replies));
  for (const Reply& reply : replies) EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(successes, 16);
  // One at a time looks whether it is over; a naive retry would have sent thousands.
  EXPECT_LE(std::ssize(came) * 10, successes * 11 + 16 * 10);
  for (std::size_t i = 5; i < came.size() && came[i] - TimePoint{} < storm; ++i)
    EXPECT_GE(came[i] - came[i - 1], std::chrono::seconds(1)) << "they do not wait for the one that went";
  EXPECT_LE(loop.clock().now() - TimePoint{}, std::chrono::minutes(15));
}

TEST_F(StormSimulation, ATinyRetryAfterDoesNotBurnTheAttempts) {
  storm = std::chrono::seconds(30);
  rejection = 429;
  headers = {{"retry-after", "0.1"}};
  std::vector<Reply> replies(1);
  run(loop, ask_all(&replies));
  EXPECT_EQ(replies[0].stop, ReplyStop::finished) << replies[0].error;
  EXPECT_LE(came.size(), 12u);
}

}  // namespace
}  // namespace deputy
