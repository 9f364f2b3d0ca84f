#include "tools/toolbox.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/edit.h"
#include "tools/list.h"
#include "tools/note.h"
#include "tools/read.h"
#include "tools/tool_bench.h"
#include "tools/write.h"

namespace deputy {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ToolboxTest : public testing::Test {
 protected:
  ToolboxTest() { bench.session.workspace_mode = WorkspaceMode::shared; }

  static Toolbox with(std::vector<Rule> rules) {
    return Toolbox({std::make_shared<ReadTool>(), std::make_shared<ListTool>(), std::make_shared<EditTool>(),
                    std::make_shared<WriteTool>()},
                   Rules(std::move(rules)));
  }
  ToolResult read(const Toolbox& box, const std::string& path) {
    return bench.call_through(box, "Read", fmt::format(R"({{"file_path":"{}"}})", path));
  }
  std::string file(const std::string& path) {
    return bench.workspace->read(path, 0, 1 << 20).value_or("(none)");
  }

  ToolBench bench;
};

// Of any name that is given to it.
class Impostor final : public Tool {
 public:
  Impostor(std::string name, std::string says) : text_{std::move(name), says, R"({"type":"object"})"} {}
  const ToolText& text() const override { return text_; }
  Effect effect() const override { return Effect::pure; }
  std::string shown(const json::object&) const override { return text_.description; }
  Task<ToolResult> run(json::object, ToolContext) override { co_return tool_ok(text_.description); }

