#include "app/progress.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {
namespace {

// Lines longer than the screen are cut by the terminal instead of wrapped: a wide character more than was
// counted must not cost a row.
constexpr std::string_view kNoWrap = "\x1b[?7l";
constexpr std::string_view kWrap = "\x1b[?7h";

}  // namespace

Progress::Progress(Parts parts)
    : parts_(parts), view_(parts.style), frames_(parts.loop, [this] { draw(); }) {}

void Progress::on_event(const Event& event, const EventOrigin& origin) {
  if (parts_.form == ProgressForm::none) return;
  view_.apply(event, origin);
  if (parts_.form == ProgressForm::live) {
    if (!is_paused_) frames_.draw_soon();
    return;
  }
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (asked && !parts_.shows_questions && asked->question.kind != QuestionKind::to_parent) return;
  if (const auto line = view_.line_for(event, parts_.detail)) {
    write_line(parts_.redactor.redact(*line));
  }
}

void Progress::write_line(std::string line) {
  if (!line.ends_with('\n')) line += '\n';
  parts_.err.offer(line);
  if (parts_.err.is_behind()) frames_.try_again(parts_.err.taken());
}

void Progress::say(std::string_view line) {
  const bool was_drawn = drawn_ > 0;
  erase();
  write_line(std::string(line));
  if (was_drawn) draw();
}

void Progress::pause() {
  erase();
  frames_.cancel();
  is_paused_ = true;
}

void Progress::go_on() {
  is_paused_ = false;
  if (parts_.form == ProgressForm::live || parts_.err.is_behind()) frames_.draw_soon();
}

void Progress::step_aside() {
  erase();
  frames_.cancel();
}

void Progress::come_back() {
  drawn_ = 0;
  frames_.draw_soon();  // also in lines: what others offer now may stay behind
}

void Progress::finish() {
  if (parts_.err.catch_up()) draw_frame();
  frames_.cancel();
  drawn_ = 0;
  parts_.form = ProgressForm::none;
}

void Progress::draw() {
  if (!parts_.err.catch_up()) return frames_.try_again(parts_.err.taken());
  const bool is_live = parts_.form == ProgressForm::live;
  if (is_live && is_in_background(parts_.err.descriptor())) return frames_.try_again(parts_.err.taken());
  draw_frame();
  if (parts_.err.is_behind()) return frames_.try_again(parts_.err.taken());
  frames_.drawn();
}

void Progress::draw_frame() {
  if (parts_.form != ProgressForm::live || is_paused_) return;
  const auto lines = view_.frame(terminal_size(parts_.err.descriptor()));
  std::string frame(kNoWrap);
  if (drawn_ > 0) frame += fmt::format("\x1b[{}A\r", drawn_);
  for (const auto& line : lines) frame += parts_.redactor.redact(line) + "\x1b[K\n";
  // A smaller screen may have room for fewer lines than the last time.
  if (lines.size() < drawn_) frame += "\x1b[J";
  frame += kWrap;
  parts_.err.offer(frame);
  drawn_ = lines.size();
}

void Progress::erase() {
  if (drawn_ == 0) return;
  parts_.err.offer(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  drawn_ = 0;
}

}  // namespace deputy
