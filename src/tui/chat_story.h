// For tests: a chat state and what happens to it, told in a few words.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tui/chat.h"
#include "tui/chat_frame.h"

namespace deputy {

struct ChatStory {
  ChatStory() {
    state.model = {"scripted/test", 100'000};
    pass(std::chrono::seconds(1));
  }

  void pass(Duration by) {
    state.now += by;
    state.wall += std::chrono::duration_cast<std::chrono::microseconds>(by);
  }
  Intents tell(const SessionId& session, const EventOrigin& origin, Fact fact, int call = -1) {
    return apply(state,
                 {.seq = ++seq,
                  .at = state.wall,
                  .tree = root,
                  .run = {session, 1},
                  .step = step,
                  .call = call,
                  .fact = std::move(fact)},
                 origin);
  }
  Intents tell_root(Fact fact, int call = -1) {
    return tell(root, {{}, "main", "main"}, std::move(fact), call);
  }
  Intents tell_child(const std::string& label, Fact fact, const std::string& parent = "") {
    return tell(SessionId("sess_" + label),
                {parent.empty() ? root : SessionId("sess_" + parent), label, "reader"}, std::move(fact));
  }

  void begin(std::string prompt) {
    tell_root(RunStarted{});
    tell_root(InputGiven{Source::person, std::move(prompt)});
  }
  void reply(std::string text, std::vector<Call> calls = {}, Usage usage = {}) {
    Reply reply;
    reply.message = {.role = Role::assistant, .text = std::move(text), .calls = std::move(calls)};
    reply.usage = usage;
    tell_root(ReplyReceived{std::move(reply)});
  }
  void finish_call(int index, ToolStatus status, std::string content) {
    tell_root(CallFinished{{"", status, std::move(content)}}, index);
  }
  void child(const std::string& label, const std::string& parent = "") {
    tell_child(label, RunStarted{}, parent);
    last_child = label;
  }
  // By a call of the root.
  void start_child(const std::string& tool, int call, const std::string& label) {
    tell_root(CallStarted{tool, label}, call);
    Session session;
    session.delegation = DelegationKey{{{root, 1}, step, call}, 0};
    tell_child(label, SessionCreated{session});
    child(label);
  }
  void call_of_child(std::string tool, std::string shown) {
    tell_child(last_child, CallStarted{std::move(tool), std::move(shown)});
  }
  Intents ask(std::string label, std::string text, std::vector<std::string> suggestions,
              QuestionKind kind = QuestionKind::permission) {
    Question question{.id = fmt::format("q{}", ++questions),
                      .kind = kind,
                      .asker = SessionId("sess_" + label),
                      .label = label,
                      .agent = "reader",
                      .text = std::move(text),
                      .suggestions = std::move(suggestions)};
    return tell_child(label, QuestionAsked{std::move(question)});
  }
  void answer_last() {
    tell_root(QuestionAnswered{fmt::format("q{}", questions), {AnswerKind::approved, ""}});
  }

  // What has left for the scrollback since the last time.
  std::string take_out() {
    std::string text;
    for (const auto& line : std::exchange(state.out, {})) text += plain_text(line) + "\n";
    return text;
  }
  std::string screen(int columns, int rows = 24) {
    state.size = {columns, rows};
    std::string text;
    for (const auto& line : frame_of(state).lines) text += plain_text(line) + "\n";
    return text;
  }

  Redactor redactor;
  ChatState state{.redactor = redactor};
  SessionId root{"sess_root"};
  std::uint64_t seq = 0;
  int step = 0;
  int questions = 0;
  std::string last_child;
};

}  // namespace deputy
