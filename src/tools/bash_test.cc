#include "tools/bash.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "async/sleep.h"
#include "tools/command_record.h"
#include "tools/task_tools.h"
#include "tools/tool_bench.h"
#include "tools/workspace_mode.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Bash : public testing::Test {
 protected:
  Bash() {
    bench.session.id = SessionId("sess_1_aaaaaa");
    bench.session.workspace_mode = WorkspaceMode::shared;
  }
  ~Bash() override { run(bench.loop, background.end_all()); }
  void plays(ProcessResult result, Duration takes = {}) {
    bench.processes.define(
        "bash",
        [this, result](const ProcessSpec& spec) {
          specs.push_back(spec);
          return result;
        },
        takes);
  }
  ToolBench bench;
  std::vector<ProcessSpec> specs;
  BackgroundCommands background{bench.loop};
  BashTool bash{background};
  TaskStatusTool status{{&background}};
  TaskCancelTool cancel{{&background}};
};

TEST_F(Bash, GivesTheOutputAndHowItEnded) {
  plays({.exit_status = 0, .output = "hello\n"});
  EXPECT_EQ(bench.call(bash, R"({"command":"echo hello"})").content, "hello");
  plays({.exit_status = 2, .output = "a", .errors = "b\n"});
  const auto failed = bench.call(bash, R"({"command":"x"})");
  EXPECT_EQ(failed.status, ToolStatus::error);
  EXPECT_EQ(failed.content, "a\n[stderr]\nb\n[exit status 2]");
  plays({});
  EXPECT_EQ(bench.call(bash, R"({"command":"true"})").content, "(no output)");
}

TEST_F(Bash, ShowsWhatItPrintsAsItComes) {
  plays({.output = "one\ntwo\n"});
  std::string seen;
  auto context = bench.context();
  context.output = [&seen](std::string_view piece) { seen += piece; };
  run(bench.loop, bash.run({{"command", "x"}}, context));
  ASSERT_TRUE(specs.back().on_output);
  specs.back().on_output("late");
  EXPECT_TRUE(seen.ends_with("late"));
}

Task<std::optional<std::string>> kept_at(std::string path) { co_return path; }

// What is shown is bounded; what goes past that is in a file.
TEST_F(Bash, ALongOutputIsKeptInAFile) {
  std::map<std::string, std::string> files;
  auto context = bench.context();
  context.keep = [&files](std::string name, std::string text) {
    files.insert_or_assign(name, std::move(text));
    return kept_at("/state/" + name);
  };
  const auto call = [&](std::size_t bytes) {
    plays({.output = std::string(bytes, 'x')});
    return run(bench.loop, bash.run({{"command", "x"}}, context)).content;
  };
  const std::size_t shown = bash.most_result_bytes();
  EXPECT_THAT(call(shown), Not(HasSubstr("/state/")));
  EXPECT_TRUE(files.empty());
  EXPECT_THAT(call(shown + 1), HasSubstr("[32,769 bytes were printed; all of them are in /state/"));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files.begin()->second, std::string(shown + 1, 'x'));
  constexpr std::size_t kMost = std::size_t{8} << 20;
  EXPECT_THAT(call(kMost), HasSubstr("all of them"));
  EXPECT_THAT(call(kMost + 1), HasSubstr("the first 8,388,608 of them"));
  EXPECT_EQ(files.begin()->second.size(), kMost);
  files.clear();
  run(bench.loop, bash.run({{"command", "x"}, {"run_in_background", true}}, context));
  run(bench.loop, background.wait(bench.session.id, background_id(context.id), {}, {}));
  EXPECT_THAT(run(bench.loop, background.told(bench.session.id, background_id(context.id), shown)),
              HasSubstr("the first 8,388,608"));
  EXPECT_EQ(files.size(), 1u);
}

TEST_F(Bash, StartsConfinedWithAnEnvironmentOfItsOwnAndNoNetwork) {
  plays({});
  bench.call(bash, R"({"command":"true"})");
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(specs[0].argv, (std::vector<std::string>{"bash", "-c", "true"}));
  EXPECT_EQ(specs[0].need, SandboxLevel::isolated);
  EXPECT_FALSE(specs[0].network);
  EXPECT_FALSE(specs[0].environment.contains("ANTHROPIC_API_KEY"));
  EXPECT_EQ(specs[0].environment.at("TERM"), "dumb");
}

