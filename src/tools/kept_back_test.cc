#include "tools/kept_back.h"

#include <gmock/gmock.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class KeptBackFiles : public testing::Test {
 protected:
  KeptBackFiles() {
    bench.session.workspace = "/work";
    for (const char* name : {"secrets/key", "src/.env", "src/a.c", "docs/x.md", ".deputy/config.toml"})
      bench.write(name, "x");
  }
  Result<KeptBack> found(std::vector<Rule> rules, Access access = Access::read) {
    bench.session.permissions = Rules(std::move(rules)).to_json();
    return kept_back(bench.context(), access);
  }
  ToolBench bench;
};

TEST_F(KeptBackFiles, IsNothingWhereNoRuleDeniesReading) {
  EXPECT_THAT(found({})->hidden, IsEmpty());
  EXPECT_THAT(found({{Decision::ask, "Read", "secrets/**"}})->hidden, IsEmpty());
  EXPECT_THAT(found({{Decision::deny, "Bash", "rm:*"}})->hidden, IsEmpty());
}

TEST_F(KeptBackFiles, IsWhatReadMayNotOpenAFolderAsAWhole) {
  EXPECT_THAT(found({{Decision::deny, "Read", "secrets/**"}, {Decision::deny, "Read", "**/.env"}})->hidden,
              UnorderedElementsAre("/work/secrets", "/work/src/.env"));
  EXPECT_THAT(found({{Decision::deny, "Read", "!docs/**"}})->hidden,
              UnorderedElementsAre("/work/secrets", "/work/src", "/work/.deputy"));
  EXPECT_THAT(found({{Decision::deny, "Read", ""}})->hidden,
              UnorderedElementsAre("/work/secrets", "/work/src", "/work/docs", "/work/.deputy"));
}

TEST_F(KeptBackFiles, IsAlsoWhatAnAncestorMayNotOpen) {
  const Rules parent({{Decision::deny, "Read", "secrets/**"}});
  bench.session.permissions = Rules::both(parent, Rules({{Decision::allow, "Read", ""}})).to_json();
  EXPECT_THAT(kept_back(bench.context(), Access::read)->hidden, ElementsAre("/work/secrets"));
}

TEST_F(KeptBackFiles, WhatALinkLeadsToIsKeptByItsOwnName) {
  bench.disk.plant_link("/work/link", "secrets/key");
  EXPECT_THAT(found({{Decision::deny, "Read", "secrets/**"}})->hidden, ElementsAre("/work/secrets"));
}

TEST_F(KeptBackFiles, WhatMayNotBeEditedOrWrittenIsFixed) {
  const auto kept =
      found({{Decision::deny, "Edit", "src/**"}, {Decision::deny, "Write", "docs/x.md"}}, Access::write);
  EXPECT_THAT(kept->fixed, UnorderedElementsAre("/work/src", "/work/docs/x.md"));
  EXPECT_FALSE(kept->is_all_fixed);
  EXPECT_TRUE(found({{Decision::deny, "Edit", ""}}, Access::write)->is_all_fixed);
}

TEST_F(KeptBackFiles, OtherRootsAreLookedThroughByTheirWholeNames) {
  const auto other = bench.disk.open("/other", IfAbsent::create).value();
  ASSERT_TRUE(other->make_folder("keys"));
  ASSERT_TRUE(other->replace("keys/k", "x"));
  bench.session.permissions = Rules({{Decision::deny, "Read", "/other/keys/**"}}).to_json();
  ToolContext context = bench.context();
  context.roots = {other.get()};
  EXPECT_THAT(kept_back(context, Access::read)->hidden, ElementsAre("/other/keys"));
}

