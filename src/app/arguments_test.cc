#include "app/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Arguments> parsed(std::vector<std::string> words) { return parse_arguments(words); }

template <class T>
T command_of(std::vector<std::string> words) {
  const auto arguments = parsed(std::move(words));
  if (!arguments) {
    ADD_FAILURE() << arguments.error().message;
    return {};
  }
  if (const auto* command = std::get_if<T>(&arguments->command)) return *command;
  ADD_FAILURE() << "another command";
  return {};
}

CommonArguments common_of(std::vector<std::string> words) {
  const auto arguments = parsed(std::move(words));
  if (arguments) return arguments->common;
  ADD_FAILURE() << arguments.error().message;
  return {};
}

std::string mistake_in(std::vector<std::string> words) {
  const auto arguments = parsed(std::move(words));
  return arguments ? "" : arguments.error().message + "; " + arguments.error().advice;
}

std::string text_of(std::vector<std::string> words) {
  return command_of<TextArguments>(std::move(words)).text;
}

TEST(Arguments, NothingIsTheChat) {
  command_of<ChatArguments>({});
  EXPECT_EQ(command_of<ChatArguments>({"chat"}).resume, std::nullopt);
  EXPECT_EQ(command_of<ChatArguments>({"chat", "--resume", "newest"}).resume, "newest");
  EXPECT_THAT(mistake_in({"chat", "--resume", ""}), HasSubstr("--resume is ''"));
}

TEST(Arguments, HelpNamesTheCommandWithAllThatLeadsToIt) {
  EXPECT_THAT(text_of({"--help"}), HasSubstr("Usage: deputy ["));
  EXPECT_THAT(text_of({"sessions", "--help"}), HasSubstr("Usage: deputy sessions "));
  EXPECT_THAT(text_of({"sessions", "ls", "--help"}), HasSubstr("Usage: deputy sessions ls "));
  EXPECT_THAT(text_of({"--model", "x", "agents", "init", "--help"}),
              AllOf(HasSubstr("Usage: deputy agents init "), HasSubstr("Example:\n  deputy agents init")));
}

TEST(Arguments, CommonFlagsAreTakenBeforeAndAfterTheCommand) {
  for (const auto& words : {std::vector<std::string>{"--home", "h", "--model", "m", "demo"},
                            {"demo", "--home", "h", "--model", "m"},
                            {"--home", "h", "demo", "--model=m"}}) {
    const auto common = common_of(words);
    EXPECT_EQ(common.home, "h");
    EXPECT_EQ(common.model, "m");
  }
  EXPECT_EQ(common_of({"sessions", "ls", "--home", "h"}).home, "h");
  EXPECT_EQ(common_of({"sessions", "--home", "h", "ls"}).home, "h");
}

TEST(Arguments, APromptIsTakenAsItStands) {
  EXPECT_EQ(command_of<RunArguments>({"run", "demo"}).prompt, "demo");
  EXPECT_EQ(command_of<RunArguments>({"run", "[a, b]"}).prompt, "[a, b]");
  EXPECT_EQ(command_of<RunArguments>({"run", ""}).prompt, "");
  EXPECT_EQ(command_of<RunArguments>({"run", "--", "--yes"}).prompt, "--yes");
  EXPECT_EQ(command_of<RunArguments>({"run"}).prompt, std::nullopt);
  EXPECT_EQ(command_of<RunArguments>({"run", "--yes", "what is here"}).prompt, "what is here");
}

TEST(Arguments, TasksAreRepeatedAndTakenAsTheyStand) {
  const auto batch = command_of<BatchArguments>(
      {"delegate", "--task", "a=one, two", "--task=b=x=y", "--task", "[c]=[d, e]", "--context", "f",
       "--context", "g", "--concurrency", "3", "--return", "json", "--max-output-tokens", "200"});
  EXPECT_THAT(batch.tasks, ElementsAre("a=one, two", "b=x=y", "[c]=[d, e]"));
  EXPECT_THAT(batch.context, ElementsAre("f", "g"));
  EXPECT_EQ(batch.concurrency, 3);
  EXPECT_EQ(batch.layout, "json");
  EXPECT_EQ(batch.max_output_tokens, 200);
}

TEST(Arguments, RulesAreParsedInOneOrder) {
  const auto rules =
      common_of({"--deny", "Read(**/.env)", "demo", "--allow", "Delegate", "--ask", "grep"}).rules;
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(to_text(rules[0]), "Delegate");
  EXPECT_EQ(rules[0].decision, Decision::allow);
  EXPECT_EQ(rules[1].tool, "Grep");
  EXPECT_EQ(rules[2].decision, Decision::deny);
  EXPECT_THAT(mistake_in({"demo", "--allow", "Raed"}), HasSubstr("Read"));
}

