// The limits of a tree on the command line, and the registry of what runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <sstream>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class LimitsTest : public DeputyTest {
 protected:
  static constexpr std::string_view kScript = R"({"v":1,"sessions":[
    {"match":{"label":"slow"},"replies":[{"first_byte_ms":86400000,"text":"late"}]},
    {"match":{"label":"dear"},"replies":[{"text":"done","usage":{"input":1000,"output":10,"cost_micros":4500}}]},
    {"match":{"label":"broken"},"replies":[{"error":"boom","usage":{"input":1000,"output":0,"cost_micros":2000}}]},
    {"replies":[{"text":"done"},{"text":"done"}]}]})";
  // The only child of the tree that was started last.
  std::string child_of_newest() {
    const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    const std::string root = string_or(rows->as_array().front().as_object(), "id", "");
    const auto tree = parse_json_object(deputy({"sessions", "tree", root, "--output", "json"}).out);
    return string_or(array_at(*tree, "children")->front().as_object(), "id", "");
  }
};

TEST_F(LimitsTest, ABudgetThatNoRequestFitsIsRefusedBeforeAnythingStarts) {
  for (const auto* limit : {"--max-tokens", "--max-steps"}) {
    const auto ran = deputy({"run", "--model", script(kScript), limit, "0", "hello"});
    EXPECT_EQ(ran.status, 5) << limit;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("budget exhausted"), HasSubstr("raise the limit")));
  }
  EXPECT_EQ(deputy({"run", "--model", script(kScript), "--max-tokens", "1000000", "hello"}).status, 0);
  EXPECT_EQ(deputy({"run", "--model", script(kScript), "--max-cost", "0", "hello"}).status, 0)
      << "what costs nothing fits";
}

TEST_F(LimitsTest, AResumedTreeKeepsItsLimitsUnlessThePersonRaisesThem) {
  const auto leave_behind = [this] {
    auto running = start(
        {"delegate", "--max-delegations", "1", "--concurrency", "1", "--output", "stream-json", "--model",
         script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":86400000,"text":"late"}]}]})"), "--task",
         "a=p", "--task", "b=p"});
    std::string line;
    do {
      line = running->read_until("\"started\"");
    } while (!line.contains("\"a\""));
    running->send(SIGKILL);
    running->wait();
    script(R"({"v":1,"sessions":[{"replies":[{"text":"done"}]}]})");
  };
  leave_behind();
  const auto kept = deputy({"resume"});
  EXPECT_EQ(kept.status, 3) << kept.err;
  EXPECT_THAT(kept.out, AllOf(HasSubstr("1/2"), HasSubstr("1 of 1 delegations")));
  leave_behind();
  const auto raised = deputy({"resume", "--max-delegations", "2"});
  EXPECT_EQ(raised.status, 0) << raised.err;
  EXPECT_THAT(raised.out, HasSubstr("2/2"));
}

TEST_F(LimitsTest, TheTreeShowsWhatEachCostAndWhatItAllCameTo) {
  const auto ran = deputy(
      {"delegate", "--model", script(kScript), "--task", "dear=p", "--task", "broken=p", "--output", "json"});
  ASSERT_EQ(ran.status, 3) << ran.err;
  const std::string id = string_or(*parse_json_object(ran.out), "session_id", "");
  EXPECT_THAT(deputy({"sessions", "tree", id}).out,
              AllOf(HasSubstr("$0.0045"), HasSubstr("$0.0020"), HasSubstr("$0.0000 (all $0.0065)")))
      << "what failed has cost something too";
  const auto tree = parse_json_object(deputy({"sessions", "tree", id, "--output", "json"}).out);
  ASSERT_TRUE(tree);
  EXPECT_EQ(integer_or(*object_at(*tree, "usage_with_children"), "cost_micros", 0), 6500);
}

TEST_F(LimitsTest, WhatAResumedChildCostsIsCountedOnce) {
  const auto ran = deputy({"task", "explore", "look", "--model", script(R"({"v":1,"sessions":[{"replies":[
                {"text":"done","usage":{"input":1000,"output":10,"cost_micros":4500}},
                {"text":"more","usage":{"input":1000,"output":10,"cost_micros":300}}]}]})"),
                           "--output", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto root = [this] {
    const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    return string_or(rows->as_array().front().as_object(), "id", "");
  }();
  const auto tree = [this, &root] {
    return *parse_json_object(deputy({"sessions", "tree", root, "--output", "json"}).out);
  };
  const std::string child = string_or(array_at(tree(), "children")->front().as_object(), "id", "");
  EXPECT_THAT(deputy({"sessions", "tree", root}).out, HasSubstr("(all $0.0045)"));
  ASSERT_EQ(deputy({"task", "explore", "go on", "--resume", child}).status, 0);
  EXPECT_THAT(deputy({"sessions", "tree", root}).out,
              AllOf(HasSubstr("$0.0048"), HasSubstr("(all $0.0048)")));
}