TEST_F(KeptBackFiles, TakesAsManyAsCanBeKeptBackAndNotOneMore) {
  for (std::size_t i = 0; i < kMostKeptBack; ++i) bench.write("many/f" + std::to_string(i) + ".key", "x");
  EXPECT_EQ(found({{Decision::deny, "Read", "**/*.key"}})->hidden.size(), kMostKeptBack);
  bench.write("more/f.key", "x");
  const auto past = found({{Decision::deny, "Read", "**/*.key"}});
  ASSERT_FALSE(past);
  EXPECT_THAT(to_text(past.error()), AllOf(HasSubstr("256"), HasSubstr("Read(secrets/**)")));
}

TEST_F(KeptBackFiles, LooksThroughAsManyFilesAsItMayAndNotOneMore) {
  constexpr std::size_t kEntries = 9;  // files and folders, see above
  bench.session.permissions = Rules({{Decision::deny, "Read", "**/.env"}}).to_json();
  EXPECT_TRUE(kept_back(bench.context(), Access::read, kEntries));
  const auto past = kept_back(bench.context(), Access::read, kEntries - 1);
  ASSERT_FALSE(past);
  EXPECT_THAT(to_text(past.error()), HasSubstr("more than 8 files to look through"));
}

TEST_F(KeptBackFiles, RepositoriesBelowTheWorkspacesOwnAreFixed) {
  bench.write(".git/HEAD", "x");
  bench.write("vendor/lib/.git/HEAD", "x");
  bench.write("sub/.git", "gitdir: ../.git/modules/sub\n");
  bench.write(".git/modules/sub/HEAD", "x");
  const auto kept = found({}, Access::write);
  EXPECT_THAT(kept->repositories.found,
              UnorderedElementsAre(Repository{"vendor/lib/.git", EntryKind::folder, {}},
                                   Repository{"sub/.git", EntryKind::file, {".git/modules/sub"}}));
  EXPECT_THAT(kept->fixed, UnorderedElementsAre("/work/vendor/lib/.git", "/work/sub/.git"));
  EXPECT_THAT(found({}, Access::read)->fixed, IsEmpty());
}

TEST_F(KeptBackFiles, WhatAGitFileNamesIsFixedAndWhatThatHasInCommonToo) {
  bench.write(".git", "gitdir: .bare/worktrees/main\n");
  bench.write("other/.git", "gitdir: /work/.bare/worktrees/other\r\n");
  bench.write("away/.git", "gitdir: /elsewhere\n");
  for (const char* name : {"main", "other"})
    bench.write(std::string(".bare/worktrees/") + name + "/commondir", "../..\n");
  const auto kept = found({}, Access::write);
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_THAT(kept->fixed,
              UnorderedElementsAre("/work/.bare", "/work/.bare/worktrees/main", "/work/other/.git",
                                   "/work/.bare/worktrees/other", "/work/away/.git"));
}

TEST_F(KeptBackFiles, WhatARepositoryTakesSettingsAndHooksFromIsFixed) {
  for (const char* name : {".githooks/pre-commit", "git/more.inc", "git/branch.inc", "git/other.inc"})
    bench.write(name, "");
  bench.write("git/team.inc", "[include]\n\tpath = more.inc\n\tpath = team.inc\n");
  bench.write(".git/HEAD", "x");
  EXPECT_THAT(found({}, Access::write)->fixed, IsEmpty()) << "control";
  bench.write(".git/config",
              "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../git/team.inc\n\tpath = ../missing\n"
              "\tpath = /elsewhere\n\tpath = local.inc\n[includeIf \"onbranch:x\"]\n"
              "\tpath = /work/git/branch.inc\n");
  bench.write(".git/local.inc", "[core]\n\thooksPath = .\n");
  bench.write("sub/.git/config", "[core]\n\thooksPath = hooks\n");
  bench.write("sub/hooks/pre-commit", "");
  EXPECT_THAT(found({}, Access::write)->fixed,
              UnorderedElementsAre("/work/.githooks", "/work/git/team.inc", "/work/git/more.inc",
                                   "/work/git/branch.inc", "/work/sub/.git", "/work/sub/hooks"));
}

