// What of the recorded traffic is no answer of a model, and that no body was forgotten.
#include <gmock/gmock.h>

#include "model/fixture_replay.h"
#include "net/sse.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

struct Stream {
  std::string name;
  std::vector<std::string> events;  // name, data: its beginning and its size where it is long
};

const std::vector<Stream> kStreams{
    {"synthetic/sse-framing-torture.sse",
     {"message {\"a\":\n1}", R"(message {"nospace":true})", R"(message {"cr":true})",
      R"(message {"utf8":"hé世界😀"})", "message [DONE]"}},
    {"mcp/initialize.sse", {R"(message {"jsonrpc":"2.0","id":0,"result":{"protocolVersion… 1825 bytes)"}},
    {"mcp/initialized-202.txt", {}},
    {"mcp/tools-list.sse", {R"(message {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name"… 1579 bytes)"}},
    {"mcp/tools-call-with-pings-and-notifications.sse",
     {R"(message {"method":"notifications/message","params":{"level… 240 bytes)",
      R"(message {"jsonrpc":"2.0","id":2,"result":{"content":[{"typ… 9247 bytes)"}}};

const bool kListed = list_fixtures(kStreams);

std::string shown(const SseEvent& event) {
  if (event.data.size() <= 100) return event.name + " " + event.data;
  return fmt::format("{} {}… {} bytes", event.name, event.data.substr(0, 50), event.data.size());
}

std::vector<std::string> events_in(const std::vector<std::string_view>& pieces) {
  std::vector<std::string> events;
  SseDecoder decoder;
  for (const std::string_view piece : pieces) {
    decoder.feed(piece, [&](const SseEvent& event) { events.push_back(shown(event)); });
  }
  return events;
}

TEST(Fixtures, EveryFramingGivesTheSameEventsInAnyCuts) {
  NEEDS_FIXTURES();
  for (const Stream& stream : kStreams) {
    SCOPED_TRACE(stream.name);
    const std::string body = load_fixture(stream.name).body;
    EXPECT_THAT(events_in({body}), ElementsAreArray(stream.events));
    EXPECT_THAT(events_in(fixture_internal::in_bytes(body)), ElementsAreArray(stream.events));
    SeededRandom random(crc32(body));
    for (int round = 0; round < 20; ++round) {
      EXPECT_THAT(events_in(fixture_internal::in_random_pieces(body, random)),
                  ElementsAreArray(stream.events));
    }
  }
}

// By the standard it is none. Servers that leave out the last blank line are met half-way, at the body's end.
TEST(Fixtures, AnEventWithoutItsBlankLineWaitsForTheEnd) {
  NEEDS_FIXTURES();
  SseDecoder decoder;
  decoder.feed(load_fixture("synthetic/sse-framing-torture.sse").body, [](const SseEvent&) {});
  std::vector<std::string> at_the_end;
  decoder.finish([&](const SseEvent& event) { at_the_end.push_back(event.data); });
  EXPECT_THAT(at_the_end, ElementsAre(R"({"unterminated":true})"));
}

TEST(Fixtures, EveryBodyIsListed) {
  NEEDS_FIXTURES();
  const auto root = SystemDisk().open(*fixtures_dir(), IfAbsent::fail);
  ASSERT_TRUE(root);
  const auto folders = (*root)->list(".");
  ASSERT_TRUE(folders);
  std::size_t bodies = 0;
  for (const Entry& folder : *folders) {
    if (folder.status.kind != EntryKind::folder) continue;
    for (const std::string& name : fixture_names(folder.name)) {
      ++bodies;
      EXPECT_TRUE(listed_fixtures().contains(name)) << name << ": no test says what must come of it";
    }
  }
  EXPECT_GE(bodies, 150u);
  EXPECT_EQ(listed_fixtures().size(), bodies) << "a list names what is not there";
}

}  // namespace
}  // namespace deputy
