// What a person sees, through a terminal in memory: golden files for 40, 80 and 160 columns.
#include <gmock/gmock.h>

#include "support/golden.h"
#include "tui/chat_story.h"
#include "tui/live_region.h"
#include "tui/screen.h"

namespace deputy {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kReply = R"(# What I found

The *till* has **two** problems, 日本語 and 🚀 included:

1. it runs `eval`
2. it has no tests
   - not one

```cc
int main() { return 0; }
```

```diff
@@ -1 +1 @@
-return eval(expression)
+return parse(expression)
```

| file | lines |
|------|------:|
| src/till.py | 12 |
| src/cart.py | 9 |

> See [the docs](https://docs.example/till).
)";

class Frames : public testing::TestWithParam<int> {
 protected:
  Frames() : size_{GetParam(), 24}, screen_(size_), region_({.colour = true}) { story.state.size = size_; }

  void draw() {
    screen_.feed(region_.draw(std::exchange(story.state.out, {}), frame_of(story.state), size_));
  }
  void expect(const std::string& name) {
    draw();
    expect_golden(fmt::format("tui/{}-{}.txt", name, GetParam()), screen_.all());
  }
  // A parent with three children, one of which has one of its own.
  void delegate() {
    story.begin("Review this folder.");
    story.reply("I ask three.", {{"1", "Delegate", R"({"tasks":[{},{},{}]})"}},
                {.input = 1200, .output = 80, .cost_micros = 4800});
    story.child("security");
    story.call_of_child("Read", "src/till.py");
    story.child("correctness");
    story.call_of_child("Grep", "\\bTODO\\b");
    story.child("deep", "correctness");
    story.call_of_child("Bash", "npm test -- --watch=false --reporter=dot src/components/checkout");
    story.child("refactor");
    Reply used;
    used.usage = {.input = 45'000, .output = 2'100, .cost_micros = 190'000};
    used.message = {.role = Role::assistant, .text = "done"};
    story.tell_child("security", ReplyReceived{used});
    story.pass(std::chrono::seconds(3));
    story.tell_child("security", RunEnded{Report{}});
    Report partial;
    partial.status = Status::partial;
    partial.reason = Reason::context_exhausted;
    story.tell_child("refactor", RunEnded{partial});
    story.pass(std::chrono::seconds(12));
  }

  TerminalSize size_;
  Screen screen_;
  LiveRegion region_;
  ChatStory story;
};

INSTANTIATE_TEST_SUITE_P(Columns, Frames, testing::Values(40, 80, 160));

TEST_P(Frames, AnIdleChat) {
  insert(story.state.input, "look at @src/ma");
  apply_listing(story.state, "src/", {"main.cc", "map.cc"});
  expect("idle");
}

TEST_P(Frames, AReplyInMarkdown) {
  story.begin("What did you find?");
  for (std::size_t at = 0; at < kReply.size(); at += 7) {
    apply_text(story.state, story.root, kReply.substr(at, 7));
    draw();
  }
  story.reply(std::string(kReply));
  story.tell_root(RunEnded{Report{}});
  expect("reply");
}

TEST_P(Frames, AReplyWhileItStreams) {
  story.begin("Explain.");
  apply_text(story.state, story.root, "First.\n\n```py\nfor x in y:\n    print(x, y");
  expect("streaming");
}

TEST_P(Frames, ALiveTree) {
  delegate();
  expect("tree");
}

TEST_P(Frames, AChildThatIsFollowed) {
  delegate();
  apply_key(story.state, {KeyName::tab});
  apply_key(story.state, {KeyName::down});
  expect("followed");
}

TEST_P(Frames, AnApproval) {
  delegate();
  story.ask("correctness", "Run in /home/me/shop:\nrm -rf build && npm ci --ignore-scripts && npm test",
            {"Bash(npm test)"});
  story.pass(kTooSoon);
  expect("approval");
}

TEST_P(Frames, ARefusalWithAReason) {
  delegate();
  story.ask("correctness", "Edit src/till.py\n- return eval(x)\n+ return parse(x)", {"Edit(src/till.py)"});
  story.pass(kTooSoon);
  apply_key(story.state, {KeyName::text, "n"});
  apply_key(story.state, {KeyName::text, "not in this file"});
  expect("refusal");
}

TEST_P(Frames, AQuestionWithSuggestions) {
  delegate();
  story.ask("correctness", "Which of the two tills is in use?", {"src/till.py", "src/old_till.py"},
            QuestionKind::to_person);
  story.pass(kTooSoon);
  expect("question");
}

TEST_P(Frames, ManyChildrenOnASmallScreen) {
  story.begin("go");
  for (int at = 0; at < 100; ++at) story.child(fmt::format("child{}", at));
  expect("many");
}

// Whatever happens, a frame never needs more than the screen has: else it could not be drawn over.
TEST_P(Frames, NeverOutgrowTheScreen) {
  const auto expect_room = [this] {
    for (const int rows : {5, 8, 24, 60}) {
      story.state.size = {GetParam(), rows};
      const Frame frame = frame_of(story.state);
      EXPECT_LE(frame.lines.size(), static_cast<std::size_t>(rows));
      for (const auto& line : frame.lines) EXPECT_LE(width_of(line), static_cast<std::size_t>(GetParam()));
      EXPECT_LT(frame.cursor_row, frame.lines.size());
    }
  };
  delegate();
  apply_output(story.state, story.root, std::string(500, 'x') + "\ntwo\nthree\n");
  expect_room();
  story.ask("correctness", std::string(5000, 'x') + "\n\n" + std::string(300, '\n'), {"Bash(x)"});
  story.pass(kTooSoon);
  expect_room();
}

TEST_P(Frames, LeaveNothingBehind) {
  delegate();
  draw();
  story.tell_root(RunEnded{Report{}});
  draw();
  screen_.feed(region_.erase(size_));
  EXPECT_THAT(screen_.all(), Not(HasSubstr("❯ \n")));
  for (const auto& row : screen_.rows())
    EXPECT_THAT(row, Not(HasSubstr("scripted/test"))) << "the status line is gone";
}

TEST(PlainFrames, WithoutUtf8NothingButAsciiIsSent) {
  ChatStory story;
  story.begin("日本語 …");
  story.child("a");
  story.reply("# Título\n\n- “x” → y\n");
  LiveRegion region({.colour = false, .unicode = false});
  for (const char c : region.draw(std::exchange(story.state.out, {}), frame_of(story.state), {80, 24}))
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

// A question mark for each would be the same for many commands, and a pattern in some.
TEST(PlainFrames, WithoutUtf8AnApprovalShowsExactlyWhatWillRun) {
  ChatStory story;
  story.state.dialog.is_ascii = true;
  story.begin("go");
  story.ask("ä", "rm naïve — 日🙂", {"Bash(rm naïve:*)"});
  story.pass(kTooSoon);
  LiveRegion region({.colour = false, .unicode = false});
  const std::string bytes = region.draw({}, frame_of(story.state), {80, 24});
  for (const char c : bytes) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_THAT(bytes, HasSubstr("rm na\\u{ef}ve \\u{2014} \\u{65e5}\\u{1f642}"));
  EXPECT_THAT(bytes, HasSubstr("always: Bash(rm na\\u{ef}ve:*)"));
  EXPECT_THAT(bytes, HasSubstr("[\\u{e4}] asks for approval"));
}

TEST(PlainFrames, WithoutColourNoToneIsSent) {
  ChatStory story;
  story.begin("x");
  story.reply("**bold**");
  LiveRegion region({.colour = false});
  const std::string bytes = region.draw(std::exchange(story.state.out, {}), frame_of(story.state), {80, 24});
  for (const auto* code : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m"})
    EXPECT_THAT(bytes, Not(HasSubstr(code)));
}

TEST(Resize, ANarrowerScreenIsDrawnAfresh) {
  ChatStory story;
  story.begin("go");
  story.child("a");
  Screen wide({80, 24});
  LiveRegion region({.colour = true});
  wide.feed(region.draw(std::exchange(story.state.out, {}), frame_of(story.state), {80, 24}));
  story.state.size = {40, 24};
  const std::string bytes = region.draw({}, frame_of(story.state), {40, 24});
  EXPECT_THAT(bytes, HasSubstr("\x1b[J"));
  EXPECT_EQ(region.draw({}, frame_of(story.state), {40, 24}), "") << "nothing has changed since";
}

}  // namespace
}  // namespace deputy