TEST_F(LimitsTest, WhatEndedAtALimitGoesOnUnderARaisedOneAsTheRefusalSays) {
  const auto ran =
      deputy({"task", "explore", "look", "--max-steps", "1", "--model", script(R"({"v":1,"sessions":[
    {"replies":[{"calls":[{"name":"Note","arguments":{"content":"a finding"}}]},{"text":"all of it"},
                {"text":"all of it"}]}]})")});
  ASSERT_EQ(ran.status, 3) << ran.err;
  const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
  const std::string root = string_or(rows->as_array().front().as_object(), "id", "");
  const auto tree = parse_json_object(deputy({"sessions", "tree", root, "--output", "json"}).out);
  const std::string child = string_or(array_at(*tree, "children")->front().as_object(), "id", "");

  const auto resumed = deputy({"resume", root, "--max-steps", "50"});
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("has ended (partial)"),
                                 HasSubstr("`deputy task explore 'go on' --resume " + child + "`")));
  EXPECT_EQ(deputy({"resume", root}).status, 3) << "its result again";
  const auto refused = deputy({"task", "explore", "go on", "--resume", child});
  EXPECT_EQ(refused.status, 5) << refused.out;
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("of the 1 that the whole tree may have 1 are used"),
                                 HasSubstr("; raise --max-steps\n")));
  const auto further = deputy({"task", "explore", "go on", "--resume", child, "--max-steps", "50"});
  EXPECT_EQ(further.status, 0) << further.err;
  EXPECT_THAT(further.out, HasSubstr("all of it"));
}

TEST_F(LimitsTest, ADelegationThatIsUsedUpIsNamedToWhoResumes) {
  const auto ran = deputy({"task", "explore", "look", "--max-delegations", "1", "--model", script(kScript)});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string child = child_of_newest();
  const auto refused = deputy({"task", "explore", "more", "--resume", child, "--output", "json"});
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("1 of 1 delegations"), HasSubstr("; raise --max-delegations\n")));
  const auto document = parse_json_object(refused.out);
  ASSERT_TRUE(document) << refused.out;
  EXPECT_EQ(string_or(*document, "status", ""), "refused");
  EXPECT_EQ(string_or(*object_at(*document, "error"), "hint", ""), "raise --max-delegations");
  EXPECT_EQ(deputy({"task", "explore", "more", "--resume", child, "--max-delegations", "2"}).status, 0);
}

TEST_F(LimitsTest, WhatWasSaidBeforeNeedsRoomInWhatIsLeftForWhoResumes) {
  const std::string model = script(R"({"v":1,"sessions":[{"replies":[
    {"text":"done","usage":{"input":50000,"output":10}},{"text":"more","usage":{"input":50100,"output":10}}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "look", "--max-tokens", "70000", "--model", model}).status, 0);
  const std::string child = child_of_newest();
  const auto before = deputy({"sessions", "show", child, "--output", "json"}).out;
  const auto refused = deputy({"task", "explore", "go on", "--resume", child});
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("budget exhausted"), HasSubstr("raise --max-tokens")));
  EXPECT_EQ(deputy({"sessions", "show", child, "--output", "json"}).out, before) << "nothing is recorded";
  EXPECT_EQ(deputy({"task", "explore", "go on", "--resume", child, "--max-tokens", "300000"}).status, 0);
}

TEST_F(LimitsTest, WhoIsLetInToGoOnHasItsFirstStepThoughNoneIsLeftForALastOne) {
  const std::string model = script(R"({"v":1,"sessions":[{"replies":[{"text":"one"},{"text":"two"}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "look", "--max-steps", "1", "--model", model}).status, 0);
  const auto by_steps =
      deputy({"task", "explore", "go on", "--resume", child_of_newest(), "--max-steps", "2"});
  EXPECT_EQ(by_steps.status, 0) << by_steps.err;
  EXPECT_THAT(by_steps.out, HasSubstr("two"));

  script(R"({"v":1,"sessions":[{"replies":[
    {"text":"one","usage":{"input":50000,"output":10}},{"text":"two","usage":{"input":50100,"output":10}}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "look", "--model", model}).status, 0);
  const auto by_tokens =
      deputy({"task", "explore", "go on", "--resume", child_of_newest(), "--max-tokens", "130000"});
  EXPECT_EQ(by_tokens.status, 0) << by_tokens.err;
  EXPECT_THAT(by_tokens.out, HasSubstr("two"));
}