TEST_F(Bash, MayWriteOnlyWhereTheWorkspaceModeAllowsIt) {
  plays({});
  using enum WorkspaceMode;
  for (const auto mode : {read_only, worktree, shared}) {
    bench.session.workspace_mode = mode;
    bench.call(bash, R"({"command":"true"})");
    EXPECT_EQ(specs.back().folder, bench.workspace.get());
    EXPECT_EQ(specs.back().folder_access, mode == read_only ? Access::read : Access::write) << name_of(mode);
  }
}

TEST_F(Bash, WorksInItsOwnFolderInScratchModeAndReadsTheRest) {
  std::string started_in;
  bench.processes.define("bash", [&](const ProcessSpec& spec) {
    started_in = spec.folder->path();
    specs.push_back(spec);
    return ProcessResult{};
  });
  bench.session.workspace_mode = WorkspaceMode::scratch;
  EXPECT_EQ(bench.call(bash, R"({"command":"true"})").status, ToolStatus::error)
      << "there is no such folder yet";
  ASSERT_TRUE(bench.workspace->make_folder(scratch_folder(bench.session.id)));
  EXPECT_EQ(bench.call(bash, R"({"command":"true"})").status, ToolStatus::ok);
  EXPECT_EQ(started_in, "/work/.deputy/subagents/agent_sess_1_aaaaaa");
  EXPECT_EQ(specs.back().folder_access, Access::write);
  ASSERT_EQ(specs.back().roots.size(), 1u);
  EXPECT_EQ(specs.back().roots[0].path, "/work");
  EXPECT_EQ(specs.back().roots[0].access, Access::read);
}

TEST_F(Bash, ShowsAPersonTheCommandAsItWillRun) {
  const auto asked = bash.approval_text({{"command", "rm  -rf\u202e x;  echo ok"}}, bench.context());
  EXPECT_THAT(asked, AllOf(HasSubstr("Run in /work, at most 2m 00s:\n"), Not(HasSubstr("\u202e"))));
}

TEST_F(Bash, ShowsAPersonHowItWillRun) {
  const auto first_line = [&](std::string_view arguments) {
    const std::string text = bash.approval_text(*parse_json_object(arguments), bench.context());
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line(R"({"command":"x","timeout":5000})"), "Run in /work, at most 5s:");
  EXPECT_EQ(first_line(R"({"command":"x","timeout":600000})"), "Run in /work, at most 10m 00s:");
  bench.session.network = true;
  bench.session.workspace_mode = WorkspaceMode::read_only;
  EXPECT_EQ(first_line(R"({"command":"x","run_in_background":true})"),
            "Run in /work (read-only) in the background, at most 24h 00m, with the network:");
}

TEST_F(Bash, HidesWhatReadMayNotOpenAndIsNotStartedWhereItCannot) {
  plays({});
  bench.write("secrets/key", "x");
  bench.session.permissions = Rules({{Decision::deny, "Read", "secrets/**"}}).to_json();
  bench.session.sandbox_level = 2;
  BashTool lenient{background, {.least = SandboxLevel::restricted}};
  bench.call(lenient, R"({"command":"true"})");
  EXPECT_EQ(specs.back().hidden, (std::vector<std::string>{"/work/secrets"}));
  EXPECT_EQ(specs.back().need, SandboxLevel::isolated);
  bench.session.permissions.clear();
  bench.call(lenient, R"({"command":"true"})");
  EXPECT_TRUE(specs.back().hidden.empty());
  EXPECT_EQ(specs.back().need, SandboxLevel::restricted);
}

