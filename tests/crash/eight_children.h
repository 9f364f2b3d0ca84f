// A scripted tree with an effect in every child that is counted outside: eight children that read, take a
// note, run a command and report. The store may be any; a process in it is a Life.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "support/sim_world.h"

namespace deputy {

struct EightChildren {
  explicit EightChildren(int count = 8) : children(count) {
    std::string tasks;
    std::string sessions;
    for (int i = 0; i < count; ++i) {
      tasks += fmt::format(R"({}{{"label":"c{}","prompt":"do c{}"}})", i ? "," : "", i, i);
      sessions +=
          fmt::format(R"(,{{"match":{{"label":"c{0}"}},"replies":[)"
                      R"({{"calls":[{{"name":"Read","arguments":{{"file_path":"a.txt"}}}}]}},)"
                      R"({{"calls":[{{"name":"Note","arguments":{{"content":"note of c{0}"}}}},)"
                      R"({{"name":"Bash","arguments":{{"command":"count c{0}"}}}}],"first_byte_ms":5}},)"
                      R"({{"text":"c{0} is done"}}]}})",
                      i);
    }
    world.script =
        fmt::format(R"({{"v":1,"log":"calls","sessions":[{{"match":{{"agent":"main"}},"replies":[)"
                    R"({{"calls":[{{"name":"Delegate","arguments":{{"concurrency":4,"tasks":[{}]}}}}]}},)"
                    R"({{"text":"all are done"}}]}}{}]}})",
                    tasks, sessions);
    world.write_file("a.txt", "hello\n");
  }

  std::unique_ptr<Life> life(Life::Options options) {
    options.profiles.push_back({.name = "reader",
                                .instructions = "work",
                                .tools = {"Read", "Note", "Bash"},
                                .workspace = WorkspaceMode::shared});
    auto made = std::make_unique<Life>(world, std::move(options));
    made->processes().define(
        "bash",
        [this](const ProcessSpec& spec) {
          effects[spec.argv.back()] += 1;
          return ProcessResult{.output = "counted"};
        },
        std::chrono::milliseconds(3));
    return made;
  }

  // What every undisturbed or resumed run comes to. Returns how many outcomes were reported unknown.
  int expect_whole(const Store& store, const Result<Report>& report, const std::string& where) const {
    EXPECT_TRUE(report) << where << ": " << (report ? "" : to_text(report.error()));
    if (!report) return 0;
    EXPECT_EQ(report->status, Status::completed) << where;
    EXPECT_EQ(report->body, "all are done") << where;
    EXPECT_EQ(told_to_parent(store), expected_by_parent()) << where;
    const auto sessions = store.sessions({.most = 1000});
    EXPECT_TRUE(sessions) << where;
    EXPECT_EQ(sessions->size(), static_cast<std::size_t>(children) + 1)
        << where << ": a child was made twice";
    int unknown = 0;
    for (const Session& session : *sessions) {
      EXPECT_TRUE(is_terminal(session.state)) << where << ": " << session.label;
      if (!session.parent) continue;
      EXPECT_EQ(session.result, session.label + " is done") << where;
      unknown += expect_effect_once(store, session, where);
    }
    return unknown;
  }

  SimWorld world;
  int children;
  std::map<std::string, int> effects;  // by command

 private:
  std::string expected_by_parent() const {
    std::string expected = fmt::format("## Subagents complete: {0}/{0}\n", children);
    for (int i = 0; i < children; ++i) expected += fmt::format("### [c{0}] ✓\nc{0} is done\n", i);
    return expected;
  }
  // The report of the batch, without what each child used and ran: how often it was stopped is in that.
  static std::string told_to_parent(const Store& store) {
    std::string told;
    const auto roots = store.sessions({.roots_only = true});
    const auto events = store.events_of_session(roots->front().id);
    for (const Event& event : *events) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (!finished) continue;
      for (const auto line : split(finished->result.content, '\n'))
        if (!line.empty() && !line.starts_with("**")) told += std::string(line) + "\n";
    }
    return told;
  }
  int expect_effect_once(const Store& store, const Session& session, const std::string& where) const {
    const auto events = store.events_of_session(session.id);
    EXPECT_TRUE(events) << where;
    std::string told;
    int ends = 0;
    std::set<std::string> notes;
    for (const Event& event : *events) {
      ends += std::holds_alternative<RunEnded>(event.fact);
      if (const auto* note = std::get_if<NoteTaken>(&event.fact))
        EXPECT_TRUE(notes.insert(note->content).second) << where << ": a note was taken twice";
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.step == 1 && event.call == 1) told = finished->result.content;
    }
    EXPECT_EQ(ends, 1) << where << ": " << session.label;
    EXPECT_EQ(notes.size(), 1u) << where << ": " << session.label;
    const auto counted = effects.find("count " + session.label);
    const int times = counted == effects.end() ? 0 : counted->second;
    const bool is_unknown = told.contains("outcome unknown");
    EXPECT_LE(times, 1) << where << ": the effect of " << session.label << " was repeated";
    if (told.contains("had begun: it was not run")) {
      EXPECT_EQ(times, 0) << where << ": " << session.label;
    } else if (!is_unknown) {
      EXPECT_EQ(times, 1) << where << ": " << session.label << " was told: " << told;
    }
    return is_unknown ? 1 : 0;
  }
};

}  // namespace deputy