TEST(Arguments, MoneyTokensStepsAndTimeCanBeLimited) {
  const auto limits = common_of({"demo", "--max-cost", "0.50", "--max-tokens", "100000", "--max-steps",
                                 "none", "--timeout", "5m"})
                          .limits;
  EXPECT_EQ(limits.max_cost_micros, 500'000);
  EXPECT_EQ(limits.max_tokens, 100'000);
  EXPECT_EQ(limits.max_steps, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(limits.timeout, std::chrono::minutes(5));
  EXPECT_THAT(mistake_in({"demo", "--max-cost", "cheap"}), HasSubstr("US dollars such as 0.50"));
  EXPECT_THAT(mistake_in({"demo", "--max-tokens", "1.5"}), HasSubstr("--max-tokens"));
  EXPECT_THAT(mistake_in({"demo", "--timeout", "5"}), HasSubstr("90s, 5m or 1h"));
}

TEST(Arguments, TheTimeOfATaskIsItsOwnAndMayBeNone) {
  const auto time_of = [](std::vector<std::string> more) {
    std::vector<std::string> words{"task", "explore", "look"};
    words.insert(words.end(), more.begin(), more.end());
    return command_of<OneTaskArguments>(std::move(words)).timeout;
  };
  EXPECT_FALSE(time_of({}));
  EXPECT_EQ(time_of({"--timeout", "90s"}), std::chrono::seconds(90));
  EXPECT_EQ(time_of({"--timeout", "none"}), Duration::max());
  EXPECT_EQ(time_of({"--timeout", "365d"}), std::chrono::hours(24 * 365));
  for (const auto* wrong : {"366d", "0s", "soon"}) {
    EXPECT_THAT(mistake_in({"task", "explore", "look", "--timeout", wrong}),
                AllOf(HasSubstr("--timeout"), HasSubstr("or none")))
        << wrong;
  }
}

TEST(Arguments, TheTimeOfATaskIsItsAgentsWhereverItStands) {
  for (const auto& words : {std::vector<std::string>{"task", "explore", "look", "--timeout", "90s"},
                            {"--timeout", "90s", "task", "explore", "look"},
                            {"--timeout", "1h", "task", "explore", "look", "--timeout", "90s"}}) {
    EXPECT_EQ(command_of<OneTaskArguments>(words).timeout, std::chrono::seconds(90));
    EXPECT_EQ(common_of(words).limits.timeout, Duration::max()) << "its tree has no other";
  }
  EXPECT_EQ(common_of({"task", "explore", "look"}).limits.timeout, std::nullopt);
  EXPECT_EQ(common_of({"--timeout", "90s", "run", "look"}).limits.timeout, std::chrono::seconds(90));
  EXPECT_EQ(common_of({"run", "look", "--timeout", "90s"}).limits.timeout, std::chrono::seconds(90));
  EXPECT_THAT(text_of({"--help"}), HasSubstr("of `task` for its agent"));
  EXPECT_THAT(text_of({"task", "--help"}), HasSubstr("the same before the command"));
}

TEST(Arguments, HelpIsTheFlagAsAWordInFrontOfACommand) {
  EXPECT_EQ(text_of({"help"}), text_of({"--help"}));
  EXPECT_EQ(text_of({"help", "sessions", "ls"}), text_of({"sessions", "ls", "--help"}));
  EXPECT_EQ(command_of<RunArguments>({"run", "help"}).prompt, "help") << "which is a prompt";
}

TEST(Arguments, HelpOnWhatIsNoCommandIsAMistake) {
  EXPECT_THAT(mistake_in({"help", "sesions"}),
              AllOf(HasSubstr("unknown command 'sesions'"), HasSubstr("did you mean sessions?")));
  EXPECT_THAT(mistake_in({"help", "bogus"}), HasSubstr("unknown command 'bogus'"));
  EXPECT_THAT(mistake_in({"help", "sessions", "bogus"}), HasSubstr("unknown command 'bogus'"));
  EXPECT_EQ(text_of({"help", "run"}), text_of({"run", "--help"}));
  EXPECT_EQ(text_of({"help", "help"}), text_of({"--help"}));
}

TEST(Arguments, TheFormToTellOfAMistakeInIsTheOneThatTheWordsAskFor) {
  const auto wanted = [](std::vector<std::string> words) { return output_wanted(words); };
  EXPECT_EQ(wanted({}), OutputForm::text);
  EXPECT_EQ(wanted({"run", "--bogus", "--output", "json"}), OutputForm::json);
  EXPECT_EQ(wanted({"--output=stream-json", "frobnicate"}), OutputForm::stream_json);
  EXPECT_EQ(wanted({"run", "--output", "yaml"}), OutputForm::text);
  EXPECT_EQ(wanted({"run", "--output"}), OutputForm::text);
  EXPECT_EQ(wanted({"run", "--", "--output", "json"}), OutputForm::text) << "that is a prompt";
}

TEST(Arguments, LimitsAreWholeNumbersOrNone) {
  const auto limits = common_of({"demo", "--max-depth", "0", "--max-live", "none"}).limits;
  EXPECT_EQ(limits.max_depth, 0);
  EXPECT_EQ(limits.max_live, std::numeric_limits<int>::max());
  EXPECT_EQ(limits.max_delegations, std::nullopt);
  for (const auto* wrong : {"-1", "three", "1.5", "", "99999999999999999999"}) {
    EXPECT_THAT(mistake_in({"demo", std::string("--max-children=") + wrong}), HasSubstr("--max-children"))
        << wrong;
  }
}

TEST(Arguments, WordsOutsideAChoiceAreNamedWithTheChoice) {
  EXPECT_EQ(common_of({"demo", "--output", "stream-json"}).output, OutputForm::stream_json);
  EXPECT_THAT(mistake_in({"demo", "--output", "xml"}), AllOf(HasSubstr("xml"), HasSubstr("stream-json")));
  EXPECT_THAT(mistake_in({"demo", "--color", "blue"}), HasSubstr("never"));
}

TEST(Arguments, UnknownOptionsAndCommandsNameTheNearest) {
  EXPECT_THAT(mistake_in({"demo", "--modle", "x"}), AllOf(HasSubstr("--modle"), HasSubstr("--model")));
  EXPECT_THAT(mistake_in({"delegate", "--tasks", "a=b"}), AllOf(HasSubstr("--tasks"), HasSubstr("--task")));
  EXPECT_THAT(mistake_in({"deno"}), AllOf(HasSubstr("unknown command 'deno'"), HasSubstr("demo")));
  EXPECT_THAT(mistake_in({"sessions", "lst"}), HasSubstr("ls"));
  EXPECT_THAT(mistake_in({"run", "two", "words"}), AllOf(HasSubstr("'words'"), HasSubstr("quotes")));
  EXPECT_THAT(mistake_in({"models", "too"}), AllOf(HasSubstr("leave it out"), Not(HasSubstr("quotes"))));
}

TEST(Arguments, AValueThatIsTypedAsAnOptionNamesItsOption) {
  for (const auto* command : {"run", "demo", "delegate"}) {
    EXPECT_THAT(mistake_in({command, "--json"}), HasSubstr("did you mean --output json?")) << command;
    EXPECT_THAT(mistake_in({command, "--jsn"}), HasSubstr("did you mean --output json?")) << command;
  }
  EXPECT_THAT(mistake_in({"demo", "--never"}), HasSubstr("did you mean --color never?"));
}

TEST(Arguments, AShortOptionIsNotNearToOneWithOtherLetters) {
  EXPECT_THAT(mistake_in({"demo", "--axy"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(mistake_in({"demo", "--aks"}), HasSubstr("did you mean --ask?")) << "control";
}

TEST(Arguments, WhatIsMissingOrTooMuchIsSaidInOurWords) {
  EXPECT_THAT(mistake_in({"sessions"}),
              AllOf(HasSubstr("'sessions' needs one of its commands: ls, show"), HasSubstr("--help`")));
  EXPECT_THAT(mistake_in({"sessions", "show"}), HasSubstr("'show' needs the argument 'id': a session's id"));
  EXPECT_THAT(mistake_in({"task"}), HasSubstr("'task' needs the argument 'agent'"));
  EXPECT_THAT(mistake_in({"demo", "--model"}),
              AllOf(HasSubstr("--model has no value"), HasSubstr("write --model MODEL: PROVIDER/NAME")));
  EXPECT_EQ(mistake_in({"--output", "json", "demo", "--output", "text"}),
            "--output was given 2 times, and can hold once; leave all of them out but one");
  EXPECT_THAT(mistake_in({"demo", "--home", "a", "--home", "b", "--home", "c"}),
              HasSubstr("--home was given 3 times"));
  EXPECT_THAT(mistake_in({"task", "explore", "x", "--resume", "a", "--resume", "b"}),
              HasSubstr("--resume was given 2 times"));
  EXPECT_EQ(mistake_in({"demo", "--yes=perhaps"}), "--yes takes no value; write --yes alone");
  EXPECT_EQ(mistake_in({"demo", "--allow", "Read", "--allow", "Grep"}), "") << "each is one more";
}

TEST(Arguments, WhatTakesOneValueEachTimeSaysSo) {
  const auto help = text_of({"--help"});
  EXPECT_THAT(help, AllOf(HasSubstr("--allow RULE "), HasSubstr("may be given several times"),
                          Not(HasSubstr("..."))));
  EXPECT_THAT(text_of({"delegate", "--help"}),
              AllOf(HasSubstr("--task LABEL=PROMPT "), Not(HasSubstr("..."))));
  EXPECT_THAT(mistake_in({"--allow", "Read", "Glob", "run", "hi"}),
              AllOf(HasSubstr("'Glob'; --allow takes one RULE each time"), Not(HasSubstr("in quotes"))));
  EXPECT_THAT(mistake_in({"delegate", "--task", "a=b", "c=d"}),
              HasSubstr("--task LABEL=PROMPT --task LABEL=PROMPT"));
  EXPECT_THAT(mistake_in({"--allow", "Read", "run", "say", "hi"}), HasSubstr("in quotes")) << "control";
}

TEST(Arguments, AnEmptyWordIsNeitherADefaultNorAll) {
  EXPECT_THAT(mistake_in({"sessions", "prune", ""}), HasSubstr("id is ''; name a tree"));
  EXPECT_EQ(command_of<SessionsArguments>({"sessions", "prune"}).id, "");
  EXPECT_EQ(command_of<SessionsArguments>({"sessions", "prune", "newest"}).id, "newest");
  EXPECT_THAT(mistake_in({"agents", "check", ""}), HasSubstr("file is ''; name a file"));
  EXPECT_THAT(mistake_in({"sessions", "answer", "newest", ""}), HasSubstr("the text is empty"));
  EXPECT_THAT(mistake_in({"sessions", "nudge", "newest", ""}), HasSubstr("the text is empty"));
  EXPECT_EQ(command_of<AgentsArguments>({"agents", "check", "a.md"}).name, "a.md");
  for (const std::string option : {"--model", "--cwd", "--home", "--config"})
    EXPECT_THAT(mistake_in({"demo", option, ""}), HasSubstr(option + " is ''; name "));
}

TEST(Arguments, SessionViews) {
  EXPECT_TRUE(command_of<SessionsArguments>({"sessions", "ls", "--live"}).live_only);
  const auto tree = command_of<SessionsArguments>({"sessions", "tree", "sess_1"});
  EXPECT_EQ(tree.view, SessionView::tree);
  EXPECT_EQ(tree.id, "sess_1");
  EXPECT_EQ(command_of<SessionsArguments>({"sessions", "export", "x"}).view, SessionView::events);
}

TEST(Arguments, CompletionsAskForNamesOfAKind) {
  EXPECT_EQ(command_of<CompleteArguments>({"complete", "agents"}).names, NamesOf::agents);
  EXPECT_EQ(command_of<CompleteArguments>({"complete", "models", "--home", "h"}).names, NamesOf::models);
  EXPECT_THAT(mistake_in({"complete", "secrets"}), HasSubstr("sessions or agents or models"));
  EXPECT_NE(mistake_in({"complete"}), "");
}

TEST(Arguments, ResumeTakesAnIdOrNone) {
  EXPECT_EQ(command_of<ResumeArguments>({"resume"}).id, std::nullopt);
  EXPECT_EQ(command_of<ResumeArguments>({"resume", "sess_1"}).id, "sess_1");
}

TEST(Arguments, DoctorMakesABundleOrReplaysOne) {
  EXPECT_EQ(command_of<DoctorArguments>({"doctor"}).bundled, std::nullopt);
  EXPECT_EQ(command_of<DoctorArguments>({"doctor", "--bundle", "newest"}).bundled, "newest");
  EXPECT_EQ(command_of<DoctorArguments>({"doctor", "--replay", "file"}).replayed, "file");
  EXPECT_FALSE(parse_arguments(std::vector<std::string>{"doctor", "--bundle", "a", "--replay", "b"}));
}

TEST(Arguments, EveryCommandHasHelpWithAnExample) {
  EXPECT_THAT(text_of({"--help"}), AllOf(HasSubstr("--max-delegations"), HasSubstr("deputy demo")));
  for (const auto* command : {"run", "delegate", "demo", "sessions", "resume", "models", "doctor"}) {
    EXPECT_THAT(text_of({command, "--help"}), HasSubstr(std::string("Example:\n  deputy ") + command));
  }
  for (const auto* view : {"ls", "show", "tree", "transcript", "notes", "export"}) {
    EXPECT_THAT(text_of({"sessions", view, "--help"}),
                HasSubstr(std::string("Example:\n  deputy sessions ") + view));
  }
}

TEST(Arguments, TheHelpOfTheListSaysWhatItShows) {
  EXPECT_THAT(text_of({"sessions", "ls", "--help"}),
              AllOf(HasSubstr("how many children"), HasSubstr("--live: id")));
}

TEST(Arguments, TheVersionIsShownAlone) {
  EXPECT_THAT(text_of({"--version"}), ::testing::StartsWith("deputy "));
  EXPECT_EQ(text_of({"--version"}), text_of({"run", "--version"}));
}

}  // namespace
}  // namespace deputy
