// A task that goes on in a process of its own, one that goes on after its end, and what another process can
// say to a session that runs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "base/json.h"
#include "base/text.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kDay = "86400000";

// [explore] works for as long as WAIT says.
constexpr std::string_view kWorking = R"({"v":1,"sessions":[{"match":{"agent":"explore"},"replies":[
  {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
  {"first_byte_ms":WAIT,"text":"found it"},{"text":"and the rest"}]}]})";

constexpr std::string_view kAsking = R"({"v":1,"sessions":[{"match":{"agent":"explore"},"replies":[
  {"calls":[{"name":"ask_parent","arguments":{"question":"Which one?"}}]},
  {"expect":{"contains":"the red one"},"text":"done as told"}]}]})";

class BackgroundTest : public DeputyTest {
 protected:
  std::string working_model(std::string_view wait) const {
    std::string text(kWorking);
    text.replace(text.find("WAIT"), 4, wait);
    return script(text);
  }
  // Yields its id.
  std::string in_background(std::string_view wait) {
    const auto ran = deputy({"task", "explore", "look", "--background", "--model", working_model(wait)});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("sessions tail sess_"));
    return std::string(trimmed(ran.out));
  }
  // The id of the child that says so on the program's event stream.
  static std::string session_of(const std::string& line) {
    const auto event = parse_json_object(line);
    return event ? string_or(*event, "session_id", "") : "";
  }
};

TEST_F(BackgroundTest, ATaskGoesOnAfterTheCommandReturned) {
  const std::string id = in_background("0");
  EXPECT_THAT(id, AllOf(StartsWith("sess_"), Not(HasSubstr("\n"))));
  EXPECT_THAT(deputy({"sessions", "tail", id}).out, HasSubstr("complete"));  // returns at its end
  EXPECT_THAT(deputy({"sessions", "show", id}).out, AllOf(HasSubstr("completed"), HasSubstr("found it")));
  EXPECT_THAT(deputy({"sessions", "ls"}).out, HasSubstr(id)) << "the id that was given out";
  EXPECT_THAT(deputy({"sessions", "ls", "--output", "json"}).out, HasSubstr("\"children\":[\"" + id + "\"]"));
}

TEST_F(BackgroundTest, TheIdIsJsonWhereJsonIsAskedFor) {
  const auto ran =
      deputy({"task", "explore", "look", "--background", "--output", "json", "--model", working_model("0")});
  const auto document = parse_json_object(ran.out);
  ASSERT_TRUE(document) << ran.out;
  EXPECT_EQ(string_or(*document, "status", ""), "running");
  deputy({"sessions", "tail", string_or(*document, "session_id", "")});
}

TEST_F(BackgroundTest, TheIdIsAnEventWhereAStreamIsAskedFor) {
  const auto ran = deputy(
      {"task", "explore", "look", "--background", "--output", "stream-json", "--model", working_model("0")});
  const auto line = parse_json_object(ran.out);
  ASSERT_TRUE(line) << ran.out;
  EXPECT_EQ(string_or(*line, "event", ""), "result");
  EXPECT_EQ(string_or(*line, "status", ""), "running");
  deputy({"sessions", "tail", string_or(*line, "session_id", "")});
}

TEST_F(BackgroundTest, AnIdThatCannotBeWrittenIsAFailureThatNamesIt) {
  for (const std::string form : {"text", "json"}) {
    const auto ran = deputy(Start{
        .words = {"task", "explore", "look", "--background", "--output", form, "--model", working_model("0")},
        .through = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"}});
    EXPECT_EQ(ran.status, 1) << form;
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr("cannot write the output: No space left"), HasSubstr("sessions tail sess_")))
        << form;
    deputy({"sessions", "tail", "newest"});
  }
}

TEST_F(BackgroundTest, AMistakeIsToldAsInTheForeground) {
  const auto unknown = deputy({"task", "nobody", "look", "--background", "--model", working_model("0")});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("agent 'nobody' is not declared"));
  EXPECT_THAT(deputy({"task", "explor", "look"}).err, HasSubstr("did you mean explore? declared: "));
  const auto refused = deputy(
      {"task", "explore", "look", "--background", "--max-delegations", "0", "--model", working_model("0")});
  EXPECT_EQ(refused.status, 5) << refused.err;
}

TEST_F(BackgroundTest, ItIsCancelledByItsId) {
  const std::string id = in_background(kDay);
  const auto cancelled = deputy({"sessions", "cancel", id});
  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr(id + " cancelled"));
  EXPECT_THAT(deputy({"sessions", "tail", id}).out, HasSubstr("cancelled"));
  EXPECT_THAT(deputy({"sessions", "notes", id}).out, HasSubstr("half way"));
  EXPECT_THAT(deputy({"sessions", "cancel", id}).out, HasSubstr("had ended already"));  // twice is harmless
  EXPECT_EQ(deputy({"sessions", "nudge", id, "more"}).status, 1);
  EXPECT_THAT(deputy({"sessions", "answer", id, "yes"}).err, HasSubstr("has ended (cancelled)"));
}

TEST_F(BackgroundTest, AnEndedSessionGoesOnWithAllItKnew) {
  const auto first =
      deputy({"task", "explore", "look", "--model", working_model("0"), "--output", "stream-json"});
  ASSERT_EQ(first.status, 0) << first.err;
  std::string id;
  for (const auto line : lines_of(first.out)) {
    if (line.contains("\"agent\":\"explore\"")) id = session_of(std::string(line));
  }
  const auto further = deputy({"task", "explore", "and then?", "--resume", id});
  EXPECT_EQ(further.status, 0) << further.err;
  EXPECT_THAT(further.out, HasSubstr("and the rest"));
  EXPECT_THAT(
      deputy({"sessions", "transcript", id}).out,
      AllOf(HasSubstr("look"), HasSubstr("found it"), HasSubstr("and then?"), HasSubstr("and the rest")));

  EXPECT_THAT(deputy({"task", "planner", "more", "--resume", id}).err,
              AllOf(HasSubstr("is of agent explore, not planner"),
                    HasSubstr("`deputy task explore 'go on' --resume " + id + "`")));
  EXPECT_EQ(deputy({"task", "explore", "more", "--resume", "sess_1_none"}).status, 2);
}

