// What the chat's screen costs while 100 children stream, a command of each prints, and the parent speaks:
// every event, every piece of a reply and every line is folded in, and the screen is drawn as often as it
// ever is. Prints, at three widths, its share of a core and how many frames a second its slowest frame leaves
// room for, each with what it is to be; fails where one is not. By CPU time, so that others on the machine
// are not counted.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "app/frames.h"
#include "app/output_lines.h"
#include "bench.h"
#include "tui/chat_story.h"
#include "tui/live_region.h"

namespace deputy {
namespace {

constexpr int kChildren = 100;
constexpr int kFrames = 1250;            // 20 seconds
constexpr int kFramesBetweenEvents = 6;  // of one child: ten a second
constexpr int kFramesAParagraph = 60;
constexpr double kMostOfACore = 10;  // percent
constexpr double kLeastFramesASecond = 30;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string_view met(bool is_met) { return is_met ? "met" : "not met"; }

// All that comes in between two frames.
void tell(ChatStory& story, std::vector<OutputLines>& printing, int frame) {
  for (int child = 0; child < kChildren; ++child) {
    const std::string label = fmt::format("child{}", child);
    apply_text(story.state, SessionId("sess_" + label), "a `word` ");
    if (frame % kFramesBetweenEvents != child % kFramesBetweenEvents) continue;
    story.tell_child(label, CallStarted{"Read", fmt::format("src/part{}/file{}.cc", child, frame)});
    apply_output(story.state, SessionId("sess_" + label),
                 printing[static_cast<std::size_t>(child)].take(
                     fmt::format("[{}/{}] compiling src/part{}/file{}.cc\n", frame, kFrames, child, frame),
                     story.redactor));
  }
  const bool ends = frame % kFramesAParagraph == 0;
  apply_text(story.state, story.root, ends ? "the **last** of it.\n\n" : "a `word` ");
  story.pass(kBetweenFrames);
}

// Whether it keeps to its limits.
bool measure(TerminalSize size) {
  ChatStory story;
  story.state.size = size;
  story.begin("go");
  for (int child = 0; child < kChildren; ++child) story.child(fmt::format("child{}", child));
  std::vector<OutputLines> printing(kChildren);
  LiveRegion region({.colour = true, .unicode = true});
  std::size_t bytes = 0;
  double used = 0;
  double slowest = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    const double before = cpu_seconds();
    tell(story, printing, frame);
    bytes += region.draw(std::exchange(story.state.out, {}), frame_of(story.state), size).size();
    const double took = cpu_seconds() - before;
    used += took;
    slowest = std::max(slowest, took);
  }
  const double seconds = kFrames * std::chrono::duration<double>(kBetweenFrames).count();
  const double share = 100 * used / seconds;
  const double frames = 1 / std::max(slowest, 1e-6);
  const bool is_cheap = share < kMostOfACore;
  const bool is_quick = frames >= kLeastFramesASecond;
  fmt::print(
      "{} children, {} columns, {:.1f} frames a second: {:.1f} % of a core (to be under {} %: {}); the "
      "slowest frame took {:.1f} ms, room for {:.0f} a second (to be {} or more: {}); {:.0f} KB a second to "
      "the terminal\n",
      kChildren, size.columns, kFrames / seconds, share, kMostOfACore, met(is_cheap), slowest * 1e3, frames,
      kLeastFramesASecond, met(is_quick), static_cast<double>(bytes) / seconds / 1024);
  return is_cheap && is_quick;
}

}  // namespace

int run_bench(const std::string& /*folder*/) {
  int status = 0;
  for (const int columns : {40, 80, 160})
    if (!measure({columns, 50})) status = 1;
  return status;
}

}  // namespace deputy
