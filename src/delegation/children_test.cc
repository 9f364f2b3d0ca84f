#include "delegation/children.h"

#include <gtest/gtest.h>

#include <chrono>
#include <new>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "support/run.h"

namespace deputy {
namespace {

Task<std::string> out_of_memory(SessionId, Report) {
  throw std::bad_alloc();
  co_return "";
}

Task<Result<Report>> end_soon(Loop& loop) {
  co_await sleep_for(loop, std::chrono::seconds(1), {});
  co_return Report{};
}

TEST(Children, OneWhoseReportCannotBeMailedIsNotWaitedFor) {
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
    EXPECT_EQ(post.box().state(), MailState::none);
    EXPECT_FALSE(children.is_live(child.id));
    run(loop, children.join());
  }
}

}  // namespace
}  // namespace deputy