TEST_F(KeptBackFiles, ARepositoryWhoseFileLeadsElsewhereNowIsSetAside) {
  bench.write("sub/.git", "gitdir: store\n");
  const auto kept = found({}, Access::write);
  EXPECT_EQ(set_aside_new(*bench.workspace, kept->repositories), "") << "control";
  bench.write("sub/store/config", "[core]\n\tfsmonitor = touch pwn\n");
  EXPECT_THAT(set_aside_new(*bench.workspace, kept->repositories), HasSubstr("sub/.git-set-aside"));
}

TEST_F(KeptBackFiles, ProtectedNamesAtTheTopAreFixedUnlessARuleAllowsThem) {
  bench.write(".husky/pre-commit", "x");
  bench.write("src/.vscode/tasks.json", "x");
  bench.write("hooks/x", "x");
  bench.disk.plant_link("/work/.envrc", "hooks/x");
  bench.disk.plant_link("/work/.npmrc", "/elsewhere");
  EXPECT_THAT(found({}, Access::write)->fixed, UnorderedElementsAre("/work/.husky", "/work/hooks/x"));
  EXPECT_FALSE(found({}, Access::write)->has_denied);
  EXPECT_THAT(found({}, Access::read)->fixed, IsEmpty());
  EXPECT_THAT(found({{Decision::allow, "Write", ".husky/**"}}, Access::write)->fixed,
              UnorderedElementsAre("/work/hooks/x"));
}

TEST_F(KeptBackFiles, ARepositoryThatWasMadeIsSetAside) {
  bench.write("old/.git/HEAD", "x");
  const auto kept = found({}, Access::write);
  EXPECT_EQ(set_aside_new(*bench.workspace, kept->repositories), "");
  bench.write("new/.git/config", "[core]\n\tfsmonitor = touch pwn\n");
  EXPECT_THAT(set_aside_new(*bench.workspace, kept->repositories), HasSubstr("new/.git-set-aside"));
  EXPECT_FALSE(bench.workspace->status("new/.git"));
  EXPECT_TRUE(bench.workspace->status("new/.git-set-aside/config"));
  EXPECT_TRUE(bench.workspace->status("old/.git/HEAD"));
  bench.write("new/.git/config", "again");
  EXPECT_THAT(set_aside_new(*bench.workspace, kept->repositories), HasSubstr("new/.git-set-aside-2"));
}

TEST_F(KeptBackFiles, AfterACrashARepositoryIsKnownByWhatWasWrittenDown) {
  bench.write("old/.git/HEAD", "x");
  bench.write("odd\nname \xff/.git/HEAD", "x");
  const KnownRepositories known = known_of(found({}, Access::write)->repositories);
  EXPECT_EQ(known.digests.size(), 2U);
  const std::string line = to_line(known);
  EXPECT_TRUE(line.ends_with('\n') && line.find('\n') == line.size() - 1) << line;
  const auto read = known_in(std::string_view(line).substr(0, line.size() - 1));
  EXPECT_EQ(read, known);
  EXPECT_EQ(known_in("repositories all"), KnownRepositories{});
  EXPECT_EQ(known_in("confined 2 7"), std::nullopt);
  EXPECT_EQ(set_aside_new(*bench.workspace, *read), "");
  bench.write("new/.git/config", "x");
  EXPECT_THAT(set_aside_new(*bench.workspace, *read), HasSubstr("new/.git-set-aside"));
}

// The person works on after a crash.
TEST_F(KeptBackFiles, AfterACrashARepositoryThatCameLaterIsLeftAndNamed) {
  KnownRepositories known = known_of(found({}, Access::write)->repositories);
  known.until = bench.loop.clock().wall();
  const std::string line = to_line(known);
  ASSERT_EQ(known_in(std::string_view(line).substr(0, line.size() - 1)), known);
  bench.write("new/.git", "gitdir: /elsewhere\n");
  EXPECT_THAT(set_aside_new(*bench.workspace, known), HasSubstr("new/.git-set-aside")) << "at the limit";
  bench.write("mine/.git", "gitdir: /elsewhere\n");
  known.until = *known.until - std::chrono::microseconds(1);
  EXPECT_THAT(set_aside_new(*bench.workspace, known),
              AllOf(HasSubstr("mine/.git"), HasSubstr("left as it is"), Not(HasSubstr("set-aside"))));
  EXPECT_TRUE(bench.workspace->status("mine/.git"));
}