TEST_F(Bash, IsAskedAboutWhereWhatRulesDenyCannotBeKeptFromIt) {
  const Rules allowed({{Decision::allow, "Bash", ""}});
  const Rules denying({{Decision::allow, "Bash", ""}, {Decision::deny, "Read", "secrets/**"}});
  const Rules asking({{Decision::allow, "Bash", ""}, {Decision::ask, "Read", "secrets/**"}});
  const json::object arguments{{"command", "ls"}};
  const auto judged = [&](const Rules& rules, std::optional<int> level) {
    bench.session.sandbox_level = level;
    return bash.judge(rules, arguments, bench.context());
  };
  EXPECT_EQ(judged(allowed, 1).decision, Decision::allow);
  EXPECT_EQ(judged(denying, 2).decision, Decision::allow);
  EXPECT_EQ(judged(denying, 3).decision, Decision::allow);
  EXPECT_EQ(judged(denying, 1).decision, Decision::ask);
  EXPECT_EQ(judged(denying, std::nullopt).decision, Decision::ask);
  EXPECT_THAT(judged(denying, 0).reason, HasSubstr("sandbox level 2"));
  EXPECT_EQ(judged(asking, 3).decision, Decision::ask);
  EXPECT_EQ(judged(Rules({{Decision::deny, "Bash", ""}, {Decision::deny, "Read", "x"}}), 1).decision,
            Decision::deny);
}

TEST_F(Bash, FixesWhatEditMayNotChangeAndIsNotStartedWhereItCannot) {
  plays({});
  bench.write("src/a", "x");
  bench.session.sandbox_level = 2;
  BashTool lenient{background, {.least = SandboxLevel::restricted}};
  for (const char* tool : {"Edit", "Write"}) {
    bench.session.permissions = Rules({{Decision::deny, tool, "src/**"}}).to_json();
    bench.call(lenient, R"({"command":"true"})");
    EXPECT_EQ(specs.back().fixed, (std::vector<std::string>{"/work/src"}));
    EXPECT_EQ(specs.back().need, SandboxLevel::isolated);
  }
  bench.session.permissions.clear();
  bench.write("below/.git/config", "x");
  bench.call(lenient, R"({"command":"true"})");
  EXPECT_FALSE(specs.back().fixed.empty());
  EXPECT_EQ(specs.back().need, SandboxLevel::restricted) << "no rule asks for it";
}

TEST_F(Bash, IsAskedAboutWhereItCannotBeKeptFromChangingWhatRulesDeny) {
  const json::object arguments{{"command", "ls"}};
  const auto judged = [&](std::string tool, std::string pattern, int level) {
    bench.session.sandbox_level = level;
    const Rules rules({{Decision::allow, "Bash", ""}, {Decision::deny, tool, pattern}});
    return bash.judge(rules, arguments, bench.context()).decision;
  };
  for (const char* tool : {"Edit", "Write"}) {
    EXPECT_EQ(judged(tool, "src/**", 1), Decision::ask) << tool;
    EXPECT_EQ(judged(tool, "src/**", 2), Decision::allow) << tool;
  }
  EXPECT_EQ(judged("Edit", "", 1), Decision::allow) << "all is read-only then";
  bench.session.workspace_mode = WorkspaceMode::read_only;
  EXPECT_EQ(judged("Edit", "src/**", 1), Decision::allow);
}

TEST_F(Bash, WritesNothingWhereNothingMayBeEdited) {
  plays({});
  bench.session.permissions = Rules({{Decision::deny, "Edit", ""}}).to_json();
  bench.call(bash, R"({"command":"true"})");
  EXPECT_EQ(specs.back().folder_access, Access::read);
}

TEST_F(Bash, SetsARepositoryAsideThatACommandMade) {
  bench.processes.define("bash", [&](const ProcessSpec&) {
    bench.write("new/.git/config", "[core]\n\tfsmonitor = touch pwn\n");
    return ProcessResult{.output = "done\n"};
  });
  EXPECT_THAT(bench.call(bash, R"({"command":"git init new"})").content,
              AllOf(HasSubstr("done"), HasSubstr("new/.git-set-aside")));
  EXPECT_FALSE(bench.workspace->status("new/.git"));
  bench.call(bash, R"({"command":"git init new","run_in_background":true})");
  EXPECT_THAT(bench.call(status, R"({"wait_seconds":10})").content, HasSubstr("new/.git-set-aside-2"));
  EXPECT_FALSE(bench.workspace->status("new/.git"));
}