TEST_F(LimitsTest, WhatItIsToGoOnWithNeedsRoomToo) {
  const std::string model = script(R"({"v":1,"sessions":[{"replies":[{"text":"one"},{"text":"two"}]}]})");
  std::string prompt;
  while (prompt.size() < 400'000) prompt += "word ";
  const auto expect_refused = [&](const std::string& agent, const std::string& id) {
    const auto before = deputy({"sessions", "show", id, "--output", "json"}).out;
    const auto go_on = [&](std::string limit) {
      return deputy(
          Start{.words = {"task", agent, "--resume", id, "--max-tokens", std::move(limit)}, .input = prompt});
    };
    const auto refused = go_on("50000");
    EXPECT_EQ(refused.status, 5) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("budget exhausted"), HasSubstr("raise --max-tokens")));
    EXPECT_EQ(deputy({"sessions", "show", id, "--output", "json"}).out, before) << "nothing is recorded";
    const auto further = go_on("1000000");
    EXPECT_EQ(further.status, 0) << further.err;
  };
  ASSERT_EQ(deputy({"task", "explore", "look", "--model", model}).status, 0);
  expect_refused("explore", child_of_newest());
  const auto ran = deputy({"run", "look", "--model", model, "--output", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  expect_refused("main", string_or(*parse_json_object(ran.out), "session_id", ""));
}

TEST_F(LimitsTest, LimitsUnderWhichNothingRunsAreRefusedToWhoResumes) {
  const std::string model = script(R"({"v":1,"sessions":[{"replies":[{"text":"one"},{"text":"two"}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "look", "--model", model}).status, 0);
  const std::string child = child_of_newest();
  const auto before = deputy({"sessions", "show", child, "--output", "json"}).out;
  for (const std::string limit : {"--max-live", "--max-children", "--max-depth", "--max-delegations"}) {
    const auto refused = deputy({"task", "explore", "go on", "--resume", child, limit, "0"});
    EXPECT_EQ(refused.status, 5) << limit << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("raise " + limit));
  }
  EXPECT_EQ(deputy({"sessions", "show", child, "--output", "json"}).out, before) << "nothing is recorded";
  EXPECT_EQ(deputy({"task", "explore", "go on", "--resume", child, "--max-live", "2"}).status, 0);
}

TEST_F(LimitsTest, SoTheyAreToWhoGoesOnWithATreeThatWasLeft) {
  const std::string model = script(kScript);
  auto running = start({"delegate", "--model", model, "--output", "stream-json", "--task", "slow=p"});
  running->read_until("\"slow\"");
  running->send(SIGKILL);
  EXPECT_EQ(running->wait().status, 128 + SIGKILL);
  const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
  ASSERT_TRUE(rows && rows->is_array() && !rows->as_array().empty());
  const std::string root = string_or(rows->as_array().front().as_object(), "id", "");
  for (const std::string limit : {"--max-live", "--max-children", "--max-depth"}) {
    const auto refused = deputy({"resume", root, limit, "0"});
    EXPECT_EQ(refused.status, 5) << limit << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("raise " + limit));
  }
}

TEST_F(LimitsTest, ATreeThatWasLeftIsNotEndedByALimitThatLeavesNoRoomToGoOn) {
  const std::string model = script(kScript);
  auto running = start({"delegate", "--model", model, "--output", "stream-json", "--task", "slow=p"});
  running->read_until("\"slow\"");
  running->send(SIGKILL);
  EXPECT_EQ(running->wait().status, 128 + SIGKILL);
  const std::string child = child_of_newest();
  // The request that nobody heard of again is the one step.
  for (const auto& [limit, value] : {std::pair("--max-steps", "1"), std::pair("--max-tokens", "10")}) {
    const auto refused = deputy({"resume", limit, value});
    EXPECT_EQ(refused.status, 5) << limit << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("budget exhausted"), HasSubstr(std::string("raise ") + limit)));
    EXPECT_THAT(deputy({"sessions", "show", child}).out, HasSubstr("interrupted")) << limit;
  }
  script(R"({"v":1,"sessions":[{"replies":[{"text":"in time"}]}]})");
  const auto resumed = deputy({"resume", "--max-steps", "50"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("in time"));
}

