// What a person is told to do next is what helps.
#include <gmock/gmock.h>
#include <signal.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AdviceTest : public DeputyTest {};

TEST_F(AdviceTest, ALimitThatRulesABatchOutIsToldToAPersonAndNotToAModel) {
  for (const auto* limit : {"--max-delegations", "--max-depth"}) {
    const auto ran = deputy({"delegate", "--model", "rehearsal", "--task", "a=look", limit, "0"});
    EXPECT_EQ(ran.status, 5);
    EXPECT_THAT(ran.err, AllOf(HasSubstr(std::string("; raise ") + limit + "\n"),
                               Not(HasSubstr("ask the person")), Not(HasSubstr(".;"))));
  }
}

TEST_F(AdviceTest, ACommandLineThatIsNamedHasTheStateFolderThatWasGiven) {
  const std::string home = (root() / "another home").string();
  const auto unknown = deputy({"sessions", "show", "sess_1_nobody", "--home", home});
  EXPECT_NE(unknown.status, 0);
  EXPECT_THAT(unknown.err, HasSubstr("`deputy sessions ls --home '" + home + "'`"));
  EXPECT_THAT(deputy({"sessions", "show", "sess_1_nobody"}).err, HasSubstr("`deputy sessions ls`"));
}

// `./run` starts it under its own name; nothing else finds it in a clone.
TEST_F(AdviceTest, EveryCommandLineThatIsNamedBeginsAsThePersonBegan) {
  const auto as_run = [this](std::vector<std::string> words) {
    return deputy(Start{.words = std::move(words), .typed_name = "./run"});
  };
  EXPECT_THAT(as_run({"sessions", "ls"}).err, HasSubstr("`./run demo`"));
  EXPECT_THAT(as_run({"sessions", "show", "sess_1_nobody"}).err, HasSubstr("`./run sessions ls`"));
  EXPECT_THAT(as_run({"sessions", "sho"}).err, HasSubstr("`./run sessions --help`"));
  EXPECT_THAT(as_run({}).out, AllOf(HasSubstr("  ./run chat "), HasSubstr("  ./run demo ")));
  const auto demo = as_run({"demo"});
  EXPECT_THAT(demo.err,
              AllOf(HasSubstr(" ./run sessions tree sess_"), HasSubstr(" ./run sessions notes sess_")));
  for (const auto& text : {demo.err, as_run({"task", "nobody", "x"}).err, as_run({"resume", "x"}).err})
    EXPECT_THAT(text, AllOf(Not(HasSubstr("`deputy")), Not(HasSubstr("/bin/deputy"))));
}

TEST_F(AdviceTest, SoDoesOneInAHelpAnAgentsProblemAndAResult) {
  const auto as_run = [this](std::vector<std::string> words) {
    return deputy(Start{.words = std::move(words), .typed_name = "./run"});
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"}, {"run", "--help"}}) {
    const std::string help = as_run(words).out;
    EXPECT_THAT(help, AllOf(HasSubstr("\n  ./run "), HasSubstr("Usage: ./run "),
                            Not(HasSubstr("\n  deputy ")), Not(HasSubstr("`deputy"))));
  }
  write(work() / ".claude/agents/tester.md", "---\nname: tester\ndescription: tests\n---\nTest it.\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"agents", "ls", "--output", "json"},
                                                {"agents", "show", "tester"},
                                                {"agents", "check"}})
    EXPECT_THAT(as_run(words).out, AllOf(HasSubstr("`./run agents trust`"), Not(HasSubstr("`deputy"))))
        << words[1];
  const auto model = script(R"({"v":1,"sessions":[
    {"replies":[{"calls":[{"name":"Note","arguments":{"content":"a finding"}}]},{"text":"all of it"}]}]})");
  for (const std::string form : {"text", "json"}) {
    const auto ran =
        as_run({"task", "explore", "look", "--max-steps", "1", "--model", model, "--output", form});
    ASSERT_EQ(ran.status, 3) << ran.err;
    EXPECT_THAT(ran.out + ran.err,
                AllOf(HasSubstr("`./run task explore 'go on' --resume "), Not(HasSubstr("`deputy"))));
  }
}