TEST_F(Bash, RunsTheScriptThatWasApprovedAndNoOther) {
  plays({.output = "ran\n"});
  for (const char* command : {"./script.sh",
                              "sh script.sh",
                              "timeout 5 ./script.sh x",
                              "true && bash ./script.sh",
                              ". ./script.sh",
                              "/work/script.sh",
                              "bash -e script.sh",
                              "python3 -u script.sh",
                              "/bin/sh script.sh",
                              "env A=1 ./script.sh",
                              "/usr/bin/env bash -eu script.sh",
                              "ruby -I lib script.sh",
                              "python3 -W ignore script.sh",
                              "python3 -E script.sh",
                              "node --require a.js script.sh",
                              "node --require=./script.sh b.js",
                              "perl -I lib script.sh",
                              "ruby -r./script.sh b.rb",
                              "deno run -A script.sh",
                              "bash < script.sh",
                              "timeout -s KILL 5 ./script.sh",
                              "venv/bin/python script.sh",
                              "awk -f script.sh x",
                              "nice awk -fscript.sh x",
                              "sed -n -f script.sh x",
                              "make -f script.sh x",
                              "make --file=script.sh",
                              "tar xf a --to-command=./script.sh",
                              "tar xf a -I ./script.sh",
                              "rsync -e ./script.sh a b",
                              "git -c core.pager=./script.sh log",
                              "gdb -x script.sh a",
                              "sqlite3 -init script.sh a.db"}) {
    const json::object arguments{{"command", command}};
    bench.write("script.sh", "echo harmless\n");
    ToolContext context = bench.context();
    context.intent = run(bench.loop, bash.plan(arguments, context)).value();
    ASSERT_TRUE(context.intent) << command;
    EXPECT_EQ(run(bench.loop, bash.run(arguments, context)).content, "ran") << command << ": control";
    bench.write("script.sh", "touch pwn\n");
    EXPECT_THAT(run(bench.loop, bash.run(arguments, context)).content,
                HasSubstr("/work/script.sh was changed"))
        << command;
  }
  for (const char* command :
       {"ls", "make test", "cd x && ./script.sh", "python3 -c 'x'", "/usr/bin/missing", "echo $x"}) {
    EXPECT_FALSE(run(bench.loop, bash.plan({{"command", command}}, bench.context())).value()) << command;
  }
}

TEST_F(Bash, RunsTheModuleAndTheScriptBelowThatWereApproved) {
  plays({.output = "ran\n"});
  const std::pair<const char*, const char*> cases[] = {
      {"python3 -m mod", "mod.py"},
      {"python3 -mmod", "mod.py"},
      {"python3 -um mod", "mod.py"},
      {"timeout 5 python3 -W ignore -m pack.mod x", "pack/mod.py"},
      {"python3 -m pack.mod", "pack/__init__.py"},
      {"python3 -m pack", "pack/__main__.py"},
      {"ruby -C sub script.rb", "sub/script.rb"},
      {"ruby -Csub script.rb", "sub/script.rb"},
      {"env -C sub ./script.sh", "sub/script.sh"},
      {"env --chdir=sub bash script.sh", "sub/script.sh"},
      {"env -C sub env -C deep ./script.sh", "sub/deep/script.sh"},
      {"env -C sub ruby -C deep script.rb", "sub/deep/script.rb"},
      {"env -C sub env -C deep env -C most ./script.sh", "sub/deep/most/script.sh"},
      {"env -C sub/deep ../script.sh", "sub/script.sh"},
      {"env -u A -u B -u C -u D -u E -u F -u G -u H -u I -u J -u K -u L -u M -u N -u O -u P -C sub "
       "./script.sh",
       "sub/script.sh"},
  };
  for (const auto& [command, script] : cases) {
    const json::object arguments{{"command", command}};
    bench.write(script, "echo harmless\n");
    ToolContext context = bench.context();
    context.intent = run(bench.loop, bash.plan(arguments, context)).value();
    ASSERT_TRUE(context.intent) << command;
    bench.write("other", command);
    EXPECT_EQ(run(bench.loop, bash.run(arguments, context)).content, "ran") << command << ": control";
    bench.write(script, "touch pwn\n");
    EXPECT_THAT(run(bench.loop, bash.run(arguments, context)).content, HasSubstr("was not run")) << command;
  }
}

