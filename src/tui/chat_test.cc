#include "tui/chat.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "transcript/mail.h"
#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Chat = ChatPlay;

TEST_F(Chat, WhatIsTypedIsSubmittedAndTheLineIsEmpty) {
  type("do it");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<SubmitInput>(intents));
  EXPECT_EQ(only<SubmitInput>(intents)->text, "do it");
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "nothing is no input";
}

TEST_F(Chat, WhatIsTypedWhileItRunsComesNext) {
  story.begin("first");
  type("second");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.state.queued, ElementsAre("second"));
}

TEST_F(Chat, WhatIsTypedWhileItOnlyWaitsForItsChildrenIsSaidAtOnce) {
  story.begin("go");
  story.child("a");
  type("one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  story.reply("It goes on.");
  EXPECT_THAT(next_while_it_waits(story.state), IsEmpty());
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  const auto first = next_while_it_waits(story.state);
  ASSERT_TRUE(only<SubmitInput>(first)) << "what was typed before";
  EXPECT_EQ(only<SubmitInput>(first)->text, "one");
  type("two");
  const auto second = key(KeyName::enter);
  ASSERT_TRUE(only<SubmitInput>(second));
  EXPECT_EQ(only<SubmitInput>(second)->text, "two");
  story.take_out();
  story.tell_root(Nudged{"n1", Source::person, "one"});
  EXPECT_THAT(story.take_out(), HasSubstr("❯ one"));
  story.tell_root(StateChanged{SessionState::running, ""});
  type("three");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.state.queued, ElementsAre("three"));
}

TEST_F(Chat, WhatWasSaidAndNotReadBeforeTheEndIsNotTakenForHeard) {
  const auto told = [this] { return story.take_out().contains("not read before the end"); };
  story.begin("go");
  story.tell_root(Nudged{"n1", Source::person, "one"});
  story.tell_root(Delivered{nudge_item("n1"), Source::person, "one"});
  story.tell_root(RunEnded{Report{}});
  EXPECT_FALSE(told());
  story.tell_root(Nudged{"n2", Source::person, "two"});
  EXPECT_TRUE(told()) << "it was on its way when all ended";
  story.begin("again");
  story.tell_root(Nudged{"n3", Source::person, "three"});
  story.tell_root(RunEnded{Report{}});
  EXPECT_TRUE(told());
}

TEST_F(Chat, WhatIsTypedWhileItWaitsInACallOrIsCancelledOrForAnotherModelComesNext) {
  story.begin("go");
  story.start_child("task", 0, "a");
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  type("one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "the call waits";
  story.finish_call(0, ToolStatus::ok, "started");
  story.reply("It goes on.");
  show_model(story.state, {"scripted/other"});
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  EXPECT_THAT(next_while_it_waits(story.state), IsEmpty()) << "it is for the other model";
  story.state.next_model.reset();
  ASSERT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  type("two");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "nobody reads it any more";
  EXPECT_THAT(story.state.queued, ElementsAre("two"));
}

TEST_F(Chat, AReplyGoesIntoTheScrollbackBlockByBlock) {
  story.begin("hi");
  story.take_out();
  apply_text(story.state, story.root, "One *blo");
  EXPECT_THAT(story.take_out(), IsEmpty());
  apply_text(story.state, story.root, "ck*.\n\nTwo an");
  EXPECT_EQ(story.take_out(), "\nOne block.\n");
  story.reply("One *block*.\n\nTwo and.");
  EXPECT_EQ(story.take_out(), "\nTwo and.\n");
}

TEST_F(Chat, AReplyThatWasNotStreamedIsPrintedWhole) {
  story.begin("hi");
  story.take_out();
  story.reply("All at once.");
  EXPECT_EQ(story.take_out(), "\nAll at once.\n");
}

TEST_F(Chat, AReplyThatBrokeOffIsSaidAgain) {
  story.begin("hi");
  apply_text(story.state, story.root, "Old.\n\nOld too");
  apply_retry(story.state, story.root, {});
  EXPECT_THAT(story.take_out(), testing::HasSubstr("broke off and is asked for again)"));
  apply_text(story.state, story.root, "New");
  story.reply("New.");
  EXPECT_EQ(story.take_out(), "\nNew.\n");
}

TEST_F(Chat, AReplyThatBrokeOffForGoodIsNotSaidToBeAskedForAgain) {
  story.begin("hi");
  apply_text(story.state, story.root, "Old.\n\nOld too");
  apply_retry(story.state, story.root, {.is_last = true});
  EXPECT_THAT(story.take_out(), testing::HasSubstr("broke off)"));
}

// Whether eight characters of it in a row are to be seen, over the ends of lines too.
bool shows_part_of(std::string shown, std::string_view key) {
  std::erase_if(shown, [](char c) { return c == '\n' || c == ' '; });
  for (std::size_t at = 0; at + 8 <= key.size(); ++at) {
    if (shown.contains(key.substr(at, 8))) return true;
  }
  return false;
}

struct Seen {
  std::string printed;
  std::string frames;
};

// All that a person gets to see of a reply that comes in pieces of this size.
Seen seen_of_reply(ChatStory& story, std::string_view text, std::size_t piece, int columns) {
  story.begin("say it");
  Seen seen;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    apply_text(story.state, story.root, text.substr(at, piece));
    seen.printed += story.take_out();
    seen.frames += story.screen(columns);
  }
  story.reply(story.redactor.redact_values(text));  // as it is kept
  seen.printed += story.take_out();
  return seen;
}

