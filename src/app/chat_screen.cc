#include "app/chat_screen.h"

#include <termios.h>
#include <unistd.h>

#include <utility>

#include "tui/chat_frame.h"

namespace deputy {
namespace {

constexpr auto kTick = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<ChatScreen>> ChatScreen::open(Program& program, ChatState& state) {
  std::unique_ptr<ChatScreen> screen(new ChatScreen(program, state));
  state.size = terminal_size(program.out.descriptor());
  state.dialog.is_ascii = !program.looks.out.unicode;
  if (program.looks.progress == ProgressForm::live) {
    TRY(auto terminal, RawTerminal::take(STDIN_FILENO, STDOUT_FILENO));
    screen->terminal_.emplace(std::move(terminal));
    screen->crash_restore_.emplace(*screen->terminal_);
    program.out.offer(RawTerminal::kMarkPastes);
  } else {
    screen->plain_.emplace(program.looks.out);
    state.tells_children = true;
  }
  return screen;
}

ChatScreen::~ChatScreen() {
  if (later_) program_.loop.timers().cancel(*later_);
}

// Time is on the screen only while something runs, or a question waits until its keys count.
void ChatScreen::draw_again_later() {
  if (later_) program_.loop.timers().cancel(*std::exchange(later_, std::nullopt));
  const bool wants_keys = is_open(state_.dialog) && !is_ready(state_.dialog, state_.now);
  if (!state_.is_running && !wants_keys) return;
  const TimePoint when = wants_keys ? *state_.dialog.shown_at + kTooSoon : state_.now + kTick;
  later_ = program_.loop.timers().call_at(when, [this] {
    later_.reset();
    draw();
  });
}

void ChatScreen::draw() {
  state_.size = terminal_size(program_.out.descriptor());  // the signal may come only after this
  state_.now = program_.loop.clock().now();
  state_.wall = program_.loop.clock().wall();
  if (program_.out.catch_up()) program_.out.offer(next_bytes());
  if (program_.out.is_behind()) {
    hold_back(state_);
    return frames_.try_again(program_.out.taken());
  }
  was_taken(state_);
  frames_.drawn();
  draw_again_later();
}

std::string ChatScreen::next_bytes() {
  std::vector<Line> finished = take_out(state_);
  // What models say comes redacted as a whole (tui/chat.h); here it is for errors and the like.
  for (auto& line : finished) {
    for (auto& span : line) span.text = program_.redactor.redact(span.text);
  }
  finished = wrapped_all(finished, columns_of(state_));  // what came in one piece, or for a wider screen
  if (!plain_) return region_.draw(finished, frame_of(state_), state_.size);
  std::string text = plain_->draw(finished, state_);
  // What was typed before a question cannot be meant as its answer.
  if (plain_->has_asked()) ::tcflush(STDIN_FILENO, TCIFLUSH);
  return text;
}

void ChatScreen::resize() {
  state_.size = terminal_size(program_.out.descriptor());
  draw_soon();
}

void ChatScreen::clear() {
  if (!terminal_ || program_.out.is_behind()) return;
  program_.out.offer(region_.clear(state_.size));
  draw_soon();
}

bool ChatScreen::step_aside() {
  if (!terminal_) return true;  // it is in its ordinary mode
  if (program_.out.is_behind()) return false;
  program_.out.offer(region_.erase(state_.size));
  if (program_.out.is_behind()) {
    draw_soon();
    return false;
  }
  terminal_->restore();
  return true;
}

void ChatScreen::leave_keys() {
  reads_keys_ = false;
  if (terminal_) terminal_->leave_keys();
  if (plain_) plain_->leave();
}

void ChatScreen::come_back() {
  if (terminal_) {
    reads_keys_ ? terminal_->enter() : terminal_->leave_keys();
    program_.out.offer(RawTerminal::kMarkPastes);
    region_.forget();
    hide(state_.dialog);
    // What was typed meanwhile was meant for who had the terminal.
    if (is_open(state_.dialog)) ::tcflush(STDIN_FILENO, TCIFLUSH);
  } else {
    plain_->start_over();
  }
  resize();
}

void ChatScreen::finish() {
  program_.out.write({});  // nothing runs any more that could not wait for the terminal
  draw();
  if (terminal_) {
    program_.out.write(region_.erase(state_.size));
    terminal_->restore();
  } else {
    program_.out.write("\n");
  }
}

}  // namespace deputy