TEST_F(Bash, NoticesAScriptInAFolderThatAppearedAfterItWasApproved) {
  plays({.output = "ran\n"});
  const std::pair<const char*, const char*> cases[] = {
      {"env -C new ./script.sh", "new/script.sh"},
      {"env -C later/deep ../script.sh", "later/script.sh"},
  };
  for (const auto& [command, script] : cases) {
    const json::object arguments{{"command", command}};
    ToolContext context = bench.context();
    context.intent = run(bench.loop, bash.plan(arguments, context)).value();
    EXPECT_EQ(run(bench.loop, bash.run(arguments, context)).content, "ran") << command << ": control";
    bench.write(script, "touch pwn\n");
    bench.write("later/deep/file", "x");
    EXPECT_THAT(run(bench.loop, bash.run(arguments, context)).content, HasSubstr("was not run")) << command;
  }
}

TEST_F(Bash, IsNotRunWhereItsScriptMayLieInTooManyFolders) {
  plays({.output = "ran\n"});
  std::string options;
  const auto said = [&] {
    return bench.call(bash, fmt::format(R"({{"command":"env{} ./script.sh"}})", options)).content;
  };
  for (int i = 0; i < 63; ++i) {
    bench.write(fmt::format("d{}/file", i), "x");
    options += fmt::format(" -C d{}", i);
  }
  EXPECT_EQ(said(), "ran");
  bench.write("d63/file", "x");
  options += " -C d63";
  EXPECT_THAT(said(), HasSubstr("more than 63 folders"));
}

TEST_F(Bash, RunsTheScriptOfItsOwnFolderThatWasApproved) {
  plays({.output = "ran\n"});
  bench.session.workspace_mode = WorkspaceMode::scratch;
  const std::string own = scratch_folder(bench.session.id) + "/script.sh";
  const json::object arguments{{"command", "sh script.sh"}};
  const auto after = [&](const std::string& changed) {
    for (const std::string& name : {own, std::string("script.sh")}) bench.write(name, "echo harmless\n");
    ToolContext context = bench.context();
    context.intent = run(bench.loop, bash.plan(arguments, context)).value();
    bench.write(changed, "touch pwn\n");
    return run(bench.loop, bash.run(arguments, context)).content;
  };
  EXPECT_THAT(after(own), HasSubstr(own + " was changed"));
  EXPECT_EQ(after("script.sh"), "ran") << "control: that one is not run";
}

TEST_F(Bash, RunsAllTheScriptsThatWereApprovedAndThoseThatWereNotThereNeither) {
  plays({.output = "ran\n"});
  const json::object arguments{{"command", "./a.sh && ./b.sh"}};
  const auto after = [&](const std::string& changed, std::string_view content) {
    bench.write("a.sh", "echo a\n");
    ToolContext context = bench.context();
    context.intent = run(bench.loop, bash.plan(arguments, context)).value();
    bench.write(changed, content);
    return run(bench.loop, bash.run(arguments, context)).content;
  };
  EXPECT_EQ(after("other", "x"), "ran") << "control";
  EXPECT_THAT(after("b.sh", "touch pwn\n"), HasSubstr("was not run")) << "it was not there";
  EXPECT_EQ(after("b.sh", "touch pwn\n"), "ran") << "it is as it was";
  EXPECT_THAT(after("b.sh", "touch other\n"), HasSubstr("was not run"));
  EXPECT_THAT(after("a.sh", "touch pwn\n"), HasSubstr("was not run"));
}

TEST_F(Bash, HasTheNetworkThatItsSessionWasGranted) {
  plays({});
  bench.session.network = true;
  bench.call(bash, R"({"command":"true"})");
  EXPECT_TRUE(specs.back().network);
}

TEST_F(Bash, HasTwoMinutesUnlessTheCallSaysOtherwise) {
  plays({});
  bench.call(bash, R"({"command":"true"})");
  EXPECT_EQ(specs.back().time_limit, std::chrono::seconds(120));
  bench.call(bash, R"({"command":"true","timeout":600000})");
  EXPECT_EQ(specs.back().time_limit, std::chrono::seconds(600));
  bench.call(bash, R"({"command":"true","timeout":1})");
  EXPECT_EQ(specs.back().time_limit, std::chrono::seconds(1));
}

TEST_F(Bash, SaysThatItsTimeWasUpAndWhatToDo) {
  plays({.exit_status = 137, .output = "half", .timed_out = true});
  const auto result = bench.call(bash, R"({"command":"x"})");
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content,
              AllOf(HasSubstr("half"), HasSubstr("its time was up"), HasSubstr("120 seconds")));
}