 private:
  ToolText text_;
};

TEST_F(ToolboxTest, AToolThatIsGrantedOverOthersWinsTheNameClash) {
  const auto other = std::make_shared<Impostor>("task", "another's");
  const auto ours = std::make_shared<Impostor>("task", "ours");
  const auto says = [this](std::vector<std::shared_ptr<Tool>> granted) {
    const Toolbox box(std::move(granted), Rules());
    EXPECT_EQ(box.texts().size(), 2u);
    return bench.call_through(box, "task", "{}").content;
  };
  std::vector<std::shared_ptr<Tool>> granted{other, std::make_shared<ReadTool>()};
  EXPECT_EQ(says(granted), "another's") << "control";
  grant_over(granted, ours);
  EXPECT_EQ(says(granted), "ours");
}

TEST_F(ToolboxTest, WhatACallIsAboutIsRecordedAsAScreenShowsIt) {
  const Toolbox box({std::make_shared<Impostor>("task", "👩\u200d💻 a\u202eb")}, Rules());
  bench.call_through(box, "task", "{}");
  ASSERT_FALSE(bench.applied.empty());
  const auto* started = std::get_if<CallStarted>(&bench.applied.front().fact);
  ASSERT_TRUE(started);
  EXPECT_EQ(started->shown, "👩💻 a\\u{202e}b") << "as words of a reply, which hide nothing either";
}

// A call by any other name is no call: the executor knows granted tools by their one name only.
TEST_F(ToolboxTest, AToolThatIsNotGrantedRunsUnderNoSpelling) {
  const Toolbox box = Toolbox({std::make_shared<ReadTool>()}, Rules());
  const std::string call = R"({"file_path":"pwned","content":"x"})";
  for (const std::string_view name : {"Write"sv,
                                      "write"sv,
                                      "WRITE"sv,
                                      " Write"sv,
                                      "Write "sv,
                                      "Write\n"sv,
                                      "Wr\u0456te"sv,
                                      "Ｗrite"sv,
                                      "W\u200brite"sv,
                                      "Write\0"sv,
                                      "Read\0Write"sv,
                                      "Read\0"sv,
                                      "write_file"sv,
                                      "WriteFile"sv,
                                      "create"sv,
                                      "create_file"sv,
                                      "functions.Write"sv,
                                      "Read;Write"sv,
                                      "Read,Write"sv,
                                      "mcp__x__Write"sv,
                                      "Edit"sv,
                                      "Bash"sv,
                                      "bash"sv,
                                      "Delegate"sv,
                                      "task"sv,
                                      ""sv,
                                      "../Write"sv,
                                      "Read/../Write"sv}) {
    const ToolResult result = bench.call_through(box, name, call);
    EXPECT_EQ(result.status, ToolStatus::error) << name;
    EXPECT_THAT(result.content, HasSubstr("Your tools are: Read.")) << name;
  }
  EXPECT_EQ(file("pwned"), "(none)");
  EXPECT_TRUE(bench.remembering.recorded.empty()) << "nothing was begun";

  bench.session.workspace_mode = WorkspaceMode::shared;
  const Toolbox control = with({Rule{Decision::allow, "Write", ""}});
  EXPECT_EQ(bench.call_through(control, "Write", call).status, ToolStatus::ok);
  EXPECT_EQ(file("pwned"), "x");
}

TEST_F(ToolboxTest, GrantedToolsGoByTheirExactNameToo) {
  bench.write("a", "text");
  const Toolbox box = with({});
  EXPECT_EQ(read(box, "a").status, ToolStatus::ok);
  for (const char* name : {"read", "READ", " Read", "Read ", "view", "cat", "read_file"}) {
    EXPECT_THAT(bench.call_through(box, name, R"({"file_path":"a"})").content, HasSubstr("no tool named"))
        << name;
  }
}

TEST_F(ToolboxTest, RulesJudgeTheNameThatAPathLeadsTo) {
  bench.write("secrets/key", "CANARY");
  bench.write("public/a", "fine");
  bench.disk.plant_link("/work/link", "secrets/key");
  bench.disk.plant_link("/work/folder", "secrets");
  bench.disk.plant_link("/work/public/deep", "../folder");
  const std::vector<std::string> spellings{
      "secrets/key",      "./secrets//key",  "link",
      "folder/key",       "public/deep/key", "/work/link",
      "/work/folder/key", "public/../link",  "/work/./public/deep/../secrets/key"};
  const Toolbox box = with({Rule{Decision::deny, "Read", "secrets/**"}});
  const Toolbox control = with({});
  for (const std::string& path : spellings) {
    EXPECT_THAT(read(box, path).content, AllOf(Not(HasSubstr("CANARY")), Not(HasSubstr("fine")))) << path;
  }
  for (const std::string& path : spellings) {
    if (path.contains("deep/..")) continue;  // made plain as text: there is no public/secrets
    EXPECT_THAT(read(control, path).content, HasSubstr("CANARY")) << path;
  }
  EXPECT_EQ(read(box, "public/a").status, ToolStatus::ok);
}

TEST_F(ToolboxTest, AnAllowRuleIsMetByEverySpellingOfAPath) {
  bench.write("src/a", "one");
  const Toolbox box = with({Rule{Decision::allow, "Edit", "src/**"}});
  for (const char* path : {"src/a", "/work/src/a", "./src/./a", "/work//src/../src/a"}) {
    read(box, "src/a");
    const auto call = fmt::format(R"({{"file_path":"{}","old_string":"one","new_string":"two"}})", path);
    EXPECT_EQ(bench.call_through(box, "Edit", call).status, ToolStatus::ok) << path;
    bench.write("src/a", "one");
  }
  bench.write("other/a", "one");
  bench.disk.plant_link("/work/src/out", "../other/a");
  read(box, "src/out");
  EXPECT_THAT(
      bench.call_through(box, "Edit", R"({"file_path":"src/out","old_string":"one","new_string":"two"})")
          .content,
      HasSubstr("needs approval"));
  EXPECT_EQ(file("other/a"), "one");
}

TEST_F(ToolboxTest, RulesMayBeWrittenAbsolute) {
  bench.write("secrets/key", "CANARY");
  const Toolbox box = with({Rule{Decision::deny, "Read", "/work/secrets/**"}});
  for (const char* path : {"secrets/key", "/work/secrets/key"})
    EXPECT_THAT(read(box, path).content, HasSubstr("Not permitted")) << path;
}

TEST_F(ToolboxTest, ACallThatHadBegunIsJudgedAgain) {
  bench.write("secrets/key", "CANARY");
  bench.disk.plant_link("/work/a", "secrets/key");  // it was a harmless file when the call began
  const Toolbox box = with({Rule{Decision::deny, "Read", "secrets/**"}});
  const ToolResult result =
      bench.call_through(box, "Read", R"({"file_path":"a"})", std::vector<Fact>{CallStarted{"Read", "a"}});
  EXPECT_THAT(result.content, HasSubstr("Not permitted"));
}

TEST_F(ToolboxTest, ACallThatHadBegunIsNotToldThatItWasNotRunAtALimit) {
  bench.at_limit = true;
  const Toolbox box = with({Rule{Decision::allow, "Write", ""}});
  constexpr auto kWrite = R"({"file_path":"a","content":"one"})";
  EXPECT_THAT(bench.call_through(box, "Write", kWrite).content, HasSubstr("Not run"));
  EXPECT_EQ(file("a"), "(none)");
  const auto begun = bench.call_through(box, "Write", kWrite, std::vector<Fact>{CallStarted{"Write", "a"}});
  EXPECT_THAT(begun.content, Not(HasSubstr("Not run"))) << "it may have been";
}

TEST_F(ToolboxTest, ARefusedCallLeavesNoIntent) {
  bench.write("a", "one");
  const Toolbox box = with({Rule{Decision::allow, "Edit", ""}});
  EXPECT_EQ(bench.call_through(box, "Edit", R"({"file_path":"a","old_string":"1","new_string":"2"})").status,
            ToolStatus::error);
  EXPECT_TRUE(bench.remembering.recorded.empty());
}

// Approves everything, but not before something has happened.
class SlowPerson final : public Asker {
 public:
  explicit SlowPerson(std::function<void()> meanwhile) : meanwhile_(std::move(meanwhile)) {}
  Task<Answer> ask(Question question, StopToken) override {
    asked.push_back(std::move(question.text));
    meanwhile_();
    co_return Answer{.kind = AnswerKind::approved};
  }
  std::vector<std::string> asked;

