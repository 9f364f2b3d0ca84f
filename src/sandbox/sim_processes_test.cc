#include "async/sim_loop.h"
#include "gtest/gtest.h"
#include "sandbox/processes.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::seconds;

ProcessSpec spec(std::vector<std::string> argv) {
  ProcessSpec made;
  made.argv = std::move(argv);
  return made;
}

class SimulatedProcesses : public testing::Test {
 protected:
  Result<ProcessResult> try_run(ProcessSpec wanted, StopToken stop = {}) {
    return run(loop_, processes_.run(std::move(wanted), std::move(stop)));
  }
  SimLoop loop_{1};
  SimProcesses processes_{loop_};
};

TEST_F(SimulatedProcesses, PlaysTheProgramThatWasDefined) {
  processes_.define("rg", [](const ProcessSpec& wanted) {
    return ProcessResult{.exit_status = 3, .output = wanted.argv.back(), .errors = "e"};
  });
  for (const std::string name : {"rg", "/usr/bin/rg"}) {
    const auto result = try_run(spec({name, "x"}));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->output, "x");
    EXPECT_EQ(result->errors, "e");
    EXPECT_EQ(result->exit_status, 3);
    EXPECT_FALSE(result->cut);
  }
}

TEST_F(SimulatedProcesses, PassesOutputOnBeforeItIsBounded) {
  processes_.define("say", [](const ProcessSpec&) { return ProcessResult{.output = "abc", .errors = "de"}; });
  auto wanted = spec({"say"});
  wanted.max_output = 2;
  std::string seen;
  wanted.on_output = [&](std::string_view part) { seen += part; };
  EXPECT_EQ(try_run(std::move(wanted))->output, "ab");
  EXPECT_EQ(seen, "abcde");
}

TEST_F(SimulatedProcesses, TakesItsTimeOnTheSimulatedClock) {
  processes_.define("slow", [](const ProcessSpec&) { return ProcessResult{.output = "done"}; }, seconds(50));
  EXPECT_EQ(try_run(spec({"slow"}))->output, "done");
  EXPECT_EQ(loop_.clock().now(), TimePoint(seconds(50)));
}

TEST_F(SimulatedProcesses, AnUnknownProgramIsNotFound) {
  EXPECT_EQ(try_run(spec({"rg"})).error().code, ErrorCode::not_found);
  EXPECT_EQ(try_run(spec({})).error().code, ErrorCode::invalid);
}

TEST_F(SimulatedProcesses, AStopEndsIt) {
  int ran = 0;
  processes_.define("slow", [&](const ProcessSpec&) { return ++ran, ProcessResult{}; }, seconds(50));
  StopSource source;
  source.set_deadline(loop_.timers(), TimePoint(seconds(7)));
  EXPECT_EQ(try_run(spec({"slow"}), source.token()).error(), Error::cancelled());
  EXPECT_EQ(loop_.clock().now(), TimePoint(seconds(7)));
  EXPECT_EQ(try_run(spec({"slow"}), source.token()).error(), Error::cancelled());
  EXPECT_EQ(ran, 0);
}

TEST_F(SimulatedProcesses, AFaultKeepsOneFromStarting) {
  int ran = 0;
  processes_.define("count", [&ran](const ProcessSpec&) { return ProcessResult{.exit_status = ran++}; });
  processes_.set_fault([first = true]() mutable -> Result<void> {
    if (!std::exchange(first, false)) return {};
    return fail(ErrorCode::exhausted, "no process is left");
  });
  EXPECT_EQ(try_run(spec({"count"})).error().message, "no process is left");
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(try_run(spec({"count"})).has_value());
  EXPECT_EQ(ran, 1);
}

TEST_F(SimulatedProcesses, ATimeLimitEndsIt) {
  processes_.define("slow", [](const ProcessSpec&) { return ProcessResult{.output = "done"}; }, seconds(50));
  auto wanted = spec({"slow"});
  wanted.time_limit = seconds(10);
  const auto result = try_run(std::move(wanted));
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->exit_status, 128 + 15);
  EXPECT_EQ(loop_.clock().now(), TimePoint(seconds(10)));
}

TEST_F(SimulatedProcesses, OutputIsCutAtTheBound) {
  processes_.define("print",
                    [](const ProcessSpec& wanted) { return ProcessResult{.output = wanted.argv[1]}; });
  auto wanted = spec({"print", "12345"});
  wanted.max_output = 5;
  EXPECT_FALSE(try_run(wanted)->cut);
  wanted.max_output = 4;
  EXPECT_TRUE(try_run(wanted)->cut);
  EXPECT_EQ(try_run(wanted)->output, "1234");
}

}  // namespace
}  // namespace deputy
