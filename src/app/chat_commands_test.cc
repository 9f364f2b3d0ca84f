#include "app/chat_commands.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

#include "async/sim_loop.h"
#include "store/memory_store.h"
#include "support/temp_folder.h"
#include "tui/chat_story.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::UnorderedElementsAre;

TEST(AResumedChat, TakesNoApprovalOfAnotherSessionWithIt) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  state.root = SessionId("sess_1_aaaaaa");
  state.session_rules = {"Bash(ls)"};
  fold_history(state, SessionId("sess_1_aaaaaa"), {});
  EXPECT_THAT(state.session_rules, testing::ElementsAre("Bash(ls)")) << "it is the same one";
  fold_history(state, SessionId("sess_2_bbbbbb"), {});
  EXPECT_THAT(state.session_rules, IsEmpty());
  EXPECT_EQ(state.root, SessionId("sess_2_bbbbbb"));
}

TEST(AResumedChat, TellsWhatWasAskedAndAnsweredAndAsksNothingAgain) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  const SessionId root("sess_1_aaaaaa");
  const auto event_of = [&root](Fact fact) {
    return Event{
        .seq = 1, .at = {}, .tree = root, .run = {root, 1}, .step = 1, .call = 0, .fact = std::move(fact)};
  };
  Question question;
  question.id = "q1";
  question.kind = QuestionKind::to_person;
  question.asker = root;
  question.label = "main";
  question.text = "Which colour?";
  fold_history(state, root,
               {event_of(QuestionAsked{question}),
                event_of(QuestionAnswered{"q1", {AnswerKind::text, "green", Source::person}})});
  std::string told;
  for (const Line& line : state.out) told += plain_text(line) + "\n";
  EXPECT_THAT(told, HasSubstr("[main] asks: Which colour?\n❯ green\n"));
  EXPECT_FALSE(is_open(state.dialog));
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += plain_text(line) + "\n";
  return text;
}

TEST(AResumedChat, GoesOnWithWhatItLeftUnfinishedItselfBeforeAllElse) {
  SimLoop loop{1};
  const auto memory = std::make_shared<MemoryStore::Memory>();
  const MemoryStore store{loop, memory};
  Session current;
  current.id = current.tree = SessionId("sess_1800000000_abc123");
  current.state = SessionState::interrupted;
  Session later;
  later.id = later.tree = SessionId("sess_1900000000_abd456");
  later.state = SessionState::completed;
  for (const Session& session : {current, later}) memory->sessions[session.id] = session;
  EXPECT_EQ(root_to_go_on_with(store, "", current.id)->id, current.id);
  memory->sessions[current.id].state = SessionState::completed;
  EXPECT_EQ(root_to_go_on_with(store, "", current.id)->id, later.id) << "this one has ended";
}

TEST(AResumedChat, KeepsWhatIsApprovedForAlways) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  state.session_rules = {"Bash(ls)", "Delegate"};
  state.written_rules = {{"Delegate", "/home/me/config.toml"}};
  fold_history(state, SessionId("sess_2_bbbbbb"), {});
  EXPECT_THAT(state.session_rules, testing::ElementsAre("Delegate"));
}

TEST(AResumedChat, KnowsWhoseChildEachSessionIs) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  const SessionId root("sess_1_aaaaaa");
  std::vector<Event> events;
  for (const auto& [id, parent, label] :
       {std::tuple(root, SessionId(), "main"), std::tuple(SessionId("sess_2_bbbbbb"), root, "survey")}) {
    Session session;
    session.id = id;
    session.label = label;
    if (!parent.empty()) session.parent = parent;
    for (const Fact& fact : {Fact(SessionCreated{session}), Fact(RunStarted{})}) {
      Event& event = events.emplace_back();
      event.tree = root;
      event.run = {id, 1};
      event.fact = fact;
    }
  }
  fold_history(state, root, std::move(events));
  EXPECT_EQ(state.root, root);
  const TreeNode* child = find_node(state.tree, SessionId("sess_2_bbbbbb"));
  ASSERT_TRUE(child);
  EXPECT_EQ(child->parent, root);
  EXPECT_EQ(child->label, "survey");
}

