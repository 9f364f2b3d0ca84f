#include "delegation/children.h"

#include <gmock/gmock.h>

#include <chrono>
#include <new>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "support/run.h"
#include "transcript/mail.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

Task<std::string> out_of_memory(SessionId, Report) {
  throw std::bad_alloc();
  co_return "";
}

Task<Result<Boxed<Report>>> end_soon(Loop& loop) {
  co_await sleep_for(loop, std::chrono::seconds(1), {});
  Report report;
  report.session = SessionId("child");
  report.agent = "explore";
  report.body = "all that it found";
  co_return report;
}

TEST(Children, OneWhoseReportCannotBeLaidOutIsToldOfInShortAndOnce) {
  SimLoop loop(1);
  Children children(loop, out_of_memory);
  Session child;
  child.id = SessionId("child");
  child.parent = SessionId("parent");
  {
    Children::Post post(children, SessionId("parent"), Conversation{});
    children.start(child, Children::Where::beside, {}, [&loop](StopToken) { return end_soon(loop); });
    EXPECT_EQ(post.box().state(), MailState::expected);
    run(loop, post.box().wait({}));
    EXPECT_EQ(post.box().state(), MailState::here);
    EXPECT_FALSE(children.is_live(child.id));
    const auto mail = post.box().take();
    ASSERT_EQ(mail.size(), 1u);
    EXPECT_EQ(mail[0].item, report_item(child.id, child.run)) << "so that it is not owed any more";
    EXPECT_THAT(mail[0].text, HasSubstr("## Subagent Result (explore)\nStatus: completed\nSession: child\n"));
    EXPECT_THAT(mail[0].text, HasSubstr("task_status"));
    EXPECT_EQ(post.box().state(), MailState::none);
    run(loop, children.join());
  }
}

TEST(Children, AreKnownByTheirParentInTheOrderOfTheirStartUntilTheyAreFetched) {
  SimLoop loop(1);
  Children children(loop, out_of_memory);
  const auto start = [&](const std::string& id, const std::string& parent) {
    Session child;
    child.id = SessionId(id);
    child.parent = SessionId(parent);
    children.start(child, Children::Where::awaited, {}, [&loop](StopToken) { return end_soon(loop); });
  };
  start("b", "one");
  start("c", "other");
  start("a", "one");
  const std::vector<SessionId> of_one{SessionId("b"), SessionId("a")};
  EXPECT_EQ(children.live_of(SessionId("one")), of_one);
  EXPECT_EQ(children.live_of(SessionId("other")), std::vector{SessionId("c")});
  EXPECT_TRUE(children.live_of(SessionId("a")).empty());
  run(loop, children.meet(SessionId("b")));
  EXPECT_EQ(children.live_of(SessionId("one")), std::vector{SessionId("a")});
  start("b", "one");
  start("b", "one");  // another run of the same child: it takes the place of the one before
  const std::vector<SessionId> again{SessionId("a"), SessionId("b")};
  EXPECT_EQ(children.live_of(SessionId("one")), again);
  run(loop, children.end_all_of(SessionId("one")));
  EXPECT_TRUE(children.live_of(SessionId("one")).empty());
  EXPECT_TRUE(children.is_live(SessionId("c")));
  run(loop, children.join());
}

}  // namespace
}  // namespace deputy