TEST_F(AdviceTest, ABatchAsJsonStaysJsonWhateverIsTyped) {
  const auto model = script(R"({"v":1,"sessions":[
    {"replies":[{"calls":[{"name":"Note","arguments":{"content":"a finding"}}]},{"text":"all of it"}]}]})");
  const auto ran = deputy(Start{.words = {"delegate", "--task", "a=look", "--max-steps", "1", "--return",
                                          "json", "--model", model, "--home", root() / R"(a "quoted" home)"},
                                .typed_name = "./run"});
  EXPECT_TRUE(parse_json_object(ran.out)) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("`./run task "), HasSubstr(R"(a \"quoted\" home'`)"),
                             Not(HasSubstr("`deputy"))));
}

TEST_F(AdviceTest, NewestIsTheTreeThatWasStartedLast) {
  EXPECT_EQ(deputy({"sessions", "tree", "newest"}).status, 2);
  ASSERT_EQ(deputy({"demo"}).status, 0);
  for (const std::string view : {"show", "tree", "transcript", "notes", "export", "tail"}) {
    const auto ran = deputy({"sessions", view, "newest"});
    EXPECT_EQ(ran.status, 0) << view << ran.err;
  }
  EXPECT_THAT(deputy({"sessions", "tree", "newest"}).out, HasSubstr("[risks]"));
}

TEST_F(AdviceTest, SoHasOneThatAProgramReads) {
  const std::string home = (root() / "another home").string();
  const auto hint_in = [](const std::string& text) {
    const auto document = parse_json_object(text);
    const auto* error = document ? object_at(*document, "error") : nullptr;
    return error ? string_or(*error, "hint", "") : "no error in " + text;
  };
  const auto unknown = deputy({"sessions", "show", "sess_1_nobody", "--home", home, "--output", "json"});
  EXPECT_THAT(hint_in(unknown.out), HasSubstr("`deputy sessions ls --home '" + home + "'`"));
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":86400000,"text":"late"}]}]})");
  const auto ended =
      deputy(Start{.words = {"run", "look", "--model", model, "--home", home, "--output", "json"},
                   .environment = {{"DEPUTY_TIMEOUT", "1s"}}});
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_THAT(hint_in(ended.out),
              AllOf(HasSubstr("`deputy task main "), HasSubstr(" --home '" + home + "'`")));
}

TEST_F(AdviceTest, ARefusalByARuleSaysWhatToDoInEveryForm) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"delegate", "--task", "a=look", "--deny", "Delegate"},
        {"task", "explore", "look", "--deny", "task"}}) {
    for (const std::string form : {"text", "json", "stream-json"}) {
      auto asked = words;
      asked.insert(asked.end(), {"--model", "rehearsal", "--output", form});
      const auto ran = deputy(asked);
      EXPECT_EQ(ran.status, 5);
      EXPECT_THAT(ran.err, HasSubstr("denied by rule " + words.back() + "; leave that rule out of --deny"));
      if (form == "text") continue;
      const auto last = ran.out.rfind('\n', ran.out.size() - 2);
      const auto document = parse_json_object(ran.out.substr(last == std::string::npos ? 0 : last + 1));
      ASSERT_TRUE(document) << ran.out;
      EXPECT_THAT(string_or(*object_at(*document, "error"), "hint", ""), HasSubstr("--deny"));
      EXPECT_FALSE(document->contains("errors")) << "no child has reported any";
    }
  }
}

TEST_F(AdviceTest, ATimeOfNothingIsRefused) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "x", "--timeout", "0s"},
                                                {"task", "explore", "x", "--timeout", "0s"}}) {
    const auto ran = deputy(words);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("--timeout is '0s'; it must be a time above 0"));
  }
}

TEST_F(AdviceTest, WithoutAKeyForAllOfABatchTheKeyIsWhatIsNamed) {
  const auto file = work() / "batch.json";
  write(file, R"({"tasks":[{"label":"a","prompt":"look","model":"openai/gpt-5"}]})");
  const auto ran = deputy(Start{.words = {"delegate", "--model", "rehearsal", "--file", file.string()},
                                .environment = {{"OPENAI_API_KEY", ""}, {"ANTHROPIC_API_KEY", ""}}});
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr("OPENAI_API_KEY"), Not(HasSubstr("see what each reports")),
                                       Not(HasSubstr(".;"))));
}

TEST_F(AdviceTest, AnotherModelForASessionThatGoesOnIsRefused) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"},{"text":"still"}]}]})");
  const auto first =
      parse_json_object(deputy({"task", "explore", "look", "--model", model, "--output", "json"}).out);
  ASSERT_TRUE(first);
  const auto tree = parse_json_object(
      deputy({"sessions", "tree", string_or(*first, "session_id", ""), "--output", "json"}).out);
  ASSERT_TRUE(tree);
  const auto* children = array_at(*tree, "children");
  const auto id = string_or(children && !children->empty() ? children->front().as_object() : *tree, "id", "");
  const auto other = deputy({"task", "explore", "more", "--resume", id, "--model", "rehearsal"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("--model is rehearsal"), HasSubstr("leave --model out")));
  EXPECT_EQ(deputy({"task", "explore", "more", "--resume", id, "--model", model}).status, 0) << "its own";
}

