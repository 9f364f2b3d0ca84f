#include "net/sse.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace deputy {
namespace {

struct Told {
  std::vector<std::pair<std::string, std::string>> events;
  bool overflowed = false;
  bool operator==(const Told&) const = default;
};

Told told_by(const std::vector<std::string_view>& pieces, std::size_t most = kMaxSseEventBytes) {
  Told told;
  SseDecoder decoder(most);
  const auto sink = [&](const SseEvent& event) { told.events.emplace_back(event.name, event.data); };
  for (const auto piece : pieces) decoder.feed(piece, sink);
  decoder.finish(sink);
  told.overflowed = decoder.overflowed();
  return told;
}

TEST(SseDecoder, DispatchesAnEventAtItsBlankLine) {
  const Told told = told_by({"event: ping\ndata: {}\n\ndata: a\ndata:b\n\n"});
  ASSERT_EQ(told.events.size(), 2U);
  EXPECT_EQ(told.events[0], std::pair(std::string("ping"), std::string("{}")));
  EXPECT_EQ(told.events[1], std::pair(std::string("message"), std::string("a\nb")));
}

TEST(SseDecoder, PassesOverCommentsOtherFieldsAndEventsWithoutData) {
  EXPECT_TRUE(told_by({": keep-alive\n\nevent: x\n\nid: 7\nretry: 3\n\ndata\n\ndata:\n\n"}).events.empty());
}

TEST(SseDecoder, KnowsEveryLineEndAndTheByteOrderMark) {
  const Told told =
      told_by({"\xef\xbb\xbf"
               "data: a\r\n\r\ndata: b\r\rdata: c\n\n"});
  ASSERT_EQ(told.events.size(), 3U);
  EXPECT_EQ(told.events[2].second, "c");
}

TEST(SseDecoder, TakesTheLastEventWithoutItsBlankLine) {
  EXPECT_EQ(told_by({"data: end"}).events.size(), 1U);
}

TEST(SseDecoder, GivesTheSameForEveryCut) {
  const std::string_view text =
      "\xef\xbb\xbf"
      "event: a\r\ndata: 1\r\n\r\n: c\rdata: \xc3\xa9\r\rdata:x\ndata:y\n\ndata: z";
  const Told whole = told_by({text});
  ASSERT_EQ(whole.events.size(), 4U);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      ASSERT_EQ(told_by({text.substr(0, first), text.substr(first, second - first), text.substr(second)}),
                whole);
    }
  }
}

TEST(SseDecoder, DropsAnEventPastTheLimitAndGoesOn) {
  const std::string at(10, 'x');
  const std::string past(11, 'x');
  EXPECT_EQ(told_by({"data:x\ndata:" + at.substr(2) + "\n\n"}, 14).events.size(), 1U);
  for (const auto& large : {"data:" + past + "\n\n", std::string("data:aaaaaaaaa\ndata:bbbbbbbbb\n\n")}) {
    const Told told = told_by({large, "data:ok\n\n"}, 15);
    ASSERT_EQ(told.events.size(), 1U) << large;
    EXPECT_EQ(told.events[0].second, "ok");
    EXPECT_TRUE(told.overflowed);
  }
}

TEST(SseDecoder, DropsTheSameForEveryCut) {
  const std::string long_name(20, 'n');
  const std::string text =
      "data: 1\n" + long_name + ":data: 2\ndata: 3\n\n:" + long_name + "\ndata: 4\n\ndata: 5\n\n";
  const Told whole = told_by({text}, 15);
  ASSERT_EQ(whole.events.size(),
            1U);  // the long comment's event is dropped too: it was not kept to be looked at
  EXPECT_EQ(whole.events[0].second, "5");
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      const std::string_view all = text;
      ASSERT_EQ(told_by({all.substr(0, first), all.substr(first, second - first), all.substr(second)}, 15),
                whole);
    }
  }
}

TEST(SseDecoder, CountsTheLineEndsBetweenItsDataLines) {
  EXPECT_EQ(told_by({"data:abc\ndata:def\ndata:gh\n\n"}, 10).events.size(), 1U);
  EXPECT_TRUE(told_by({"data:abc\ndata:def\ndata:gh\n\n"}, 9).events.empty());
}

}  // namespace
}  // namespace deputy
