// Files changed by a run that dies at every journal record and goes on: each change is made exactly once, and
// what the session has read it need not read again.

#include <gtest/gtest.h>

#include "support/sim_world.h"

namespace deputy {
namespace {

// The edit would match again after it was made, and the new file must not be made twice.
constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},
    {"calls":[{"name":"Edit","arguments":{"file_path":"a.txt","old_string":"hello","new_string":"hello, hello"}},
              {"name":"Write","arguments":{"file_path":"new/b.txt","content":"made\n"}},
              {"name":"Edit","arguments":{"file_path":"new/b.txt","old_string":"made","new_string":"made, made","replace_all":true}}]},
    {"text":"Done."}]}]})";

SimWorld new_world() {
  SimWorld world;
  world.script = kScript;
  world.write_file("a.txt", "hello\n");
  return world;
}

std::string file(const SimWorld& world, const std::string& name) {
  const auto files = world.disk.files();
  const auto found = files.find("/work/" + name);
  return found == files.end() ? "(none)" : found->second;
}

void expect_each_change_once(const SimWorld& world, const std::string& where) {
  EXPECT_EQ(file(world, "a.txt"), "hello, hello\n") << where;
  EXPECT_EQ(file(world, "new/b.txt"), "made, made\n") << where;
  int errors = 0;
  for (const Event& event : world.memory->journal) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (finished && finished->result.status == ToolStatus::error) {
      ++errors;
      ADD_FAILURE() << where << ": " << finished->result.content;
    }
  }
  EXPECT_EQ(errors, 0) << where;
}

bool dies_and_resumes(CrashPoint crash) {
  const std::string where =
      "record " + std::to_string(crash.at_record) + (crash.committed ? " kept" : " lost");
  SimWorld world = new_world();
  {
    Life life(world, {.crash = crash});
    const auto report = life.start(life.brief("Say it twice."));
    if (!life.crashed()) return false;
    EXPECT_FALSE(report) << where;
  }
  const auto sessions = world.sessions();
  if (sessions.empty()) return true;  // it died before it was born
  Life life(world, {.seed = 2});
  const auto report = life.resume(sessions.front().id);
  EXPECT_TRUE(report) << where;
  if (report) EXPECT_EQ(report->body, "Done.") << where;
  expect_each_change_once(world, where);
  return true;
}

TEST(Editing, ChangesWhatWasRead) {
  SimWorld world = new_world();
  Life life(world, {});
  const auto report = life.start(life.brief("Say it twice."));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "Done.");
  expect_each_change_once(world, "undisturbed");
}

TEST(Editing, IsMadeOnceWhereverTheProcessDies) {
  int deaths = 0;
  for (int record = 1; record <= 200; ++record) {
    const bool kept = dies_and_resumes({.at_record = record, .committed = true});
    const bool lost = dies_and_resumes({.at_record = record, .committed = false});
    if (!kept && !lost) break;
    deaths += kept + lost;
  }
  EXPECT_GE(deaths, 14) << "an answer and its intent for each of three changes, and more";
  RecordProperty("deaths", deaths);
}

}  // namespace
}  // namespace deputy