TEST_F(LimitsTest, AChildThatAnAgentWasLeftWithDoesNotWaitForAPlaceThatNeverComes) {
  const std::string model = script(R"({"v":1,"sessions":[
    {"match":{"agent":"explore"},"replies":[{"first_byte_ms":86400000,"text":"late"}]},
    {"replies":[{"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}}]},{"text":"over"}]}]})");
  auto running = start({"run", "go", "--yes", "--model", model, "--output", "stream-json"});
  running->read_until("\"started\"");
  running->read_until("\"started\"");  // the child's
  running->send(SIGKILL);
  EXPECT_EQ(running->wait().status, 128 + SIGKILL);
  const auto refused = deputy({"resume", "--max-children", "0"});
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("raise --max-children"));
  script(R"({"v":1,"sessions":[{"match":{"agent":"explore"},"replies":[{"text":"in time"}]},
    {"replies":[{"text":"never"},{"text":"over"}]}]})");
  const auto resumed = deputy({"resume", "--max-children", "1", "--yes"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("over"));
}

// The command that stands in backquotes, with a time in it, as words.
std::vector<std::string> command_named_in(const std::string& text, const std::string& time) {
  const auto begin = text.find("`deputy task ");
  const auto end = text.find('`', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::istringstream line(text.substr(begin, end - begin));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word == "TIME" ? time : word);
  words.erase(words.begin());
  for (auto at = words.begin(); at != words.end(); ++at) {  // the prompt is two words in quotes
    if (*at != "'go") continue;
    *at = "go on";
    words.erase(at + 1);
    break;
  }
  return words;
}

TEST_F(LimitsTest, WhatTheTimeOfTheTreeEndedGoesOnByTheCommandThatIsNamed) {
  using Words = std::vector<std::string>;
  for (const auto& [words, resumed] :
       {std::pair(Words{"run", "look"}, "main"), std::pair(Words{"task", "explore", "look"}, "explore")}) {
    const std::string model =
        script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":86400000,"text":"late"}]}]})");
    Start slow{.words = words, .environment = {{"DEPUTY_TIMEOUT", "1s"}}};
    slow.words.insert(slow.words.end(), {"--model", model});
    const auto ran = deputy(slow);
    ASSERT_EQ(ran.status, 3) << ran.err;
    script(R"({"v":1,"sessions":[{"replies":[{"text":"all of it"},{"text":"all of it"}]}]})");
    auto named = command_named_in(ran.err, "1h");
    ASSERT_EQ(named.size(), 7U) << ran.err;
    EXPECT_EQ(named[1], resumed);

    const auto without_time = deputy(Words(named.begin(), named.end() - 2));
    EXPECT_EQ(without_time.status, 5) << without_time.out;
    EXPECT_EQ(without_time.out, "");
    EXPECT_THAT(without_time.err, AllOf(HasSubstr("time exhausted"), HasSubstr("--timeout TIME")));
    const auto further = deputy(named);
    EXPECT_EQ(further.status, 0) << further.err;
    EXPECT_THAT(further.out, HasSubstr("all of it"));
  }
}

TEST_F(LimitsTest, WhatGoesOnHasTheTimeThatThePersonGivesIt) {
  const std::string model = script(R"({"v":1,"sessions":[{"replies":[
    {"text":"one"},{"text":"two"},{"text":"three"},{"text":"four"}]}]})");
  const auto newest = [this] {
    const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    return string_or(rows->as_array().front().as_object(), "id", "");
  };
  const auto deadline_of = [this](const std::string& id) {
    return integer_at(*parse_json_object(deputy({"sessions", "show", id, "--output", "json"}).out),
                      "deadline_us");
  };
  const auto expect_within = [](std::optional<std::int64_t> deadline, std::chrono::seconds time) {
    ASSERT_TRUE(deadline);
    const auto left =
        std::chrono::microseconds(*deadline) - std::chrono::system_clock::now().time_since_epoch();
    EXPECT_LE(left, time);
    EXPECT_GT(left, time / 2);
  };
  ASSERT_EQ(deputy({"task", "explore", "look", "--timeout", "none", "--model", model}).status, 0);
  const auto tree = parse_json_object(deputy({"sessions", "tree", newest(), "--output", "json"}).out);
  const std::string child = string_or(array_at(*tree, "children")->front().as_object(), "id", "");
  EXPECT_FALSE(deadline_of(child));
  ASSERT_EQ(deputy({"task", "explore", "go on", "--resume", child, "--timeout", "900s"}).status, 0);
  expect_within(deadline_of(child), std::chrono::seconds(900));
  ASSERT_EQ(deputy({"task", "explore", "go on", "--resume", child}).status, 0);
  EXPECT_FALSE(deadline_of(child)) << "that was for one run";

  ASSERT_EQ(deputy({"run", "hello", "--model", model}).status, 0);
  const std::string root = newest();
  ASSERT_NE(root, string_or(*tree, "id", ""));
  ASSERT_EQ(deputy({"task", "main", "go on", "--resume", root, "--timeout", "900s"}).status, 0);
  expect_within(deadline_of(root), std::chrono::seconds(900));
  ASSERT_EQ(deputy({"task", "main", "go on", "--resume", root}).status, 0);
  EXPECT_FALSE(deadline_of(root));
}