TEST_F(BackgroundTest, AGrandchildIsItsParentsAffairAndThePersonIsToldWhomToAsk) {
  write(work() / ".deputy/agents/lead.md", "---\nname: lead\nsubagents: [explore]\n---\nlead\n");
  ASSERT_EQ(deputy({"agents", "trust"}).status, 0);
  const auto ran = deputy(
      {"task", "lead", "look", "--yes", "--output", "stream-json", "--model", script(R"({"v":1,"sessions":[
    {"match":{"agent":"lead"},"replies":[{"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"p"}}]},{"text":"seen"}]},
    {"replies":[{"text":"found"}]}]})")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::map<std::string, std::string> id;
  for (const auto line : lines_of(ran.out)) {
    for (const std::string agent : {"lead", "explore"}) {
      if (line.contains(fmt::format(R"("agent":"{}")", agent))) id[agent] = session_of(std::string(line));
    }
  }
  const auto refused = deputy({"task", "explore", "more", "--resume", id["explore"]});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("was started by an agent, " + id["lead"]),
                                 HasSubstr("`deputy task lead 'go on' --resume " + id["lead"] + "`")));
}

TEST_F(BackgroundTest, OneThatRunsIsNotGoneOnWith) {
  const std::string id = in_background(kDay);
  const auto refused = deputy({"task", "explore", "more", "--resume", id});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("has not ended"), HasSubstr("sessions nudge")));
  EXPECT_EQ(deputy({"sessions", "cancel", id}).status, 0);
}

TEST_F(BackgroundTest, AnotherProcessNudgesAndAnswers) {
  auto running =
      start_on_terminal({"task", "explore", "look", "--output", "stream-json", "--model", script(kAsking)});
  const std::string so_far = running->read_until("\"event\":\"question\"");
  const std::string id = session_of(std::string(lines_of(so_far).back()));
  ASSERT_THAT(id, StartsWith("sess_"));
  EXPECT_THAT(deputy({"sessions", "tree", id}).out, HasSubstr("waiting for"));
  EXPECT_THAT(deputy({"sessions", "nudge", id, "be brief"}).out, HasSubstr(id + " nudged"));
  EXPECT_EQ(deputy({"sessions", "answer", id, "  "}).status, 1);
  EXPECT_THAT(deputy({"sessions", "answer", id, "the red one"}).out, HasSubstr(id + " answered"));
  const auto ended = running->wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(deputy({"sessions", "transcript", id}).out,
              AllOf(HasSubstr("be brief"), HasSubstr("the red one"), HasSubstr("done as told")));
}

TEST_F(BackgroundTest, AsksWhoeverSentItThereAndWaitsForTheAnswer) {
  const auto sent = deputy({"task", "explore", "look", "--background", "--model", script(kAsking)});
  ASSERT_EQ(sent.status, 0) << sent.err;
  const std::string id = sent.out.substr(0, sent.out.find('\n'));
  auto tail = start({"sessions", "tail", id});
  tail->read_until("asks: ");
  const std::string how = "sessions answer " + id + " TEXT";
  EXPECT_THAT(sent.err, HasSubstr(how));
  EXPECT_THAT(deputy({"sessions", "show", id}).err, AllOf(HasSubstr("Which one?"), HasSubstr(how)));
  EXPECT_THAT(deputy({"sessions", "answer", id, "the red one"}).out, HasSubstr(id + " answered"));
  EXPECT_THAT(tail->wait().err, HasSubstr(how));
  EXPECT_THAT(deputy({"sessions", "transcript", id}).out,
              AllOf(HasSubstr("the red one"), HasSubstr("done as told")));
  EXPECT_EQ(deputy({"sessions", "show", id}).err, "") << "it asks nothing any more";
}

TEST_F(BackgroundTest, APermissionIsGivenByYesAloneAndEveryListSaysSo) {
  const auto sent =
      deputy({"task", "general", "write", "--background", "--model", script(R"({"v":1,"sessions":[
    {"match":{"agent":"general"},"replies":[
      {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"written"}]}]})")});
  ASSERT_EQ(sent.status, 0) << sent.err;
  const std::string id(trimmed(sent.out));
  auto tail = start({"sessions", "tail", id});
  tail->read_until("asks: ");
  const std::string approve = "sessions answer " + id + " yes`";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"sessions", "ls", "--live"},
                                                {"sessions", "tree", id},
                                                {"sessions", "show", id}})
    EXPECT_THAT(deputy(words).err, AllOf(HasSubstr(approve), HasSubstr("'no, REASON'"))) << words[1];
  for (const auto* unclear : {"yes please", "maybe", "nope"}) {
    const auto ran = deputy({"sessions", "answer", id, unclear});
    EXPECT_EQ(ran.status, 2) << unclear;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("the answer is yes, or no with a reason"), HasSubstr(approve)));
  }
  EXPECT_THAT(deputy({"sessions", "answer", id, "yes"}).out, HasSubstr(id + " answered"));
  EXPECT_THAT(tail->wait().err, HasSubstr(approve));
  EXPECT_THAT(deputy({"sessions", "transcript", id}).out,
              AllOf(HasSubstr("written"), Not(HasSubstr("declined"))));
}

}  // namespace
}  // namespace deputy
