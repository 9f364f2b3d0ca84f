#include "delegation/profile_discovery.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Discovery : public testing::Test {
 protected:
  void put(std::string_view folder, std::string_view name, std::string_view text) {
    const auto opened = disk.open(folder, IfAbsent::create);
    ASSERT_TRUE(opened);
    ASSERT_TRUE((*opened)->replace(name, text));
  }
  void put_named(std::string_view folder, std::string_view name, std::string_view description) {
    put(folder, std::string(name) + ".md",
        "---\nname: " + std::string(name) + "\ndescription: " + std::string(description) + "\n---\nDo.");
  }
  std::vector<FoundProfile> find(bool trusted) {
    return find_profiles(disk, profile_places("/work", environment), trusted);
  }
  const FoundProfile* at(const std::vector<FoundProfile>& found, std::string_view file) {
    for (const auto& each : found) {
      if (each.file == file) return &each;
    }
    return nullptr;
  }
  std::string described(const std::vector<FoundProfile>& found, std::string_view name) {
    const auto profiles = profiles_of(found);
    const auto profile = profiles.find(name);
    return profile ? (*profile)->description : "(none)";
  }

  ManualClock clock;
  MemoryDisk disk{clock};
  MapEnvironment environment{{{"HOME", "/home/me"}}};
};

TEST_F(Discovery, EveryFolderOfTheProjectAndThePersonIsRead) {
  const std::pair<const char*, const char*> folders[] = {{"/work/.deputy/agents", "a1"},
                                                         {"/work/.claude/agents", "a2"},
                                                         {"/work/.opencode/agent", "a3"},
                                                         {"/work/.opencode/agents", "a4"},
                                                         {"/work/.gemini/agents", "a5"},
                                                         {"/home/me/.config/deputy/agents", "b1"},
                                                         {"/home/me/.claude/agents", "b2"},
                                                         {"/home/me/.config/opencode/agent", "b3"},
                                                         {"/home/me/.config/opencode/agents", "b4"},
                                                         {"/home/me/.gemini/agents", "b5"}};
  for (const auto& [folder, name] : folders) put_named(folder, name, "x");
  put("/work/.codex/agents", "a6.toml", "name = \"a6\"\ndeveloper_instructions = \"x\"");
  put("/home/me/.codex/agents", "b6.toml", "name = \"b6\"\ndeveloper_instructions = \"x\"");
  const auto profiles = profiles_of(find(true));
  for (const auto* name : {"a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "b3", "b4", "b5", "b6"})
    EXPECT_TRUE(profiles.find(name)) << name;
}

TEST_F(Discovery, MainDeclaresEveryLoadedProfileAndTheBuiltInOnes) {
  put_named("/home/me/.config/deputy/agents", "mine", "x");
  const auto profiles = profiles_of(find(false));
  std::vector<std::string> names;
  for (const auto* profile : profiles.declared_by(**profiles.find("main"))) names.push_back(profile->name);
  EXPECT_THAT(names, ::testing::ElementsAre("explore", "general", "mine", "planner", "researcher"));
}

TEST_F(Discovery, TheProjectComesBeforeThePersonBeforeTheBuiltInAndOursBeforeOthers) {
  put_named("/home/me/.claude/agents", "explore", "person's, another program's");
  EXPECT_EQ(described(find(true), "explore"), "person's, another program's");
  put_named("/home/me/.config/deputy/agents", "explore", "person's");
  EXPECT_EQ(described(find(true), "explore"), "person's");
  put_named("/work/.claude/agents", "explore", "project's, another program's");
  EXPECT_EQ(described(find(true), "explore"), "project's, another program's");
  put_named("/work/.deputy/agents", "explore", "project's");
  EXPECT_EQ(described(find(true), "explore"), "project's");
}

TEST_F(Discovery, AClashOfNamesIsTold) {
  put_named("/work/.deputy/agents", "twin", "x");
  put_named("/home/me/.claude/agents", "twin", "y");
  const auto found = find(true);
  const auto* other = at(found, "/home/me/.claude/agents/twin.md");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->standing, Standing::shadowed);
  EXPECT_THAT(other->problem, HasSubstr("/work/.deputy/agents/twin.md"));
}

TEST_F(Discovery, AnUntrustedFoldersProfilesAreFoundButNotUsedAndShadowNothing) {
  put_named("/work/.deputy/agents", "explore", "the project's");
  put_named("/work/.deputy/agents", "extra", "the project's");
  const auto found = find(false);
  EXPECT_EQ(at(found, "/work/.deputy/agents/extra.md")->standing, Standing::untrusted);
  EXPECT_THAT(at(found, "/work/.deputy/agents/extra.md")->problem, HasSubstr("deputy agents trust"));
  EXPECT_FALSE(profiles_of(found).find("extra"));
  EXPECT_THAT(described(found, "explore"), Not(HasSubstr("project")));
}

TEST_F(Discovery, ASubagentThatIsNobodyIsWarnedOf) {
  put("/home/me/.config/deputy/agents", "lead.md",
      "---\nsubagents: [explore, helper, reader, '*']\n---\nDo.");
  const auto warnings_of_lead = [this] {
    const auto found = find(true);
    std::vector<std::string> texts;
    for (const auto& warning : at(found, "/home/me/.config/deputy/agents/lead.md")->read.warnings)
      texts.push_back(warning.text);
    return texts;
  };
  EXPECT_THAT(warnings_of_lead(), ::testing::ElementsAre("subagents names helper, which is no agent here",
                                                         "subagents names reader, which is no agent here"));
  put_named("/home/me/.claude/agents", "helper", "x");
  EXPECT_THAT(warnings_of_lead(), ::testing::ElementsAre("subagents names reader, which is no agent here"));
}

TEST_F(Discovery, NobodyTakesTheNamesOfDeputysOwnSessions) {
  for (const auto* name : {"main", "reader", "command"})
    put_named("/home/me/.config/deputy/agents", name, "mine");
  const auto found = find(true);
  for (const auto* name : {"main", "reader", "command"}) EXPECT_NE(described(found, name), "mine");
  EXPECT_EQ(at(found, "/home/me/.config/deputy/agents/main.md")->standing, Standing::broken);
}

TEST_F(Discovery, AFileThatCannotBeReadIsToldAndHoldsUpNoOther) {
  put("/home/me/.config/deputy/agents", "bad.md", "---\nmax_turns: x\n---\n");
  put("/home/me/.config/deputy/agents", "notes.txt", "no profile");
  put_named("/home/me/.config/deputy/agents", "good", "x");
  const auto found = find(true);
  const auto* bad = at(found, "/home/me/.config/deputy/agents/bad.md");
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->standing, Standing::broken);
  EXPECT_THAT(bad->problem, AllOf(HasSubstr("line 2"), HasSubstr("max_turns")));
  EXPECT_TRUE(profiles_of(found).find("good"));
  EXPECT_FALSE(at(found, "/home/me/.config/deputy/agents/notes.txt"));
}