TEST(AResumedChat, ThatWasNotNamedIsTold) {
  Session root;
  root.id = SessionId("sess_1_aaaaaa");
  root.label = "main";
  EXPECT_EQ(told_of_going_on(root), "Going on with sess_1_aaaaaa: main");
  root.prompt = "look at the till";
  EXPECT_EQ(told_of_going_on(root), "Going on with sess_1_aaaaaa: look at the till");
}

TEST(Permissions, TellWhatHoldsForTheSessionFromWhatStandsInAFile) {
  ChatStory story;
  story.state.session_rules = {"Bash(ls)", "Delegate"};
  story.state.written_rules = {{"Delegate", "/home/me/config.toml"}};
  const std::string told = text_of(permission_lines({}, story.state));
  EXPECT_THAT(told, testing::ContainsRegex("allow \\(this session\\) +Bash\\(ls\\)\n"));
  EXPECT_THAT(told, testing::ContainsRegex("  allow +Delegate \\(from now on, by /home/me/config.toml\\)\n"));
}

TEST(Permissions, BreakNoNameOfAPathThatIsWiderThanTheScreen) {
  ChatStory story;
  story.state.size = {40, 24};
  story.state.session_rules = {"Delegate"};
  story.state.written_rules = {{"Delegate", "/home/somebody/projects/settings/deputy/config.toml"}};
  EXPECT_THAT(text_of(permission_lines({}, story.state)),
              HasSubstr("\n    /home/somebody/projects/settings/\n    deputy/config.toml)\n"));
}

TEST(PlainLines, AreHelpedByNoKeyThatTheyDoNotHave) {
  ChatStory story;
  EXPECT_THAT(text_of(help_lines(story.state)),
              testing::AllOf(HasSubstr("Tab"), HasSubstr("@path"), HasSubstr("Ctrl-L")));
  story.state.tells_children = true;
  const std::string help = text_of(help_lines(story.state));
  for (const auto* key : {"Tab", "@path", "PgUp", "Alt-Enter", "Up, Down", "Ctrl-L"})
    EXPECT_THAT(help, testing::Not(HasSubstr(key)));
  for (const auto* known : {"Ctrl-C", "Ctrl-D", "/nudge", "/quit", "//tree"})
    EXPECT_THAT(help, HasSubstr(known));
}

TEST(PlainLines, AcknowledgeWhatBecomesOfAChildAndNothingElse) {
  ChatStory story;
  story.begin("go");
  story.child("a");
  const SessionId a("sess_a");
  EXPECT_EQ(acknowledgement_of(story.state, NudgeOne{a, "be brief"}), "[a] reads it before its next step");
  EXPECT_THAT(acknowledgement_of(story.state, CancelOne{a}), Optional(HasSubstr("[a] is being cancelled")));
  EXPECT_THAT(
      acknowledgement_of(story.state, SendToBackground{a}),
      Optional(testing::AllOf(HasSubstr("[a] goes to the background"), testing::Not(HasSubstr("Delegate")))));
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  EXPECT_EQ(acknowledgement_of(story.state, GiveAnswer{"q1", {AnswerKind::text, "red"}}),
            "[a] has its answer");
  EXPECT_EQ(acknowledgement_of(story.state, GiveAnswer{"q2", {AnswerKind::approved, ""}}), std::nullopt)
      << "what follows on an approval is told by itself";
  EXPECT_EQ(acknowledgement_of(story.state, SubmitInput{"more"}), std::nullopt);
}

TEST(PathsToComplete, AreThoseOfTheWorkspaceAndNoOthers) {
  const TempFolder folder;
  const std::string work = folder.file("work");
  std::filesystem::create_directories(work + "/my notes");
  std::ofstream(work + "/a file.txt") << "x";
  std::ofstream(folder.file("outside.txt")) << "x";
  const SystemDisk disk;
  EXPECT_THAT(entries_of(disk, work, ""), UnorderedElementsAre("a file.txt", "my notes/"));
  EXPECT_THAT(entries_of(disk, work, "my notes/"), IsEmpty());
  EXPECT_THAT(entries_of(disk, work, "../"), IsEmpty());
  EXPECT_THAT(entries_of(disk, work, folder.path() + "/"), IsEmpty());
}

}  // namespace
}  // namespace deputy
