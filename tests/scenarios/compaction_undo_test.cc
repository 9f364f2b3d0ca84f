// A compaction that is undone: the conversation is told as if nothing had happened.
#include <algorithm>
#include <utility>

#include "a_compaction.h"
#include "support/hosted_provider.h"

namespace deputy {
namespace {

using testing::HasSubstr;

TEST_F(Compaction, UndoneTheNextRequestIsWhatItWouldHaveBeen) {
  plot.window = 1'000'000;
  plot.reads = 2;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();

  begin_anew();
  ASSERT_TRUE(start());
  const auto compacted = say("", RunTask::compact);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_EQ(compacted->status, Status::completed);
  ASSERT_EQ(compactions().size(), 1u);
  const auto undone = say("", RunTask::undo_compaction);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(undone->status, Status::completed);
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, UndoneAfterStepsThatFollowedItTheNextRequestIsWhatItWouldHaveBeen) {
  plot.window = 1'000'000;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("more"));
  ASSERT_TRUE(compactions().empty());
  const std::string as_it_would_be = requests.back();

  begin_anew();
  plot.window = kWindow;
  ASSERT_TRUE(start());
  ASSERT_FALSE(compactions().empty());
  EXPECT_NE(requests.back(), as_it_would_be);
  std::size_t undone = 0;
  while (say("", RunTask::undo_compaction)) ++undone;
  EXPECT_EQ(undone, compactions().size());
  plot.window = 1'000'000;
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, MadeAfterTheProviderSaidThatItDoesNotFitAndUndoneTheNextRequestIsWhatItWouldHaveBeen) {
  plot.window = plot.taken_for = 1'000'000;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();

  begin_anew();
  plot.window = kWindow;
  ASSERT_TRUE(start());
  ASSERT_EQ(compactions().size(), 1u);
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  plot.window = 1'000'000;
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, MadeAfterTheProviderStoppedInAReplyAndUndoneTheNextRequestIsWhatItWouldHaveBeen) {
  const auto fill_the_window = [this] {
    begin_anew();
    plot = {};
    plot.taken_for = 1'000'000;
    plot.sums_up = false;
    plot.says_before_full = "the first half of";
    const auto full = start();
    ASSERT_TRUE(full) << full.error().message;
    ASSERT_NE(full->status, Status::completed);
  };
  fill_the_window();
  plot.window = 1'000'000;
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();
  EXPECT_THAT(as_it_would_be, HasSubstr("the first half of"));

  fill_the_window();
  plot.sums_up = true;
  plot.says_before_full = "";
  const auto compacted = say("", RunTask::compact);
  ASSERT_TRUE(compacted) << compacted.error().message;
  ASSERT_EQ(compacted->status, Status::completed) << compacted->body;
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  plot.window = 1'000'000;
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, OfTwoTheLastIsUndoneAndTheFirstStands) {
  plot.window = 1'000'000;
  plot.reads = 2;
  const auto begin = [this] {
    begin_anew();
    ASSERT_TRUE(start());
    ASSERT_TRUE(say("", RunTask::compact));
    ASSERT_TRUE(say("behind the summary"));
  };
  begin();
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();
  EXPECT_THAT(as_it_would_be, HasSubstr(kSummary));
  EXPECT_THAT(as_it_would_be, HasSubstr("behind the summary"));

  begin();
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_EQ(compactions().size(), 2u);
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

// What the requests of a chat with a hosted model hold, in its own dialect.
std::vector<std::string> bodies_of(Tongue tongue, const ModelName& model,
                                   const std::vector<RunTask>& before_more) {
  const std::vector<Said> replies{{.calls = {{"c0", "Read", R"({"file_path":"f0.txt"})"}}}, {.text = "done"}};
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("f0.txt", "words");
  std::vector<std::string> bodies;
  const auto server = [&](const HttpRequest& request) {
    bodies.push_back(request.body);
    return answer_in(tongue, replies[std::min(bodies.size(), replies.size()) - 1]);
  };
  const Life::Options options{
      .model = [&](Loop& loop) { return std::make_unique<HostedProvider>(loop, tongue, server, 200'000); }};
  {
    Life life(world, options);
    RootBrief root = life.brief("read it");
    root.model = model;
    EXPECT_TRUE(life.start(std::move(root)));
  }
  std::vector<NextInput> inputs;
  for (const RunTask task : before_more) inputs.push_back({.text = "", .task = task});
  inputs.push_back({.text = "more"});
  for (const NextInput& input : inputs) {
    Life life(world, options);
    const auto report = life.say(world.sessions().front().id, input);
    EXPECT_TRUE(report && report->status == Status::completed)
        << (report ? report->body : report.error().message);
  }
  return bodies;
}

TEST(CompactionInADialect, UndoneTheNextRequestIsWhatItWouldHaveBeen) {
  const std::pair<Tongue, ModelName> hosted[] = {{Tongue::anthropic, ModelName("anthropic/test")},
                                                 {Tongue::openai_responses, ModelName("openai/test")}};
  for (const auto& [tongue, model] : hosted) {
    SCOPED_TRACE(model.value);
    const auto plain = bodies_of(tongue, model, {});
    const auto undone = bodies_of(tongue, model, {RunTask::compact, RunTask::undo_compaction});
    const auto compacted = bodies_of(tongue, model, {RunTask::compact});
    ASSERT_EQ(plain.size(), 3u);
    ASSERT_EQ(undone.size(), 4u) << "what was asked for the summary is one more";
    EXPECT_EQ(undone.back(), plain.back());
    EXPECT_NE(compacted.back(), plain.back());
  }
}

TEST_F(Compaction, OneThatWasUndoneAndHasPassedTheWindowCanBeCompactedAgain) {
  ASSERT_TRUE(start());
  while (say("", RunTask::undo_compaction)) {
  }
  const auto full = say("more");
  ASSERT_TRUE(full) << full.error().message;
  ASSERT_EQ(full->reason, Reason::context_exhausted);
  const auto compacted = say("", RunTask::compact);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_EQ(compacted->status, Status::completed) << compacted->body;
  const auto goes_on = say("more");
  ASSERT_TRUE(goes_on) << goes_on.error().message;
  EXPECT_EQ(goes_on->body, "done");
}

TEST_F(Compaction, OneThatWasUndoneDoesNotComeBackByItself) {
  const auto report = start();
  ASSERT_TRUE(report);
  const std::size_t before = compactions().size();
  ASSERT_GT(before, 0u);
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  (void)say("more");
  EXPECT_EQ(compactions().size(), before);
}

}  // namespace
}  // namespace deputy
