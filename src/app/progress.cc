#include "app/progress.h"

#include <algorithm>
#include <utility>

namespace deputy {

Progress::Progress(Parts parts)
    : parts_(parts), view_(parts.style), region_(parts.style), frames_(parts.loop, [this] { draw(); }) {}

void Progress::on_past_event(const Event& event, const EventOrigin& origin) {
  view_.apply(event, origin);
  draw_soon();
}

void Progress::on_event(const Event& event, const EventOrigin& origin) {
  if (parts_.form == ProgressForm::none) return;
  view_.apply(event, origin);
  if (parts_.form == ProgressForm::live) return draw_soon();
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (asked && !parts_.shows_questions && asked->question.kind != QuestionKind::to_parent) return;
  const bool is_approved = asked && parts_.approves_all && asked->question.kind == QuestionKind::permission;
  if (is_approved && parts_.detail == ProgressView::Detail::usual) return;
  if (const auto line = view_.line_for(event, parts_.detail)) {
    write_line(parts_.redactor.redact(*line));
  }
}

void Progress::on_summary_asked(const SessionId& session, std::int64_t tokens) {
  if (parts_.form == ProgressForm::none) return;
  const auto line = view_.apply_summary_asked(session, tokens);
  if (parts_.form == ProgressForm::live) return draw_soon();
  if (line) write_line(*line);
}

void Progress::write_line(std::string line) {
  if (!line.ends_with('\n')) line += '\n';
  parts_.err.offer(line);
  if (parts_.err.is_behind()) frames_.try_again(parts_.err.taken());
}

void Progress::say(std::string_view line) {
  if (parts_.form != ProgressForm::live || is_paused_) return write_line(std::string(line));
  for (Line& each : lines_of_text(line)) said_.push_back(std::move(each));
  draw();
}

void Progress::pause() {
  take_down();
  frames_.cancel();
  is_paused_ = true;
}

void Progress::go_on() {
  is_paused_ = false;
  if (parts_.form == ProgressForm::live || parts_.err.is_behind()) frames_.draw_soon();
}

void Progress::step_aside() {
  take_down();
  // In the middle of a frame a shell would find a terminal that wraps no line.
  if (parts_.err.is_behind()) parts_.err.catch_up_in_a_moment();
  frames_.cancel();
}

void Progress::come_back() {
  region_.forget();
  is_drawn_ = are_keys_hidden_ = false;
  frames_.draw_soon();  // also in lines: what others offer now may stay behind
}

void Progress::finish() {
  if (parts_.err.catch_up()) draw_frame();
  frames_.cancel();
  show_keys();
  parts_.form = ProgressForm::none;
}

void Progress::draw_soon() {
  if (parts_.form == ProgressForm::live && !is_paused_) frames_.draw_soon();
}

void Progress::draw() {
  if (!parts_.err.catch_up()) return frames_.try_again(parts_.err.taken());
  const bool is_live = parts_.form == ProgressForm::live;
  if (is_live && is_in_background(parts_.err.descriptor())) return frames_.try_again(parts_.err.taken());
  if (is_live && !is_paused_) hide_keys();
  draw_frame();
  if (parts_.err.is_behind()) return frames_.try_again(parts_.err.taken());
  frames_.drawn();
}

void Progress::draw_frame() {
  if (parts_.form != ProgressForm::live || is_paused_) return;
  const TerminalSize size = terminal_size(parts_.err.descriptor());
  Frame frame{.lines = view_.frame(size)};
  for (Line& line : frame.lines) {
    for (TextSpan& span : line) span.text = parts_.redactor.redact(span.text);
  }
  // The cursor is below them, where others go on once this is over.
  frame.cursor_row = frame.lines.size();
  frame.lines.emplace_back();
  const auto columns = static_cast<std::size_t>(std::max(1, size.columns - 1));
  parts_.err.offer(region_.draw(wrapped_all(std::exchange(said_, {}), columns), frame, size));
  is_drawn_ = true;
}

// What was still to be said stays in its place.
void Progress::take_down() {
  std::string bytes;
  if (std::exchange(is_drawn_, false)) bytes = region_.erase(terminal_size(parts_.err.descriptor()));
  for (const Line& line : std::exchange(said_, {})) bytes += to_terminal(line, parts_.style) + "\n";
  parts_.err.offer(bytes);
  show_keys();
}

// Also after a while in the background, of whose end nobody is told.
void Progress::hide_keys() {
  if (are_keys_hidden_ || !parts_.keys || is_in_background(*parts_.keys)) return;
  if (terminal_) {
    terminal_->enter();
  } else if (auto taken =
                 RawTerminal::take(*parts_.keys, parts_.err.descriptor(), RawTerminal::Keys::unseen)) {
    terminal_.emplace(*std::move(taken));
    crash_restore_.emplace(*terminal_);
  }
  are_keys_hidden_ = terminal_.has_value();
}

// Also where come_back() took them for shown and no frame has followed it yet.
void Progress::show_keys() {
  are_keys_hidden_ = false;
  if (terminal_) terminal_->show_keys();
}

}  // namespace deputy