TEST_F(KeptBackFiles, NoNumberOfTakenNamesKeepsARepositoryInPlace) {
  for (int number = 1; number <= 30; ++number)
    bench.write("new/.git-set-aside" + (number == 1 ? "" : "-" + std::to_string(number)), "x");
  bench.write("new/.git/config", "x");
  EXPECT_THAT(set_aside_new(*bench.workspace, Repositories{}), HasSubstr("new/.git-set-aside-31"));
  EXPECT_FALSE(bench.workspace->status("new/.git"));
}

TEST_F(KeptBackFiles, HoweverManyRepositoriesAreMadeAllAreSetAside) {
  for (int i = 0; i < 300; ++i) bench.write("new" + std::to_string(i) + "/.git/config", "x");
  set_aside_new(*bench.workspace, Repositories{});
  EXPECT_THAT(repositories_below(*bench.workspace, Depth::everywhere, 10'000).found, IsEmpty());
}

TEST_F(KeptBackFiles, ARepositoryIsFoundBehindMoreFilesThanAreLookedThroughBefore) {
  for (std::size_t i = 0; i <= kMostLookedThroughForGit; ++i) bench.write("z/" + std::to_string(i), "");
  bench.write("a/.git/config", "x");
  EXPECT_THAT(set_aside_new(*bench.workspace, Repositories{}), HasSubstr("a/.git-set-aside"));
  EXPECT_FALSE(found({}, Access::write)->repositories.is_all) << "control";
}

TEST_F(KeptBackFiles, ARepositoryThatCannotBeSetAsideIsNamed) {
  bench.write("new/.git/config", "x");
  bench.disk.set_fault([](std::string_view) { return fail(ErrorCode::io, "read-only"); });
  EXPECT_THAT(set_aside_new(*bench.workspace, Repositories{}),
              HasSubstr("could not be set aside: new/.git."));
}

TEST_F(KeptBackFiles, WhatALinkToARepositoryLeadsToIsFixedAndAnotherInItsPlaceIsSetAside) {
  bench.write("store/HEAD", "x");
  bench.write("evil/HEAD", "x");
  bench.disk.plant_link("/work/sub/.git", "../store");
  bench.disk.plant_link("/work/away/.git", "/elsewhere");
  const auto kept = found({}, Access::write);
  EXPECT_THAT(kept->fixed, UnorderedElementsAre("/work/store"));
  EXPECT_EQ(set_aside_new(*bench.workspace, kept->repositories), "");
  ASSERT_TRUE(bench.workspace->remove("sub/.git"));
  ASSERT_TRUE(bench.workspace->remove("away/.git"));
  bench.disk.plant_link("/work/sub/.git", "../evil");
  bench.write("away/.git/config", "x");
  EXPECT_THAT(set_aside_new(*bench.workspace, kept->repositories),
              AllOf(HasSubstr("sub/.git-set-aside"), HasSubstr("away/.git-set-aside")));
}

TEST_F(KeptBackFiles, TakesAsManyRepositoriesAsCanBeKeptBackAndNotOneMore) {
  for (std::size_t i = 0; i < kMostKeptBack; ++i)
    bench.write("r" + std::to_string(i) + "/.git", "gitdir: x\n");
  EXPECT_EQ(found({}, Access::write)->fixed.size(), kMostKeptBack);
  bench.write("more/.git", "gitdir: x\n");
  const auto past = found({}, Access::write);
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, ErrorCode::exhausted);
  EXPECT_FALSE(past.error().advice.empty());
}

}  // namespace
}  // namespace deputy
