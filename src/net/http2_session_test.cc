#include "net/http2_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

enum Type : char { data = 0, headers = 1, rst_stream = 3, settings = 4, go_away = 7, window_update = 8 };
constexpr char kEndStream = 1, kEndHeaders = 4;

std::string number(std::uint32_t value, int bytes = 4) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += char(value >> (8 * i));
  return out;
}

std::uint32_t number_in(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string frame(Type type, char flags, StreamId stream, const std::string& payload) {
  return number(std::uint32_t(payload.size()), 3) + char(type) + flags + number(std::uint32_t(stream)) +
         payload;
}

// A line of a head that is not in any table.
std::string line(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + char(name.size()) + name + char(value.size()) + value;
}

std::string head(StreamId stream, int status, const std::string& lines = {}, char flags = 0) {
  return frame(headers, char(kEndHeaders | flags), stream, "\x08\x03" + std::to_string(status) + lines);
}

std::string limit(std::uint32_t streams) { return frame(settings, 0, 0, number(3, 2) + number(streams)); }
// With the peer's word that it has seen our settings.
std::string allowing(std::uint32_t streams) { return limit(streams) + frame(settings, 1, 0, ""); }

struct Sent {
  Type type{};
  char flags = 0;
  StreamId stream = 0;
  std::string payload;
};

struct Read final : Http2Reader {
  std::vector<HttpResponse> heads;
  std::string body;
  std::vector<Http2End> ends;
  void head(HttpResponse response) override { heads.push_back(std::move(response)); }
  void bytes(std::string_view piece) override { body += piece; }
  void end(Http2End end) override { ends.push_back(std::move(end)); }
};

class Http2SessionTest : public testing::Test {
 protected:
  // What the session has to say, in frames; the greeting, which comes first, is left out.
  std::vector<Sent> said() {
    std::string all;
    while (const auto more = session.next_to_send()) {
      if (more->empty()) break;
      all += *more;
    }
    constexpr std::string_view kGreeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    std::string_view left = all;
    if (left.starts_with(kGreeting)) left.remove_prefix(kGreeting.size());
    std::vector<Sent> frames;
    while (!left.empty()) {
      const std::size_t size = number_in(left.substr(0, 3));
      frames.push_back({Type(left[3]), left[4], StreamId(number_in(left.substr(5, 4))),
                        std::string(left.substr(9, size))});
      left.remove_prefix(9 + size);
    }
    return frames;
  }
  std::vector<Sent> said(Type type) {
    auto frames = said();
    std::erase_if(frames, [type](const Sent& sent) { return sent.type != type; });
    return frames;
  }
  StreamId start(Read& read, std::string body = {}) {
    return session.start({{":method", "POST"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}},
                         std::move(body), read);
  }
  Http2Session session;
};

TEST_F(Http2SessionTest, BringsHeadAndBodyAndEnd) {
  Read read;
  const auto stream = start(read, "question");
  EXPECT_THAT(said(data), ElementsAre(testing::Field(&Sent::payload, "question")));
  ASSERT_TRUE(session.take(allowing(100) + head(stream, 200, line("x", "y")) + frame(data, 0, stream, "an")));
  EXPECT_EQ(read.body, "an");
  EXPECT_THAT(read.ends, IsEmpty());
  ASSERT_TRUE(session.take(frame(data, kEndStream, stream, "swer")));
  ASSERT_THAT(read.heads, SizeIs(1));
  EXPECT_EQ(read.heads[0].status, 200);
  EXPECT_THAT(read.heads[0].headers, ElementsAre(HttpHeader{"x", "y"}));
  EXPECT_EQ(read.body, "answer");
  ASSERT_THAT(read.ends, SizeIs(1));
  EXPECT_EQ(read.ends[0].how, Http2End::How::complete);
  EXPECT_EQ(session.streams(), 0u);
}

TEST_F(Http2SessionTest, PassesOverWhatComesBeforeAndAfterTheAnswer) {
  Read read;
  const auto stream = start(read);
  said();
  ASSERT_TRUE(session.take(allowing(1) + head(stream, 103, line("early", "hint")) +
                           head(stream, 200, line("x", "y")) + frame(data, 0, stream, "all") +
                           frame(headers, kEndHeaders | kEndStream, stream, line("trailer", "z"))));
  ASSERT_THAT(read.heads, SizeIs(1));
  EXPECT_THAT(read.heads[0].headers, ElementsAre(HttpHeader{"x", "y"}));
  ASSERT_THAT(read.ends, SizeIs(1));
  EXPECT_EQ(read.ends[0].how, Http2End::How::complete);
}

TEST_F(Http2SessionTest, HasRoomForOneBeforeThePeerHasSaidForHowMany) {
  EXPECT_EQ(session.room(), 1u);
  Read read;
  start(read);
  EXPECT_EQ(session.room(), 0u);
  EXPECT_FALSE(session.knows_room());
  ASSERT_TRUE(session.take(allowing(3)));
  EXPECT_TRUE(session.knows_room());
  EXPECT_EQ(session.room(), 2u);
  ASSERT_TRUE(session.take(limit(100'000)));
  EXPECT_EQ(session.room(), kMostStreams - 1);
  ASSERT_TRUE(session.take(limit(0)));
  EXPECT_EQ(session.room(), 0u);
}

TEST_F(Http2SessionTest, AStreamThatIsGivenUpIsResetAndHeardOfNoMore) {
  Read read;
  const auto stream = start(read);
  said();
  ASSERT_TRUE(session.take(allowing(100) + head(stream, 200) + frame(data, 0, stream, "an")));
  session.give_up(stream);
  const auto resets = said(rst_stream);
  ASSERT_THAT(resets, SizeIs(1));
  EXPECT_EQ(resets[0].stream, stream);
  ASSERT_TRUE(session.take(frame(data, kEndStream, stream, "swer")));
  EXPECT_EQ(read.body, "an");
  EXPECT_THAT(read.ends, IsEmpty());
  EXPECT_EQ(session.streams(), 0u);
}

TEST_F(Http2SessionTest, AStreamThatIsGivenUpBeforeItWasSentIsNotSent) {
  Read read;
  start(read, "question");
  session.give_up(1);
  EXPECT_THAT(said(headers), IsEmpty());
  EXPECT_THAT(read.ends, IsEmpty());
  EXPECT_EQ(session.streams(), 0u);
}

TEST_F(Http2SessionTest, WhatIsRefusedComesBackWithItsBody) {
  Read refused, kept;
  const auto first = start(kept);
  said();
  ASSERT_TRUE(session.take(allowing(100)));
  const auto second = start(refused, "question");
  said();
  ASSERT_TRUE(session.take(frame(go_away, 0, 0, number(std::uint32_t(first)) + number(0))));
  ASSERT_THAT(refused.ends, SizeIs(1)) << second;
  EXPECT_EQ(refused.ends[0].how, Http2End::How::refused);
  EXPECT_EQ(refused.ends[0].body, "question");
  EXPECT_EQ(session.room(), 0u);
  EXPECT_THAT(kept.ends, IsEmpty());
  ASSERT_TRUE(session.take(head(first, 200, {}, kEndStream)));
  EXPECT_EQ(kept.ends[0].how, Http2End::How::complete);
}

TEST_F(Http2SessionTest, AnAnswerThatHasBegunIsNotRefusedButCut) {
  Read read;
  const auto stream = start(read, "question");
  said();
  ASSERT_TRUE(session.take(allowing(100) + head(stream, 200) + frame(go_away, 0, 0, number(0) + number(0))));
  ASSERT_THAT(read.ends, SizeIs(1));
  EXPECT_EQ(read.ends[0].how, Http2End::How::cut);
}

TEST_F(Http2SessionTest, AResetSaysWhy) {
  Read read;
  const auto stream = start(read);
  said();
  ASSERT_TRUE(session.take(allowing(1) + head(stream, 200) + frame(rst_stream, 0, stream, number(2))));
  ASSERT_THAT(read.ends, SizeIs(1));
  EXPECT_THAT(read.ends[0].why, HasSubstr("INTERNAL_ERROR"));
}

TEST_F(Http2SessionTest, TheWindowOpensByWhatWasTaken) {
  Read read;
  const auto stream = start(read);
  said();
  ASSERT_TRUE(session.take(allowing(1) + head(stream, 200)));
  constexpr int kPiece = 16'384;
  for (int sent = 0; sent < kStreamWindow; sent += kPiece)
    ASSERT_TRUE(session.take(frame(data, 0, stream, std::string(kPiece, 'x'))));
  EXPECT_EQ(read.body.size(), std::size_t(kStreamWindow));
  EXPECT_THAT(said(window_update), IsEmpty());
  session.taken(stream, kStreamWindow);
  const auto updates = said(window_update);
  ASSERT_THAT(updates, SizeIs(1));
  EXPECT_EQ(updates[0].stream, stream);
  EXPECT_EQ(number_in(updates[0].payload), std::uint32_t(kStreamWindow));
}

TEST_F(Http2SessionTest, WhoSendsMoreThanTheWindowIsCut) {
  Read read;
  const auto stream = start(read);
  said();
  ASSERT_TRUE(session.take(allowing(1) + head(stream, 200)));
  for (int sent = 0; sent < kStreamWindow; sent += 16'384)
    ASSERT_TRUE(session.take(frame(data, 0, stream, std::string(16'384, 'x'))));
  EXPECT_THAT(read.ends, IsEmpty());
  ASSERT_TRUE(session.take(frame(data, 0, stream, "x")));
  said();
  ASSERT_THAT(read.ends, SizeIs(1));
  EXPECT_THAT(read.ends[0].why, HasSubstr("FLOW_CONTROL_ERROR"));
}

// A line that stands in the table takes one byte on the wire, however long it is.
TEST_F(Http2SessionTest, AHeadHasAMostSize) {
  constexpr std::size_t kStatus = 14;  // ":status", "200", and what stands around them on paper
  constexpr std::size_t kLine = 105, kFirstInTable = 62;
  static_assert((kMaxHeadBytes - kStatus) / kLine > 100);
  const std::size_t count = (kMaxHeadBytes - kStatus) / kLine;
  const std::size_t rest = kMaxHeadBytes - kStatus - count * kLine;
  for (const std::size_t more : {0, 1}) {
    Http2Session each;
    Read read;
    const auto stream =
        each.start({{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}}, {}, read);
    while (!each.next_to_send().value_or("").empty()) {
    }
    std::string kept = line("x", std::string(100, 'v'));
    kept[0] = 0x40;
    const std::string lines = kept + std::string(count - 1, char(0x80 | kFirstInTable)) +
                              line("y", std::string(rest - 5 + more, 'v'));
    ASSERT_TRUE(each.take(allowing(1) + head(stream, 200, lines)));
    while (!each.next_to_send().value_or("").empty()) {
    }
    EXPECT_EQ(read.heads.size(), 1 - more);
    EXPECT_EQ(read.ends.size(), more);
    if (more) EXPECT_THAT(read.ends.at(0).why, HasSubstr("too large"));
  }
}

TEST_F(Http2SessionTest, WhatIsNotHttp2IsAnError) {
  Read read;
  start(read);
  said();
  EXPECT_FALSE(session.is_over());
  (void)session.take("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_THAT(said(go_away), SizeIs(1));
  EXPECT_TRUE(session.is_over());
}

TEST(Http2Head, HasTheNamesInLowerCaseAndNothingOfAConnection) {
  const auto head =
      http2_head({.method = "POST",
                  .url = "https://host:8443/v1/messages?beta=true#part",
                  .headers = {{"Content-Type", " text/plain "}, {"Connection", "close"}, {"Host", "other"}},
                  .body = "abc"});
  EXPECT_THAT(head,
              ElementsAre(HttpHeader{":method", "POST"}, HttpHeader{":scheme", "https"},
                          HttpHeader{":authority", "other"}, HttpHeader{":path", "/v1/messages?beta=true"},
                          HttpHeader{"content-type", "text/plain"}, HttpHeader{"accept", "*/*"},
                          HttpHeader{"content-length", "3"}));
  EXPECT_EQ(http2_head({.url = "https://host"})[3].value, "/");
  EXPECT_EQ(http2_head({.url = "https://host:443/"})[2].value, "host");
}

}  // namespace
}  // namespace deputy