 private:
  std::function<void()> meanwhile_;
};

class Approval : public ToolboxTest {
 protected:
  ToolResult call(std::string_view tool, std::string_view arguments, Asker& person,
                  std::vector<Fact> traces = {}) {
    ToolContext context{.id = {},
                        .session = bench.session,
                        .journal = bench.journal,
                        .workspace = *bench.workspace,
                        .loop = bench.loop,
                        .pool = bench.pool,
                        .processes = bench.processes,
                        .asker = person,
                        .stop = {},
                        .files_seen = &bench.files_seen};
    const PendingCall pending{
        .index = 0,
        .call = {"c", std::string(tool), std::string(arguments)},
        .started = std::ranges::any_of(
            traces, [](const Fact& fact) { return std::holds_alternative<CallStarted>(fact); }),
        .traces = std::move(traces)};
    EXPECT_TRUE(run(bench.loop, box.run({pending}, context)));
    return std::get<CallFinished>(bench.applied.back().fact).result;
  }
  const Toolbox box = with({});
  static constexpr std::string_view kEdit = R"({"file_path":"a","old_string":"one","new_string":"two"})";
};

TEST_F(Approval, LetsTheCallRun) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([] {});
  EXPECT_EQ(call("Edit", kEdit, person).status, ToolStatus::ok);
  EXPECT_EQ(file("a"), "two");
  EXPECT_EQ(person.asked, std::vector<std::string>{"Edit a\n- one\n+ two\n"});
}

TEST_F(Approval, IsOfTheFileAsItWasWhenItWasAsked) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([this] { bench.write("a", "one more"); });
  EXPECT_EQ(call("Edit", kEdit, person).status, ToolStatus::error);
  EXPECT_EQ(file("a"), "one more");
}

TEST_F(Approval, IsOfTheFileThatThePathLedTo) {
  bench.write("a", "one");
  bench.write("b", "one");
  read(box, "a");
  read(box, "b");
  SlowPerson person([this] {
    ASSERT_TRUE(bench.workspace->remove("a"));
    bench.disk.plant_link("/work/a", "b");
  });
  EXPECT_EQ(call("Edit", kEdit, person).status, ToolStatus::error);
  EXPECT_EQ(file("b"), "one");
}

// Between the two a crash would leave an approval of nothing.
TEST_F(Approval, IsRecordedInOneUnitWithWhatWasApproved) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([] {});
  bench.remembering.units.clear();
  ASSERT_EQ(call("Edit", kEdit, person).status, ToolStatus::ok);
  ASSERT_GE(bench.remembering.units.size(), 2U);
  const std::vector<Event>& unit = bench.remembering.units[1];  // after the question
  ASSERT_EQ(unit.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<QuestionAnswered>(unit[0].fact));
  const auto* started = std::get_if<CallStarted>(&unit[1].fact);
  ASSERT_TRUE(started && started->change);
  EXPECT_EQ(started->change->before, sha256_hex("one"));
}

