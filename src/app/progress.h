// Progress on stderr while a tree runs: on a terminal a region that is drawn again in place, seldom enough
// for any terminal; elsewhere a plain line an event. Lines said meanwhile go above the region, and what is
// typed meanwhile is not shown in it. What it leaves behind is an ordinary screen, also when it is destroyed
// early, and after a crash. A terminal that takes nothing holds nobody up: it is shown how things stand once
// it takes something again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/crash_restore.h"
#include "app/frames.h"
#include "app/looks.h"
#include "app/progress_view.h"
#include "app/streams.h"
#include "base/redaction.h"
#include "tui/live_region.h"
#include "tui/raw_terminal.h"

namespace deputy {

class Progress {
 public:
  struct Parts {
    Loop& loop;
    OutStream& err;
    const Redactor& redactor;
    ProgressForm form = ProgressForm::lines;
    Style style;
    ProgressView::Detail detail = ProgressView::Detail::usual;
    bool shows_questions = true;   // false where those to the person are put to one anyway
    bool approves_all = false;     // by --yes: of what is approved as it is asked the call itself tells
    std::optional<int> keys = {};  // the terminal that somebody may type on meanwhile
  };
  explicit Progress(Parts parts);
  Progress(const Progress&) = delete;

  void on_event(const Event& event, const EventOrigin& origin);
  // Of before this process: it stands in the tree, and is not told again.
  void on_past_event(const Event& event, const EventOrigin& origin);
  // The model sums up what the session holds: so many tokens.
  void on_summary_asked(const SessionId& session, std::int64_t tokens);
  // The window has another size.
  void resize() { draw_soon(); }
  // A line for the person, above the region.
  void say(std::string_view line);
  // While a person is asked, the screen below belongs to the question.
  void pause();
  void go_on();
  // The terminal is left to the shell, as it was before.
  void step_aside();
  // It is this program's again, and others may have written on it since: what stands there is left alone.
  void come_back();
  // The last frame stays on the screen.
  void finish();

 private:
  void write_line(std::string line);
  void draw_soon();
  void draw();
  void draw_frame();
  void take_down();
  void hide_keys();
  void show_keys();

  Parts parts_;
  ProgressView view_;
  LiveRegion region_;
  bool is_drawn_ = false;
  std::vector<Line> said_;  // and not yet drawn
  bool is_paused_ = false;
  bool are_keys_hidden_ = false;
  std::optional<RawTerminal> terminal_;  // once its keys were hidden
  std::optional<CrashRestore> crash_restore_;
  Frames frames_;
};

}  // namespace deputy