TEST_F(Bash, RefusesWhatNoShellCanTake) {
  EXPECT_THAT(bench.call(bash, R"({"command":"a\u0000b"})").content, HasSubstr("NUL"));
}

TEST_F(Bash, RunsInTheBackgroundAndIsSeenByItsId) {
  plays({.output = "done\n"}, std::chrono::seconds(5));
  EXPECT_THAT(bench.call(bash, R"({"command":"make","run_in_background":true})").content,
              HasSubstr("bash_3_1"));
  EXPECT_THAT(bench.call(status, R"({"id":"bash_3_1"})").content, HasSubstr("bash_3_1 runs since"));
  const auto ended = bench.call(status, R"({"wait_seconds":10})").content;
  EXPECT_THAT(ended, AllOf(HasSubstr("bash_3_1 ended after 5s: make"), HasSubstr("done")));
}

TEST_F(Bash, WaitsForABackgroundCommandNoLongerThanItIsTold) {
  plays({}, std::chrono::seconds(5));
  bench.call(bash, R"({"command":"make","run_in_background":true})");
  EXPECT_THAT(bench.call(status, R"({"id":"bash_3_1","wait_seconds":2})").content,
              HasSubstr("runs since 2s"));
}

TEST_F(Bash, EndsABackgroundCommand) {
  plays({}, std::chrono::hours(1));
  bench.call(bash, R"({"command":"serve","run_in_background":true})");
  EXPECT_THAT(bench.call(cancel, R"({"id":"bash_3_1"})").content, HasSubstr("was ended after"));
  EXPECT_FALSE(background.is_running(bench.session.id, "bash_3_1"));
}

TEST_F(Bash, AnotherSessionSeesNothingOfIt) {
  plays({}, std::chrono::hours(1));
  bench.call(bash, R"({"command":"serve","run_in_background":true})");
  bench.session.id = SessionId("sess_1_bbbbbb");
  EXPECT_EQ(bench.call(status, R"({"id":"bash_3_1"})").status, ToolStatus::error);
  EXPECT_EQ(bench.call(cancel, R"({"id":"bash_3_1"})").status, ToolStatus::error);
  EXPECT_EQ(bench.call(status, "{}").content, "You have no background tasks.");
}

TEST_F(Bash, EndsWithItsSession) {
  plays({}, std::chrono::hours(1));
  bench.call(bash, R"({"command":"serve","run_in_background":true})");
  run(bench.loop, background.end_all_of(bench.session.id));
  EXPECT_TRUE(background.ids_of(bench.session.id).empty());
}

TEST_F(Bash, TakesAsManyInTheBackgroundAsItSaysAndNoMore) {
  plays({}, std::chrono::hours(1));
  for (std::size_t i = 0; i < BackgroundCommands::kMostPerSession; ++i) {
    EXPECT_TRUE(background.start(bench.session.id, std::to_string(i), "x", {.argv = {"bash"}}, nullptr,
                                 bench.processes, {}));
  }
  const auto refused = bench.call(bash, R"({"command":"one more","run_in_background":true})");
  EXPECT_EQ(refused.status, ToolStatus::error);
  EXPECT_THAT(refused.content, HasSubstr("task_cancel"));
}

Task<std::optional<std::string>> not_kept() { co_return std::nullopt; }

TEST_F(Bash, ALongOutputThatCouldNotBeKeptIsSaidToBeLost) {
  auto context = bench.context();
  context.keep = [](std::string, std::string) { return not_kept(); };
  plays({.output = std::string(bash.most_result_bytes() + 1, 'x')});
  EXPECT_THAT(run(bench.loop, bash.run({{"command", "x"}}, context)).content,
              HasSubstr("what is not shown is lost"));
  plays({.output = std::string(bash.most_result_bytes(), 'x')});
  EXPECT_THAT(run(bench.loop, bash.run({{"command", "x"}}, context)).content,
              Not(HasSubstr("what is not shown is lost")));
}

class BashAfterACrash : public Bash {
 protected:
  ToolResult told(std::optional<std::string> record) {
    auto context = bench.context();
    const auto state = *bench.disk.open("/home", IfAbsent::create);
    context.state = state.get();
    if (record) {
      EXPECT_TRUE(state->make_folder(kCommandRecords));
      EXPECT_TRUE(state->replace(command_record(context.id), *record));
    }
    return run(bench.loop, bash.after_crash(context));
  }
};

