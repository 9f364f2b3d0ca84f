#include "app/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "tui/live_region.h"
#include "tui/raw_terminal.h"

namespace deputy {
namespace {

// Lines longer than the screen are cut by the terminal instead of wrapped: a wide character more than was
// counted must not cost a row.
constexpr std::string_view kNoWrap = "\x1b[?7l";
constexpr std::string_view kWrap = "\x1b[?7h";

// Of a line with its tones, which take no room.
std::size_t columns_of(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t tone = std::min(line.find('\x1b'), line.size());
    text += line.substr(0, tone);
    line.remove_prefix(std::min(line.find('m', tone), line.size() - 1) + 1);
  }
  return display_width(text);
}

}  // namespace

Progress::Progress(Parts parts)
    : parts_(parts), view_(parts.style), frames_(parts.loop, [this] { draw(); }) {}

void Progress::on_past_event(const Event& event, const EventOrigin& origin) {
  view_.apply(event, origin);
  if (parts_.form == ProgressForm::live && !is_paused_) frames_.draw_soon();
}

void Progress::on_event(const Event& event, const EventOrigin& origin) {
  if (parts_.form == ProgressForm::none) return;
  view_.apply(event, origin);
  if (parts_.form == ProgressForm::live) {
    if (!is_paused_) frames_.draw_soon();
    return;
  }
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
  if (parts_.form == ProgressForm::live) {
    if (!is_paused_) frames_.draw_soon();
  } else if (line) {
    write_line(*line);
  }
}

void Progress::write_line(std::string line) {
  if (!line.ends_with('\n')) line += '\n';
  parts_.err.offer(line);
  if (parts_.err.is_behind()) frames_.try_again(parts_.err.taken());
}

void Progress::say(std::string_view line) {
  const bool was_drawn = !drawn_.empty();
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
  // In the middle of a frame a shell would find a terminal that wraps no line.
  if (parts_.err.is_behind()) parts_.err.catch_up_in_a_moment();
  frames_.cancel();
}

void Progress::come_back() {
  drawn_.clear();
  frames_.draw_soon();  // also in lines: what others offer now may stay behind
}

void Progress::finish() {
  if (parts_.err.catch_up()) draw_frame();
  frames_.cancel();
  drawn_.clear();
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
  const TerminalSize size = terminal_size(parts_.err.descriptor());
  const auto lines = view_.frame(size);
  const std::size_t rows = rows_drawn();
  std::string frame(kNoWrap);
  if (rows > 0) frame += fmt::format("\x1b[{}A\r", rows);
  drawn_.clear();
  for (const auto& line : lines) {
    const std::string shown = parts_.redactor.redact(line);
    frame += kEraseRow;
    frame += shown + "\n";
    drawn_.push_back(std::min(columns_of(shown), static_cast<std::size_t>(size.columns)));
  }
  // A smaller screen may have room for fewer lines than the last time, and have wrapped those.
  if (lines.size() < rows) frame += kEraseFromHere;
  frame += kWrap;
  parts_.err.offer(frame);
}

// As the terminal is now: a window changes at any time.
std::size_t Progress::rows_drawn() const {
  const int columns = terminal_size(parts_.err.descriptor()).columns;
  std::size_t rows = 0;
  for (const std::size_t wide : drawn_) rows += rows_for(wide, columns);
  return rows;
}

void Progress::erase() {
  if (drawn_.empty()) return;
  parts_.err.offer(fmt::format("\x1b[{}A\r{}", rows_drawn(), kEraseFromHere));
  drawn_.clear();
}

}  // namespace deputy