TEST_F(Approval, HoldsOverACrashOnlyForWhatWasRecordedWithIt) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([] {});
  const QuestionAnswered approved{"q", {.kind = AnswerKind::approved}};
  call("Edit", kEdit, person, {approved});
  EXPECT_EQ(person.asked.size(), 1U) << "nobody knows what was approved";
  const FileChange change{"/work/a", sha256_hex("one"), sha256_hex("two")};
  EXPECT_EQ(call("Edit", kEdit, person, {approved, CallStarted{"Edit", "a", change}}).status, ToolStatus::ok);
  EXPECT_EQ(person.asked.size(), 1U) << "not again";
}

TEST_F(Approval, IsNotTakenBackByTheAnswerToWhatTheCallAsksItself) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([] {});
  const FileChange change{"/work/a", sha256_hex("one"), sha256_hex("two")};
  const auto result =
      call("Edit", kEdit, person,
           {QuestionAnswered{"q", {.kind = AnswerKind::approved}}, CallStarted{"Edit", "a", change},
            QuestionAsked{{.id = "q", .kind = QuestionKind::to_person}},
            QuestionAnswered{"q", {.kind = AnswerKind::refused, .text = "find out"}}});
  EXPECT_EQ(result.status, ToolStatus::ok) << result.content;
  EXPECT_TRUE(person.asked.empty());
}

TEST_F(Approval, ThatWasRefusedIsNotAskedForAgainAfterACrash) {
  bench.write("a", "one");
  read(box, "a");
  SlowPerson person([] {});
  const QuestionAnswered refused{"q", {.kind = AnswerKind::refused, .text = "not that file"}};
  const auto told = call("Edit", kEdit, person, {refused});
  EXPECT_EQ(told.content, "The person declined this call: not that file");
  EXPECT_TRUE(person.asked.empty());
  EXPECT_EQ(file("a"), "one");
}

TEST_F(Approval, IsNotAskedForWhatCannotBeDone) {
  bench.write("a", "one");
  SlowPerson person([] {});
  EXPECT_THAT(call("Edit", kEdit, person).content, HasSubstr("Read it first"));
  EXPECT_TRUE(person.asked.empty());
}

TEST_F(Approval, ShowsWhatCannotBeSeen) {
  SlowPerson person([] {});
  call("Write", R"({"file_path":"a\u202etxt","content":"rm\u00a0-rf\u200b\u001b[2K"})", person);
  ASSERT_EQ(person.asked.size(), 1U);
  EXPECT_THAT(person.asked[0], AllOf(HasSubstr("\\u{202e}"), HasSubstr("\\u{a0}"), HasSubstr("\\u{200b}"),
                                     HasSubstr("␛"), Not(HasSubstr("\x1b"))));
}

TEST_F(ToolboxTest, OtherRootsAreReachedByTheirAbsolutePaths) {
  const auto other = bench.disk.open("/data", IfAbsent::create).value();
  ASSERT_TRUE(other->replace("a", "found"));
  const Toolbox box = with({Rule{Decision::deny, "Read", "/data/secret/**"}});
  const auto call = [&](const std::string& path) {
    ToolContext context = bench.context();
    context.roots = {other.get()};
    PendingCall pending{.index = 1, .call = {"c", "Read", fmt::format(R"({{"file_path":"{}"}})", path)}};
    EXPECT_TRUE(run(bench.loop, box.run({pending}, context)));
    return std::get<CallFinished>(bench.applied.back().fact).result;
  };
  EXPECT_THAT(call("/data/a").content, HasSubstr("found"));
  EXPECT_THAT(call("/data/b").content, HasSubstr("Did you mean /data/a?"));
  ASSERT_TRUE(other->make_folder("secret"));
  ASSERT_TRUE(other->replace("secret/key", "CANARY"));
  EXPECT_THAT(call("/data/secret/key").content, HasSubstr("Not permitted"));
  EXPECT_EQ(call("/data/../etc/passwd").status, ToolStatus::error);
  EXPECT_EQ(call("/database").status, ToolStatus::error);
  EXPECT_EQ(read(box, "/data/a").status, ToolStatus::error) << "control: without the root";
}

}  // namespace
}  // namespace deputy
