// Faults of the connection that need more than a program of steps: HTTP/2 that says goodbye in the middle,
// and a machine that has no descriptor left to connect with.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>

#include "fault_world.h"
#include "support/http2_peer.h"
#include "support/temp_folder.h"
#include "support/test_authority.h"

namespace {

std::atomic<bool> has_descriptors = true;

}  // namespace

// The program's one way to a socket, libcurl's too. To take the descriptors themselves would leave the
// sanitizers without any, which then see faults where there are none.
extern "C" int socket(int domain, int type, int protocol) noexcept {
  if (has_descriptors) return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
  errno = EMFILE;
  return -1;
}

namespace deputy {
namespace {

class ConnectionFault : public testing::TestWithParam<Shape> {};

TEST_P(ConnectionFault, AGoAwayInTheMiddleIsTriedAgainOnce) {
  const TempFolder folder;
  const TestAuthority authority;
  std::ofstream(folder.file("ca.pem")) << authority.pem();
  std::atomic<int> asked = 0;
  const LoopbackServer server(
      [&asked](Peer& peer) {
        Http2Peer http(peer, 100);
        const auto stream = http.next_request();
        if (stream == 0) return;
        http.start(stream, 200);
        if (asked++ == 0) {
          http.send(stream, joined(GetParam().text, GetParam().text.size() / 2));
          http.go_away(0);
        } else {
          http.send(stream, joined(GetParam().text)), http.end(stream);
        }
        peer.closes_within();
      },
      authority.server("IP:127.0.0.1", {"h2"}));
  FaultWorld world(GetParam(), "https://" + server.address(), Temper::patient,
                   {.ca_file = folder.file("ca.pem")});
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(reply.message.text, kSaid);
  EXPECT_EQ(asked, 2);
}

TEST_P(ConnectionFault, ATlsHandshakeThatFailsIsTriedSomeTimesAndThenSaid) {
  const LoopbackServer server([](Peer& peer) { peer.write("this is not TLS\r\n"), peer.closes_within(); });
  FaultWorld world(GetParam(), "https://" + server.address(), Temper::patient);
  const Reply reply = world.ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_EQ(world.shown, std::string(kAttempts - 1, '|'));
  EXPECT_EQ(server.connections(), kAttempts);
  EXPECT_THAT(reply.error, testing::HasSubstr(server.address()));
}

TEST_P(ConnectionFault, WithoutADescriptorLeftItIsTriedAgain) {
  const FaultServer server({{fault::Send{
      http_answer(200, {{"Content-Type", GetParam().content_type}}, joined(GetParam().text))}}});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  has_descriptors = false;
  world.on_retry = [] { has_descriptors = true; };
  const Reply reply = world.ask();
  EXPECT_TRUE(has_descriptors.exchange(true));
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(world.shown, "|" + kSaid);
}

TEST_P(ConnectionFault, WithoutADescriptorAtAllItIsSaid) {
  const FaultServer server({{fault::Silence{}}});
  FaultWorld world(GetParam(), server.url(), Temper::patient);
  has_descriptors = false;
  const Reply reply = world.ask();
  has_descriptors = true;
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_NE(reply.error, "");
  EXPECT_EQ(server.connections(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, ConnectionFault, testing::ValuesIn(shapes()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace deputy
