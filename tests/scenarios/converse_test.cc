// A conversation of several inputs: each is a new run of the same root session.
#include <gmock/gmock.h>

#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kScript = R"({"v":1,"log":"calls","sessions":[{"replies":[
  {"text":"Hello."},
  {"text":"I look.","calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}],"expect":{"contains":"second"}},
  {"text":"It says hi.","expect":{"contains":"hi"}},
  {"text":"Once more.","first_byte_ms":1000}]}]})";

class Converse : public testing::Test {
 protected:
  Converse() {
    world_.script = kScript;
    world_.write_file("a.txt", "hi\n");
  }
  SimWorld world_;
};

TEST_F(Converse, ASessionThatHasEndedTakesItsNextInput) {
  Life life(world_, {});
  ASSERT_TRUE(life.start(life.brief("first")));
  const SessionId root = world_.sessions().front().id;
  const auto report = life.say(root, {.text = "second"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "It says hi.");
  EXPECT_EQ(world_.sessions().size(), 1u);
  EXPECT_EQ(world_.sessions().front().run, 2);
  EXPECT_EQ(world_.terminal_records(root), 2) << "one of each run";
}

TEST_F(Converse, ItGoesOnInAnotherProcessAfterACrash) {
  SessionId root;
  {
    Life life(world_, {});
    ASSERT_TRUE(life.start(life.brief("first")));
    root = world_.sessions().front().id;
  }
  Life again(world_, {.seed = 2});
  const auto report = again.say(root, {.text = "second"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "It says hi.");
}

TEST_F(Converse, AnotherModelIsUsedFromThatInputOn) {
  Life life(world_, {});
  ASSERT_TRUE(life.start(life.brief("first")));
  const SessionId root = world_.sessions().front().id;
  ASSERT_TRUE(life.say(root, {.text = "second", .model = ModelName("scripted/other")}));
  std::vector<std::string> models;
  for (const auto& event : life.events()) {
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact))
      models.push_back(reply->reply.model.value);
  }
  EXPECT_EQ(models, (std::vector<std::string>{"scripted/test", "scripted/other", "scripted/other"}));
}

TEST_F(Converse, AModelThatNobodyHasIsRefusedBeforeAnythingIsRecorded) {
  Life life(world_, {});
  ASSERT_TRUE(life.start(life.brief("first")));
  const SessionId root = world_.sessions().front().id;
  const auto report = life.say(root, {.text = "second", .model = ModelName("nobody/x")});
  ASSERT_FALSE(report);
  EXPECT_EQ(world_.sessions().front().run, 1);
}

// The Note after the child never ran: the next request must hold a result for it all the same.
TEST_F(Converse, WhatRunsIsCancelledAndTheNextInputRuns) {
  world_.script = R"({"v":1,"sessions":[
    {"match":{"agent":"explore"},"replies":[{"text":"Late.","first_byte_ms":60000}]},
    {"replies":[
      {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}},{"name":"Note","arguments":{"content":"n"}}]},
      {"text":"Well then.","expect":{"contains":"go on"}}]}]})";
  Life life(world_, {});
  life.after_event(12, [this](Runtime& runtime) {
    for (const auto& session : world_.sessions()) {
      if (!session.parent) runtime.cancel(session.id, StopReason::user);
    }
  });
  const auto cancelled = life.start(life.brief("first"));
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  ASSERT_EQ(cancelled->status, Status::cancelled);
  const auto report = life.say(cancelled->session, {.text = "go on"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "Well then.") << (report->errors.empty() ? "" : report->errors.front().message);
}

TEST_F(Converse, ASessionThatStillRunsTakesNone) {
  SessionId root;
  {
    Life life(world_, {});
    life.after_event(3, [](Runtime& runtime) { runtime.cancel(StopReason::shutdown); });
    ASSERT_FALSE(life.start(life.brief("first")));
    root = world_.sessions().front().id;
  }
  Life again(world_, {.seed = 2});
  const auto report = again.say(root, {.text = "second"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().advice, HasSubstr("resume it"));
}

}  // namespace
}  // namespace deputy