TEST_F(Discovery, ABrokenFileKeepsItsNameAndNoOtherTakesItsPlace) {
  const auto refused = [](const std::vector<FoundProfile>& found) {
    const auto profiles = profiles_of(found);
    const auto general = profiles.find("general");
    return general ? "" : to_text(general.error());
  };
  EXPECT_EQ(refused(find(true)), "") << "control: the built-in one";
  for (const auto* text : {"---\ntools: [Raed]\n---\nDo.", "---\nmax_turns: x\n---\nDo.", "no head"}) {
    put("/work/.deputy/agents", "general.md", text);
    put_named("/home/me/.claude/agents", "general", "wider");
    const auto found = find(true);
    EXPECT_THAT(refused(found), AllOf(HasSubstr("agent 'general' is not declared"),
                                      HasSubstr("its file is broken"), HasSubstr("deputy agents check")));
    EXPECT_EQ(at(found, "/work/.deputy/agents/general.md")->standing, Standing::broken);
    EXPECT_EQ(at(found, "/home/me/.claude/agents/general.md")->standing, Standing::shadowed);
    EXPECT_THAT(at(found, "/home/me/.claude/agents/general.md")->problem, HasSubstr("broken"));
    EXPECT_EQ(described(find(false), "general"), "wider") << "one that is not trusted shadows nothing";
  }
}

TEST_F(Discovery, SoDoesOneThatIsNamedByItsHead) {
  put("/home/me/.config/deputy/agents", "mine.md", "---\nname: general\nmax_turns: x\n---\nDo.");
  EXPECT_FALSE(profiles_of(find(true)).find("general"));
}

TEST_F(Discovery, ABrokenFileBehindOneThatIsUsedTakesNothingFromIt) {
  put_named("/work/.deputy/agents", "general", "narrow");
  put("/home/me/.claude/agents", "general.md", "---\nname: general\ntools: [Raed]\n---\nDo.");
  EXPECT_EQ(described(find(true), "general"), "narrow");
}