TEST_F(Chat, NothingEverShowsAKeyHoweverItsReplyIsCutIntoPieces) {
  constexpr std::string_view kValue = "canary+7f3/a1b2?c3d4&e5f6=0718~293a4b5c";
  constexpr std::string_view kByItsLooks = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  for (const std::string_view key : {kValue, kByItsLooks}) {
    const std::string text = fmt::format("Once.\n\nIt is {0} or `{0}`.\n\n```\nx={0}\n```\n\nEnd.", key);
    for (const int columns : {24, 80}) {
      for (const std::size_t piece : {1, 3, 7, 20, 39, 200}) {
        ChatStory knows;
        knows.redactor.hide(kValue);
        const auto [printed, frames] = seen_of_reply(knows, text, piece, columns);
        EXPECT_FALSE(shows_part_of(frames, key)) << key << " in pieces of " << piece << "\n" << frames;
        EXPECT_FALSE(shows_part_of(printed, key)) << key << " in pieces of " << piece << "\n" << printed;
        EXPECT_THAT(printed, HasSubstr("It is [redacted]"));
        EXPECT_THAT(printed, HasSubstr("End."));
        EXPECT_EQ(printed.find("Once."), printed.rfind("Once.")) << printed;
      }
    }
  }
  EXPECT_TRUE(shows_part_of(seen_of_reply(story, kValue, 3, 24).printed, kValue))
      << "control: it is not told";
}

TEST_F(Chat, AKeyInACallOrInAChildsReplyIsHiddenBeforeItIsCutIntoLines) {
  constexpr std::string_view kKey = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  story.begin("go");
  story.reply("", {{"1", "Bash", fmt::format(R"({{"command":"echo {}"}})", kKey)}});
  story.finish_call(0, ToolStatus::ok, "");
  EXPECT_THAT(story.take_out(), HasSubstr("Bash echo [redacted]"));
  story.child("a");
  Reply reply;
  reply.message = {.role = Role::assistant, .text = std::string(kKey)};
  story.tell_child("a", ReplyReceived{reply});
  key(KeyName::tab);
  EXPECT_FALSE(shows_part_of(story.screen(24), kKey)) << story.screen(24);
}

TEST_F(Chat, AReplyIsNotSaidTwiceWhileItsChildrenGoOn) {
  story.begin("go");
  story.child("a");
  story.reply("Done with it all.");
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  EXPECT_THAT(story.take_out(), HasSubstr("Done with it all."));
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("→ waits for its children"), Not(HasSubstr("Done with"))));
  story.tell_root(StateChanged{SessionState::running, ""});
  EXPECT_THAT(story.screen(80), HasSubstr("→ thinking"));
  story.tell_root(CallStarted{"Delegate", "3 tasks"}, 0);
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  EXPECT_THAT(story.screen(80), HasSubstr("→ Delegate 3 tasks")) << "what it waits in";
}

TEST_F(Chat, OfWhatTheTerminalDoesNotTakeTheNewestLinesWait) {
  story.take_out();
  print(story.state, std::vector<Line>(kMostHeldBack - 1, line_of("old")));
  print(story.state, {line_of("newest")});
  hold_back(story.state);
  EXPECT_THAT(story.state.out, SizeIs(kMostHeldBack)) << "there is room for it";
  for (int more = 0; more < 2; ++more) {
    print(story.state, {line_of("newer")});
    hold_back(story.state);
  }
  EXPECT_THAT(story.state.out, SizeIs(kMostHeldBack));
  const std::vector<Line> lines = take_out(story.state);
  ASSERT_THAT(lines, SizeIs(kMostHeldBack + 1));
  EXPECT_THAT(plain_text(lines.front()), HasSubstr("2 lines are left out here"));
  EXPECT_THAT(plain_text(lines.front()), ::testing::Not(HasSubstr("all of it")));
  EXPECT_EQ(plain_text(lines.back()), "newer");
  EXPECT_THAT(take_out(story.state), IsEmpty());
}

