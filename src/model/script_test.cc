#include "model/script.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::HasSubstr;

std::string mistake_in(std::string_view text) {
  const auto script = parse_script(text);
  return script ? "none" : to_text(script.error());
}

std::string with_reply(std::string_view reply) {
  return R"({"v":1,"sessions":[{"replies":[)" + std::string(reply) + "]}]}";
}

TEST(Script, ReadsEveryField) {
  const auto script = parse_script(R"({"v":1,"log":"calls.jsonl","sessions":[
    {"match":{"label":"scan","agent":"reader","depth":1},"replies":[
      {"expect":{"contains":"ready"},"text":"on it","first_byte_ms":250,
       "calls":[{"name":"Read","arguments":{"file_path":"a.cc"}},{"name":"Grep","arguments":"{half","id":"mine"},{"name":"List"}],
       "usage":{"input":10,"output":2,"cache_read":4,"cache_write":1}},
      {"error":{"kind":"context_exhausted","message":"full"}}]}]})");
  ASSERT_TRUE(script) << to_text(script.error());
  EXPECT_EQ(script->log, "calls.jsonl");
  ASSERT_EQ(script->sessions.size(), 1U);
  const ScriptedSession& session = script->sessions.front();
  EXPECT_EQ(session.label, "scan");
  EXPECT_EQ(session.agent, "reader");
  EXPECT_EQ(session.depth, 1);
  ASSERT_EQ(session.replies.size(), 2U);
  const ScriptedReply& reply = session.replies[0];
  EXPECT_EQ(reply.expected, "ready");
  EXPECT_EQ(reply.text, "on it");
  EXPECT_EQ(reply.first_byte, std::chrono::milliseconds(250));
  EXPECT_EQ(reply.calls,
            (std::vector<Call>{
                {"", "Read", R"({"file_path":"a.cc"})"}, {"mine", "Grep", "{half"}, {"", "List", "{}"}}));
  ASSERT_TRUE(reply.usage);
  EXPECT_EQ(*reply.usage, (Usage{10, 2, 4, 1, std::nullopt}));
  ASSERT_TRUE(session.replies[1].error);
  EXPECT_EQ(session.replies[1].error->stop, ReplyStop::context_exhausted);
  EXPECT_EQ(session.replies[1].error->message, "full");
}

TEST(Script, NamesAnUnknownKeyItsPlaceAndTheNearestKnownOne) {
  EXPECT_EQ(mistake_in(R"({"v":1,"sesions":[]})"),
            "the script has an unknown key \"sesions\" at its top (did you mean \"sessions\"? known here: v, "
            "sessions, log)");
  EXPECT_THAT(mistake_in(with_reply(R"({"txt":"hi"})")),
              HasSubstr("unknown key \"txt\" at sessions[0].replies[0]"));
  EXPECT_THAT(mistake_in(with_reply(R"({"txt":"hi"})")), HasSubstr("did you mean \"text\"?"));
  EXPECT_THAT(mistake_in(with_reply(R"({},{"calls":[{"name":"a"},{"nam":"b"}]})")),
              HasSubstr("\"nam\" at sessions[0].replies[1].calls[1]"));
  EXPECT_THAT(mistake_in(with_reply(R"({"expect":{"contain":"x"}})")),
              HasSubstr("at sessions[0].replies[0].expect"));
  EXPECT_THAT(mistake_in(with_reply(R"({"usage":{"inputs":1}})")), HasSubstr("did you mean \"input\"?"));
  EXPECT_THAT(mistake_in(R"({"v":1,"sessions":[{"match":{"depht":1}}]})"),
              HasSubstr("did you mean \"depth\"?"));
  EXPECT_THAT(mistake_in(with_reply(R"({"error":{"kinds":"x"}})")), HasSubstr("did you mean \"kind\"?"));
}

TEST(Script, SaysWhatItWantedWhereTheTypeIsWrong) {
  EXPECT_THAT(mistake_in("[]"), HasSubstr("an object at its top, found an array"));
  EXPECT_THAT(mistake_in(R"({"v":1,"sessions":{}})"), HasSubstr("an array at sessions, found an object"));
  EXPECT_THAT(mistake_in(with_reply(R"({"text":5})")),
              HasSubstr("a string at sessions[0].replies[0].text, found a number"));
  EXPECT_THAT(mistake_in(with_reply(R"({"first_byte_ms":-1})")),
              HasSubstr("sessions[0].replies[0].first_byte_ms"));
  EXPECT_THAT(mistake_in(with_reply(R"({"usage":{"input":1.5}})")), HasSubstr("a whole number"));
  EXPECT_THAT(
      mistake_in(with_reply(R"({"calls":[{"name":"a","arguments":[1]}]})")),
      HasSubstr("an object or a string at sessions[0].replies[0].calls[0].arguments, found an array"));
  EXPECT_THAT(mistake_in(with_reply(R"({"calls":[{"arguments":{}}]})")), HasSubstr("the name of a tool"));
  EXPECT_THAT(mistake_in(with_reply(R"({"error":7})")), HasSubstr("a string or an object"));
  EXPECT_THAT(mistake_in(with_reply(R"({"error":{"kind":"refuse"}})")),
              HasSubstr("did you mean \"refused\"?"));
  EXPECT_THAT(mistake_in("{"), HasSubstr("not valid JSON"));
}

TEST(Script, InsistsOnAVersionAndOnSessions) {
  EXPECT_THAT(mistake_in(R"({"sessions":[{}]})"), HasSubstr("does not say its version"));
  EXPECT_THAT(mistake_in(R"({"v":1})"), HasSubstr("no sessions"));
  const auto newer = parse_script(R"({"v":2,"sessions":[{}]})");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::too_new);
}

TEST(Script, AnErrorMayBeJustAStringOrJustAKind) {
  const auto script = parse_script(
      with_reply(R"({"error":"boom"},{"error":{"kind":"no_key"}},{"error":{"kind":"stalled"}})"));
  ASSERT_TRUE(script);
  const auto& replies = script->sessions.front().replies;
  EXPECT_EQ(replies[0].error->stop, ReplyStop::failed);
  EXPECT_EQ(replies[0].error->message, "boom");
  EXPECT_EQ(replies[1].error->stop, ReplyStop::no_key);
  EXPECT_FALSE(replies[1].error->message.empty());
  EXPECT_EQ(replies[2].error->stop, ReplyStop::stalled);
}

TEST(Script, TheFirstSessionThatFitsInAllItsKeysIsChosen) {
  const auto script = parse_script(R"({"v":1,"sessions":[
    {"match":{"label":"a","depth":2}},{"match":{"label":"a"}},{"match":{"agent":"main","depth":0}},{"match":{}}]})");
  ASSERT_TRUE(script);
  EXPECT_EQ(session_for(*script, "a", "reader", 2), 0U);
  EXPECT_EQ(session_for(*script, "a", "reader", 1), 1U);
  EXPECT_EQ(session_for(*script, "", "main", 0), 2U);
  EXPECT_EQ(session_for(*script, "b", "main", 1), 3U);
  const auto narrow = parse_script(R"({"v":1,"sessions":[{"match":{"label":"a"}}]})");
  EXPECT_EQ(session_for(*narrow, "ab", "", 0), std::nullopt);
}

}  // namespace
}  // namespace deputy