TEST_F(AdviceTest, TheDoctorNamesSettingsWithWhichNothingRuns) {
  const auto settings = root() / "settings.toml";
  write(settings, "allowed_paths = [\"/nowhere/at/all\"]\n");
  const auto absent = deputy({"doctor", "--config", settings.string()});
  EXPECT_EQ(absent.status, 1);
  EXPECT_THAT(absent.out, AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("take it out of the settings")));
  write(settings, "[limits]\nmax_live = 0\n");
  const auto none = deputy({"doctor", "--config", settings.string()});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.out, HasSubstr("not even the first session may run"));
}

// What stands between backticks, in the order in which it is told.
std::vector<std::string> command_lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return lines;
}

TEST_F(AdviceTest, WhatTheDoctorAdvisesHelpsWhenItIsTyped) {
  namespace fs = std::filesystem;
  ASSERT_EQ(deputy({"demo"}).status, 0);
  fs::permissions(home(), fs::perms::all);
  const auto open = deputy({"doctor"});
  EXPECT_EQ(open.status, 1);
  EXPECT_THAT(open.out, AllOf(HasSubstr("others can write"), Not(HasSubstr("make it writable"))));
  bool has_been_typed = false;
  for (const std::string& line : command_lines_in(open.out)) {
    if (!line.starts_with("chmod ")) continue;
    has_been_typed = true;
    const auto typed = deputy(Start{.words = {line}, .through = {"/bin/sh", "-c", "eval \"$1\""}});
    EXPECT_EQ(typed.status, 0) << line << typed.err;
  }
  EXPECT_TRUE(has_been_typed) << open.out;
  EXPECT_THAT(deputy({"doctor"}).out, HasSubstr("✓ state folder"));
}

TEST_F(AdviceTest, WhatTheDoctorAdvisesAShellCanRead) {
  write(root() / "file", "");
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--home", root() / "file"},
                                               {"--model", "nobody/x"},
                                               {"--model", "openai/gpt-5"},
                                               {"--config", root() / "none.toml"}}) {
    std::vector<std::string> words{"doctor"};
    words.insert(words.end(), more.begin(), more.end());
    for (const std::string& line : command_lines_in(deputy(words).out)) {
      const auto read = deputy(Start{.words = {line}, .through = {"/bin/sh", "-c", "sh -nc \"$1\""}});
      EXPECT_EQ(read.status, 0) << line << read.err;
      EXPECT_THAT(line, Not(HasSubstr("…"))) << "nobody can type that";
    }
  }
}

TEST_F(AdviceTest, WithoutAHomeTheDoctorNamesWhatIsMissing) {
  const auto without = [this](std::vector<std::string> words) {
    return deputy(Start{.words = std::move(words),
                        .through = {"/bin/sh", "-c", "unset HOME DEPUTY_HOME; exec \"$0\" \"$@\""}});
  };
  EXPECT_THAT(without({"doctor"}).out, AllOf(HasSubstr("HOME is not set"), HasSubstr("--home or DEPUTY_HOME"),
                                             Not(HasSubstr("make it writable"))));
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"agents", "ls"},
                                                {"agents", "show", "explore"},
                                                {"models"},
                                                {"complete", "sessions"},
                                                {"complete", "agents"}}) {
    const auto ran = without(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
  }
  const auto kept = without({"sessions", "ls"});
  EXPECT_EQ(kept.status, 1);
  EXPECT_THAT(kept.err, HasSubstr("name one with --home or DEPUTY_HOME"));
}

TEST_F(AdviceTest, APresetLiesUnderItsAgentsName) {
  const auto ran = deputy({"agents", "init", "blank", "--project"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("/.deputy/agents/my-agent.md"));
  EXPECT_THAT(ran.err, HasSubstr("task my-agent"));
  const auto as_json =
      parse_json_object(deputy({"agents", "init", "testing", "--project", "--output", "json"}).out);
  ASSERT_TRUE(as_json);
  EXPECT_THAT(string_or(*as_json, "path", ""), HasSubstr("/.deputy/agents/testing.md"));
}

}  // namespace
}  // namespace deputy