TEST_F(Discovery, WhatIsNoAgentHereTakesNoNameAway) {
  put("/work/.gemini/agents", "general.md", "---\nkind: remote\nname: general\n---\n");
  put("/work/.gemini/agents", "explore.md", "---\nkind: remote\n---\n");
  put("/work/.gemini/agents", "researcher.md", "---\n- kind: remote\n  name: a\n---\n");
  put("/work/.opencode/agent", "planner.md", "---\ndisable: true\nsteps: x\n---\nDo.");
  const auto found = find(true);
  for (const auto* name : {"general", "explore", "researcher", "planner"})
    EXPECT_TRUE(profiles_of(found).find(name)) << name;
  for (const auto* name : {"general", "explore", "researcher"})
    EXPECT_EQ(at(found, "/work/.gemini/agents/" + std::string(name) + ".md")->standing, Standing::broken);
  EXPECT_EQ(at(found, "/work/.opencode/agent/planner.md")->standing, Standing::disabled);
}

TEST_F(Discovery, ARemoteAgentIsToldOfByTheNameThatItHas) {
  put("/work/.gemini/agents", "general.md", "---\nkind: remote\nname: far\n---\n");
  const auto found = find(true);
  EXPECT_EQ(at(found, "/work/.gemini/agents/general.md")->read.profile.name, "far");
}

TEST_F(Discovery, NoLinkInAProjectLeadsOutOfIt) {
  put_named("/elsewhere", "secret", "x");
  put_named("/work", "x", "x");
  disk.plant_link("/work/.claude", "/elsewhere");
  disk.plant_link("/work/.deputy/agents/secret.md", "/elsewhere/secret.md");
  EXPECT_FALSE(profiles_of(find(true)).find("secret"));
}

TEST_F(Discovery, ASubfolderIsPartOfTheNameInOpencodeAndOnlyAPlaceInClaudeCode) {
  put("/work/.opencode/agent/team", "lead.md", "---\ndescription: x\n---\nDo.");
  put_named("/work/.claude/agents/team", "nested", "x");
  const auto profiles = profiles_of(find(true));
  EXPECT_TRUE(profiles.find("team/lead"));
  EXPECT_TRUE(profiles.find("nested"));
}

TEST_F(Discovery, WhatLiesInThePersonsHomeIsTheirsAlsoWhereTheyWorkInIt) {
  put_named("/home/me/.claude/agents", "mine", "x");
  const auto found = find_profiles(disk, profile_places("/home/me", environment), false);
  EXPECT_TRUE(profiles_of(found).find("mine"));
}

TEST_F(Discovery, APlaceHoldsSoManyAndNotOneMore) {
  for (std::size_t i = 0; i < kMostProfilesInAPlace; ++i)
    put_named("/home/me/.config/deputy/agents", "agent-" + std::to_string(1000 + i), "x");
  const auto broken = [](const FoundProfile& each) { return each.standing == Standing::broken; };
  EXPECT_EQ(std::ranges::count_if(find(true), broken), 0);
  put_named("/home/me/.config/deputy/agents", "zebra", "x");
  const auto found = find(true);
  EXPECT_EQ(std::ranges::count_if(found, broken), 1);
  EXPECT_FALSE(profiles_of(found).find("zebra"));
}

TEST(FormatOfFile, GoesByWhereItLies) {
  EXPECT_EQ(format_of_file("/a/.claude/agents/x.md"), ProfileFormat::claude);
  EXPECT_EQ(format_of_file("/a/.config/opencode/agent/x.md"), ProfileFormat::opencode);
  EXPECT_EQ(format_of_file("/a/.opencode/agents/x.md"), ProfileFormat::opencode);
  EXPECT_EQ(format_of_file("/a/.gemini/agents/x.md"), ProfileFormat::gemini);
  EXPECT_EQ(format_of_file("/a/x.toml"), ProfileFormat::codex);
  EXPECT_EQ(format_of_file("/a/.deputy/agents/x.md"), ProfileFormat::deputy);
  EXPECT_EQ(format_of_file("/tmp/x.md"), ProfileFormat::deputy);
  EXPECT_EQ(format_of_file("/src/opencode/.gemini/agents/x.md"), ProfileFormat::gemini) << "the nearest";
  EXPECT_EQ(format_of_file("/src/.claude/x/.config/deputy/agents/x.md"), ProfileFormat::deputy);
}

}  // namespace
}  // namespace deputy