TEST_F(BashAfterACrash, WhatHadNotBegunWasNotRun) {
  EXPECT_THAT(told("").content, HasSubstr("it was not run"));
  EXPECT_THAT(told("inside\n").content, HasSubstr("it was not run"));
  EXPECT_THAT(told("confined 2 7\nunstarted 2\n").content, HasSubstr("it was not run"));
}

TEST_F(BashAfterACrash, WhatLeftNoRecordHadNotBegun) {
  EXPECT_THAT(told(std::nullopt).content, HasSubstr("it was not run"));
}

TEST_F(BashAfterACrash, WhatHadEndedIsToldByItsExitStatus) {
  const auto well = told("confined 2 7\nended exit 0\n");
  EXPECT_EQ(well.status, ToolStatus::ok);
  EXPECT_EQ(well.exit_status, 0);
  EXPECT_THAT(well.content, AllOf(HasSubstr("exit status 0"), Not(HasSubstr("unknown"))));
  const auto badly = told("confined 2 7\ntimeout\nended signal 9\n");
  EXPECT_EQ(badly.status, ToolStatus::error);
  EXPECT_EQ(badly.exit_status, 137);
  EXPECT_THAT(badly.content, HasSubstr("time was up"));
}

TEST_F(BashAfterACrash, WhatWasInTheMiddleIsUnknown) {
  EXPECT_THAT(told("confined 2 7\n").content, AllOf(HasSubstr("outcome unknown"), HasSubstr("had begun")));
  EXPECT_THAT(told("confined 2 7\nended ex").content, HasSubstr("outcome unknown")) << "a torn record";
  EXPECT_THAT(run(bench.loop, bash.after_crash(bench.context())).content, HasSubstr("outcome unknown"))
      << "where no record is kept";
}

TEST_F(BashAfterACrash, OfWhatIsUnknownTheFilesWrittenSinceAreNamed) {
  bench.write("old.txt", "x");
  const auto wait = [this] { run(bench.loop, sleep_for(bench.loop, std::chrono::seconds(1), StopToken())); };
  wait();
  EXPECT_THAT(told("confined 2 7\n").content, Not(HasSubstr("Files in the workspace")));
  wait();
  const auto state = *bench.disk.open("/home", IfAbsent::create);
  auto context = bench.context();
  context.state = state.get();
  bench.write("new.txt", "x");
  EXPECT_THAT(run(bench.loop, bash.after_crash(context)).content,
              AllOf(HasSubstr("were written since it began, by it or by others: new.txt."),
                    Not(HasSubstr("old.txt"))));
}

// The control: where it may write nothing it can have made none, and what is there stays.
TEST_F(BashAfterACrash, ARepositoryThatTheCommandMadeIsSetAsideAndNoOther) {
  const auto state = *bench.disk.open("/home", IfAbsent::create);
  bench.write("old/.git/HEAD", "x");
  for (const auto mode : {WorkspaceMode::read_only, WorkspaceMode::shared}) {
    const bool may_write = mode == WorkspaceMode::shared;
    const std::string folder = may_write ? "made" : "others";
    bench.session.workspace_mode = mode;
    plays({.exit_status = 3});
    auto context = bench.context();
    context.state = state.get();
    run(bench.loop, bash.run({{"command", "x"}}, context));
    bench.write(folder + "/.git/config", "[core]\n\tfsmonitor = touch pwn\n");  // before the crash
    const std::string content = run(bench.loop, bash.after_crash(context)).content;
    EXPECT_EQ(content.contains(folder + "/.git-set-aside"), may_write) << content;
    EXPECT_EQ(bench.workspace->status(folder + "/.git/config").has_value(), !may_write);
    EXPECT_TRUE(bench.workspace->status("old/.git/HEAD")) << "it was there before";
  }
}

TEST_F(BashAfterACrash, ACommandLeavesARecord) {
  plays({.exit_status = 3});
  const auto state = *bench.disk.open("/home", IfAbsent::create);
  auto context = bench.context();
  context.state = state.get();
  run(bench.loop, bash.run({{"command", "x"}}, context));
  EXPECT_THAT(run(bench.loop, bash.after_crash(context)).content, HasSubstr("exit status 3"));
}

}  // namespace
}  // namespace deputy
