// What the chat's screen costs while 100 children work and the parent speaks: every event and piece of a
// reply is folded in, and the screen is drawn 60 times a second. Prints the share of a core with what it may
// be. Not a test.
#include <fmt/format.h>

#include <ctime>

#include "tui/chat_story.h"
#include "tui/live_region.h"

namespace deputy {
namespace {

constexpr int kChildren = 100;
constexpr int kFramesASecond = 60;
constexpr int kSeconds = 20;
constexpr int kFramesBetweenEvents = 6;  // of one child: ten a second

void measure(TerminalSize size) {
  ChatStory story;
  story.state.size = size;
  story.begin("go");
  for (int child = 0; child < kChildren; ++child) story.child(fmt::format("child{}", child));
  LiveRegion region({.colour = true, .unicode = true});
  std::size_t bytes = 0;
  const std::clock_t before = std::clock();
  for (int frame = 0; frame < kSeconds * kFramesASecond; ++frame) {
    for (int child = frame % kFramesBetweenEvents; child < kChildren; child += kFramesBetweenEvents)
      story.tell_child(fmt::format("child{}", child),
                       CallStarted{"Read", fmt::format("src/part{}/file{}.cc", child, frame)});
    apply_text(story.state, story.root,
               frame % kFramesASecond == 0 ? "the **last** of it.\n\n" : "a `word` ");
    story.pass(std::chrono::microseconds(1'000'000 / kFramesASecond));
    bytes += region.draw(std::exchange(story.state.out, {}), frame_of(story.state), size).size();
  }
  const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  fmt::print(
      "{} children, {} columns, {} frames a second: {:.1f} % of a core (to be under 10 %), {} KB a second to "
      "the terminal\n",
      kChildren, size.columns, kFramesASecond, 100 * cpu / kSeconds, bytes / kSeconds / 1024);
}

}  // namespace
}  // namespace deputy

int main() {
  for (const int columns : {40, 80, 160}) deputy::measure({columns, 50});
}
