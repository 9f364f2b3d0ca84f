// A question of a child that works beside its parent goes to the parent; the person sees it in every surface.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/progress.h"
#include "app/session_text.h"
#include "support/dialogue_world.h"
#include "tui/chat_frame.h"
#include "tui/plain_surface.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kQuestion = "Which one, the red one?";

// What the events of such a run come to, up to the moment at which the child has asked.
class ABackgroundQuestion : public testing::Test {
 protected:
  ABackgroundQuestion()
      : world_([](const Scene& scene) -> Act {
          if (scene.depth > 0 && scene.step == 0)
            return {.calls = {call_of("ask_parent", fmt::format(R"({{"question":"{}"}})", kQuestion))}};
          if (scene.depth > 0) return {.text = "done as told"};
          if (scene.step == 0)
            return {
                .calls = {call_of("task", R"({"agent":"explore","prompt":"p","run_in_background":true})")}};
          if (scene.is_told("question_id: "))
            return {
                .calls = {call_of("answer_subagent", fmt::format(R"({{"question_id":"{}","answer":"yes"}})",
                                                                 scene.value_of("question_id: ")))}};
          return {.text = "over"};
        }) {
    bool has_asked = false;
    world_.on_event = [this, has_asked](Runtime& runtime, const Event& event) mutable {
      if (has_asked) return;
      has_asked = std::holds_alternative<QuestionAsked>(event.fact);
      const Session session = (*runtime.store().session(event.run.session)).value_or(Session{});
      events_.emplace_back(event,
                           EventOrigin{session.parent.value_or(SessionId{}), session.label, session.agent});
      if (has_asked) sessions_ = world_.sessions();
    };
    EXPECT_TRUE(world_.run());
    EXPECT_TRUE(std::holds_alternative<QuestionAsked>(events_.back().first.fact));
  }

  DialogueWorld world_;
  std::vector<std::pair<Event, EventOrigin>> events_;
  std::vector<Session> sessions_;  // as they stood then
};

TEST_F(ABackgroundQuestion, IsAnEventOfTheStream) {
  const auto lines = to_lines(events_.back().first, events_.back().second);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(to_json_text(lines.front()), AllOf(HasSubstr(R"("event":"question")"), HasSubstr(kQuestion),
                                                 HasSubstr(R"("label":"explore")")));
}

TEST_F(ABackgroundQuestion, StandsInTheChatsTreeOfChildren) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  state.size = {80, 24};
  for (const auto& [event, origin] : events_) apply(state, event, origin);
  std::string screen;
  for (const auto& line : frame_of(state).lines) screen += plain_text(line) + "\n";
  EXPECT_THAT(screen, AllOf(HasSubstr("[explore]"), HasSubstr(kQuestion)));
}

TEST_F(ABackgroundQuestion, IsALineOfThePlainChat) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  state.tells_children = true;
  for (const auto& [event, origin] : events_) apply(state, event, origin);
  EXPECT_THAT(PlainSurface(Style{}).draw(state.out, state),
              HasSubstr(fmt::format("[explore] asks: {}\n", kQuestion)));
}

TEST_F(ABackgroundQuestion, StandsInTheProgressOfACommand) {
  ProgressView view(Style{});
  for (const auto& [event, origin] : events_) view.apply(event, origin);
  EXPECT_THAT(plain_text(view.frame({}).back()),
              AllOf(HasSubstr("[explore]"), HasSubstr(fmt::format("asks: {}", kQuestion))));
}

TEST_F(ABackgroundQuestion, IsALineOfAPlainCommandWhoeverIsThere) {
  for (const bool is_person_there : {true, false}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    OutStream err(ends[1]);
    const Redactor redactor;
    SimLoop loop(1);
    Progress progress({.loop = loop,
                       .err = err,
                       .redactor = redactor,
                       .form = ProgressForm::lines,
                       .style = {},
                       .shows_questions = !is_person_there});
    for (const auto& [event, origin] : events_) progress.on_event(event, origin);
    ::close(ends[1]);
    std::string printed(4096, '\0');
    printed.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], printed.data(), printed.size()))));
    ::close(ends[0]);
    EXPECT_THAT(printed, HasSubstr(fmt::format("[explore] asks: {}\n", kQuestion)));
  }
}

TEST_F(ABackgroundQuestion, StandsInTheRegistry) {
  const auto child = std::ranges::find(sessions_, "explore", &Session::label);
  ASSERT_NE(child, sessions_.end());
  EXPECT_THAT(details_text(*child, sessions_, {}, ""),
              AllOf(HasSubstr("waits for   " + sessions_.front().id.value),
                    HasSubstr(fmt::format("asks: {}", kQuestion))));
}

}  // namespace
}  // namespace deputy