TEST_F(LimitsTest, ACommandIsNotGoneOnWithAndItsResultStays) {
  const auto ran = deputy(
      {"delegate", "--model", script(kScript), "--task", "broken=p", "--task", "dear=p", "--output", "json"});
  ASSERT_EQ(ran.status, 3) << ran.err;
  const std::string id = string_or(*parse_json_object(ran.out), "session_id", "");
  const auto before = deputy({"sessions", "show", id});
  for (const auto* agent : {"command", "explore"}) {
    const auto refused = deputy({"task", agent, "more", "--resume", id});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("is a command of yours"), HasSubstr("sessions tree " + id)));
  }
  EXPECT_EQ(deputy({"sessions", "show", id}).out, before.out);
}

TEST_F(LimitsTest, AsManyFilesMayBeOpenAsTheMachineAllows) {
  auto running =
      start({.words = {"delegate", "--model", script(kScript), "--output", "stream-json", "--task", "slow=p"},
             .through = {"/bin/sh", "-c", R"(ulimit -S -n 64; exec "$0" "$@")"}});
  running->read_until("\"started\"");
  std::istringstream limits(contents(fmt::format("/proc/{}/limits", running->pid())));
  std::string line, word, soft, hard;
  while (std::getline(limits, line) && !line.starts_with("Max open files")) {
  }
  std::istringstream(line) >> word >> word >> word >> soft >> hard;
  EXPECT_EQ(soft, hard) << line;
  EXPECT_NE(soft, "64") << line;
}

TEST_F(LimitsTest, WhatRunsIsSeenFromAnotherProcess) {
  auto running = start({"delegate", "--model", script(kScript), "--output", "stream-json", "--timeout", "1h",
                        "--task", "slow=p"});
  std::string line;
  do {
    line = running->read_until("\"started\"");
  } while (!line.contains("\"slow\""));
  const auto ran = deputy({"sessions", "ls", "--live", "--output", "json"});
  const auto rows = parse_json(ran.out);
  ASSERT_TRUE(rows && rows->is_array()) << ran.out;
  ASSERT_EQ(rows->as_array().size(), 2u);
  const auto& child = rows->as_array().back().as_object();
  EXPECT_EQ(integer_or(child, "depth", 0), 1);
  EXPECT_EQ(string_or(child, "state", ""), "running");
  EXPECT_EQ(array_at(child, "path")->size(), 2u);
  EXPECT_FALSE(string_or(child, "started_at", "").empty());
  const std::string deadline = string_or(rows->as_array().front().as_object(), "deadline", "");
  EXPECT_NE(deadline, "");
  EXPECT_EQ(string_or(child, "deadline", ""), deadline) << "a reader has none, but its tree has";
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out,
              AllOf(ContainsRegex("^ID +PATH +DEPTH +STATE +STARTED +DEADLINE +IDLE +PROMPT\n"),
                    ContainsRegex("\nsess_[0-9]+_[a-z0-9]{6} +command/reader \\[slow\\] +1 +running "
                                  "+[0-9-]{10} [0-9:]{8} +[0-9-]{10} [0-9:]{8} +[0-9]+m?s +p\n")));
  running->send(SIGINT);
  EXPECT_EQ(running->wait().status, 130);
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "");
}

TEST_F(LimitsTest, WhatWaitsForAPlaceIsSeenFromAnotherProcess) {
  auto running = start({"delegate", "--model", script(kScript), "--output", "stream-json", "--max-children",
                        "1", "--task", "slow=p", "--task", "slow=q"});
  running->read_until("for a place to run");
  const auto rows = parse_json(deputy({"sessions", "ls", "--live", "--output", "json"}).out);
  ASSERT_TRUE(rows && rows->is_array());
  ASSERT_EQ(rows->as_array().size(), 3u);
  std::vector<std::string> states;
  for (const auto& row : rows->as_array()) states.push_back(string_or(row.as_object(), "state", ""));
  EXPECT_THAT(states, UnorderedElementsAre("waiting", "running", "waiting"))
      << "the root waits for its children";
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out,
              ContainsRegex("command/reader \\[slow\\] +1 +waiting +- +none"));
  running->send(SIGINT);
  EXPECT_EQ(running->wait().status, 130);
}

}  // namespace
}  // namespace deputy