TEST_F(Chat, ACompactionIsAnnouncedAndSoIsItsUndoing) {
  story.begin("hi");
  story.reply("Hello.", {}, {.input = 90'000, .output = 10});
  story.take_out();
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  story.tell_root(Compacted{summary, 2});
  const std::string told = story.take_out();
  EXPECT_THAT(told, HasSubstr("summary stands for the first 2 messages"));
  EXPECT_THAT(told, HasSubstr("/compact undo"));
  EXPECT_THAT(story.screen(160), Not(HasSubstr("context"))) << "nobody has counted it yet";
  story.tell_root(RunStarted{.task = RunTask::undo_compaction});
  EXPECT_THAT(story.take_out(), HasSubstr("Compaction undone"));
  summary.stop = ReplyStop::calls;
  story.tell_root(Compacted{summary, 2});
  EXPECT_THAT(story.take_out(), HasSubstr("Not compacted: the model asked for tools"));
}

TEST_F(Chat, ThatItCompactsIsSaidWhileItDoesAndWhatCameOfItAfterwards) {
  story.begin("hi");
  story.reply("Hello.", {}, {.input = 90'000, .output = 10});
  story.take_out();
  apply_summary_asked(story.state, story.root, 90'010);
  EXPECT_THAT(story.take_out(), AllOf(HasSubstr("Compacting"), HasSubstr("90k tokens"), HasSubstr("Ctrl-C")));
  EXPECT_THAT(story.screen(40), HasSubstr("compacting its conversation"));
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  summary.usage = {.input = 90'400, .output = 1'200};
  story.tell_root(Compacted{summary, 2});
  EXPECT_THAT(story.take_out(),
              AllOf(HasSubstr("90k tokens were read"), HasSubstr("it has 1.2k"), HasSubstr("/compact undo")));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("compacting")));
}

TEST_F(Chat, ThatAChildCompactsStandsBesideItsName) {
  story.begin("hi");
  story.child("a");
  story.take_out();
  apply_summary_asked(story.state, SessionId("sess_a"), 5'000);
  EXPECT_EQ(story.take_out(), "");
  EXPECT_THAT(story.screen(160), HasSubstr("compacting its conversation"));
}

TEST_F(Chat, ASummaryThatWasAskedForWithTooMuchCanBeAskedForWithLess) {
  story.begin("hi");
  story.take_out();
  Reply reply;
  reply.stop = ReplyStop::context_exhausted;
  reply.error = "it does not fit";
  story.tell_root(Compacted{reply, 1});
  EXPECT_THAT(story.take_out(),
              AllOf(HasSubstr("Not compacted: it does not fit"), HasSubstr("/compact tries")));
}

TEST_F(Chat, WhatAChildDidLastIsNoCompactionWhereThereWasNoSummary) {
  story.begin("hi");
  story.child("a");
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  story.tell_child("a", Compacted{summary, 2});
  EXPECT_THAT(story.screen(160), HasSubstr("compacted its conversation"));
  summary.stop = ReplyStop::failed;
  story.tell_child("a", Compacted{summary, 2});
  EXPECT_THAT(story.screen(160), HasSubstr("could not be compacted"));
}

TEST_F(Chat, ForeignTextReachesTheScreenWithoutItsEscapes) {
  story.begin("\x1b[2Jhi");
  story.child("evil\x1b]0;x\x07");
  story.call_of_child("Read", "a\x1b[31m");
  story.ask("\x1b[5mwho", "Run \x1b[8mhidden", {"Bash(\x1b[1m)"});
  story.pass(kTooSoon);
  story.reply(
      "\x1b[2J\x9b"
      "1m**bold**");
  const std::string all = story.take_out() + story.screen(80);
  EXPECT_THAT(all, Not(HasSubstr("\x1b")));
  EXPECT_THAT(all, Not(HasSubstr("\x07")));
  EXPECT_THAT(all, HasSubstr("␛"));
}

}  // namespace
}  // namespace deputy
