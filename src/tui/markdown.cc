#include "tui/markdown.h"

#include <fmt/format.h>
#include <md4c.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/display.h"
#include "base/text.h"
#include "tui/markdown_table.h"

namespace deputy {
namespace {

constexpr std::size_t kLongestRule = 40;

// A list item or a quote that what is written now stands in.
struct Container {
  std::string first;
  std::string rest;
  bool is_begun = false;
};

std::string text_of(const MD_ATTRIBUTE& attribute) {
  return attribute.text ? std::string(attribute.text, attribute.size) : std::string();
}

std::string decoded(std::string_view entity) {
  if (entity == "&amp;") return "&";
  if (entity == "&lt;") return "<";
  if (entity == "&gt;") return ">";
  if (entity == "&quot;") return "\"";
  if (entity == "&nbsp;") return " ";
  return std::string(entity);
}

class Renderer {
 public:
  explicit Renderer(std::size_t columns) : columns_(std::max<std::size_t>(columns, 10)) {}

  void enter_block(MD_BLOCKTYPE type, void* detail);
  void leave_block(MD_BLOCKTYPE type);
  void enter_span(MD_SPANTYPE type, void* detail);
  void leave_span(MD_SPANTYPE type);
  void text(MD_TEXTTYPE type, std::string_view text);
  std::vector<Line> finish() {
    flush();
    return std::move(lines_);
  }

 private:
  struct List {
    bool is_ordered = false;
    unsigned next = 1;
    char delimiter = '.';
  };

  void enter_item(const MD_BLOCK_LI_DETAIL& item);
  void leave_code();
  std::string prefix();
  [[nodiscard]] std::size_t room() const;
  void emit(const Line& content);
  void flush();
  void separate() { is_blank_due_ = !lines_.empty(); }
  void add(std::string_view text, Tone tone);
  [[nodiscard]] Tone tone() const { return spans_.empty() ? block_tone_ : spans_.back(); }

  std::size_t columns_;
  std::vector<Line> lines_;
  std::vector<Line> paragraph_{Line{}};
  std::vector<Container> containers_;
  std::vector<List> lists_;
  Tone block_tone_ = Tone::plain;
  // The parser may leave a span that it never entered (a `~` in a link's target), so none of this may be
  // relied on.
  std::vector<Tone> spans_;
  std::vector<std::string> links_;
  std::optional<std::string> code_;
  bool is_diff_ = false;
  std::optional<MarkdownTable> table_;
  bool is_blank_due_ = false;
};

std::string Renderer::prefix() {
  std::string prefix;
  for (auto& container : containers_) {
    prefix += container.is_begun ? container.rest : container.first;
    container.is_begun = true;
  }
  return prefix;
}

// Columns that the containers leave.
std::size_t Renderer::room() const {
  std::size_t indent = 0;
  for (const auto& container : containers_) indent += display_width(container.rest);
  return columns_ > indent + 8 ? columns_ - indent : 8;
}

void Renderer::emit(const Line& content) {
  if (std::exchange(is_blank_due_, false)) lines_.push_back({});
  const std::string first = prefix();
  bool is_first = true;
  for (auto& part : wrapped(content, room())) {
    const std::string before = std::exchange(is_first, false) ? first : prefix();
    if (!before.empty()) part.insert(part.begin(), {before, Tone::faint});
    lines_.push_back(std::move(part));
  }
}

void Renderer::flush() {
  const bool has_text = std::ranges::any_of(paragraph_, [](const Line& line) { return !line.empty(); });
  if (has_text) {
    for (const Line& line : paragraph_) emit(line);
  }
  paragraph_ = {Line{}};
  spans_.clear();
  links_.clear();
}

void Renderer::add(std::string_view text, Tone tone) {
  if (table_) {
    table_->add(text);
    return;
  }
  if (Line shown = line_of(text, tone); !shown.front().text.empty())
    paragraph_.back().push_back(shown.front());
}

void Renderer::enter_item(const MD_BLOCK_LI_DETAIL& item) {
  List& list = lists_.back();
  std::string mark = list.is_ordered ? fmt::format("{}{} ", list.next++, list.delimiter) : "• ";
  if (item.is_task) mark += item.task_mark == ' ' ? "[ ] " : "[x] ";
  containers_.push_back({mark, std::string(display_width(mark), ' ')});
}

void Renderer::enter_block(MD_BLOCKTYPE type, void* detail) {
  switch (type) {
    case MD_BLOCK_UL:
      flush();
      lists_.push_back({});
      break;
    case MD_BLOCK_OL: {
      flush();
      const auto& list = *static_cast<MD_BLOCK_OL_DETAIL*>(detail);
      lists_.push_back({true, list.start, list.mark_delimiter});
      break;
    }
    case MD_BLOCK_LI:
      enter_item(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
      break;
    case MD_BLOCK_QUOTE:
      containers_.push_back({"│ ", "│ "});
      break;
    case MD_BLOCK_H:
      block_tone_ = Tone::heading;
      break;
    case MD_BLOCK_CODE:
      code_.emplace();
      is_diff_ = lowered(text_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang)) == "diff";
      break;
    case MD_BLOCK_TABLE:
      table_.emplace();
      break;
    case MD_BLOCK_TR:
      if (table_) table_->begin_row();
      break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
      if (table_) table_->begin_cell();
      break;
    default:
      break;
  }
}

void Renderer::leave_code() {
  std::string code = *std::exchange(code_, std::nullopt);
  if (code.ends_with('\n')) code.pop_back();
  for (const auto& line : lines_of_text(code, Tone::code)) {
    Line shown = is_diff_ ? diff_line(plain_text(line)) : line;
    shown.insert(shown.begin(), {"  ", Tone::plain});
    emit(shown);
  }
}

void Renderer::leave_block(MD_BLOCKTYPE type) {
  switch (type) {
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
      lists_.pop_back();
      if (lists_.empty()) separate();
      break;
    case MD_BLOCK_LI:
      flush();
      if (!containers_.back().is_begun) emit({});  // an item with nothing in it
      containers_.pop_back();
      break;
    case MD_BLOCK_QUOTE:
      flush();
      containers_.pop_back();
      separate();
      break;
    case MD_BLOCK_H:
      flush();
      block_tone_ = Tone::plain;
      separate();
      break;
    case MD_BLOCK_CODE:
      leave_code();
      separate();
      break;
    case MD_BLOCK_HR: {
      std::string rule;
      for (std::size_t at = 0; at < std::min(columns_, kLongestRule); ++at) rule += "─";
      emit({{rule, Tone::faint}});
      separate();
      break;
    }
    case MD_BLOCK_TABLE:
      for (const auto& line : table_->lines(room())) emit(line);
      table_.reset();
      separate();
      break;
    case MD_BLOCK_P:
    case MD_BLOCK_HTML:
      flush();
      separate();
      break;
    default:
      break;
  }
}

void Renderer::enter_span(MD_SPANTYPE type, void* detail) {
  Tone shown = tone();
  if (type == MD_SPAN_STRONG || type == MD_SPAN_EM) shown = Tone::strong;
  if (type == MD_SPAN_CODE) shown = Tone::code;
  spans_.push_back(shown);
  if (type == MD_SPAN_A) links_.push_back(text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href));
}

void Renderer::leave_span(MD_SPANTYPE type) {
  if (!spans_.empty()) spans_.pop_back();
  if (type != MD_SPAN_A || links_.empty()) return;
  const std::string target = std::move(links_.back());
  links_.pop_back();
  // A link that is its own text is not said twice; where another leads, one can see.
  const std::string said = table_ ? std::string(table_->cell()) : plain_text(paragraph_.back());
  if (said.ends_with(for_screen(target))) return;
  add(fmt::format(" ({})", target), Tone::faint);
}

void Renderer::text(MD_TEXTTYPE type, std::string_view text) {
  if (code_) {
    *code_ += text;
    return;
  }
  switch (type) {
    case MD_TEXT_BR:
      if (!table_) paragraph_.emplace_back();
      break;
    case MD_TEXT_SOFTBR:
      add(" ", tone());
      break;
    case MD_TEXT_NULLCHAR:
      add("\uFFFD", tone());
      break;
    case MD_TEXT_ENTITY:
      add(decoded(text), tone());
      break;
    default:
      add(text, tone());
      break;
  }
}

struct Parsing {
  Renderer renderer;
  std::exception_ptr bug = {};
};

// What is thrown may not pass through the parser, which is C and would lose what it holds: it is told to
// stop.
int render(void* parsing, const auto& what) {
  auto& [renderer, bug] = *static_cast<Parsing*>(parsing);
  try {
    what(renderer);
    return 0;
  } catch (...) {
    bug = std::current_exception();
    return -1;
  }
}

// The run of marks that opens or closes a fence; empty where the line is none.
std::string_view fence_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos || start > 3 || (line[start] != '`' && line[start] != '~')) return {};
  const std::size_t end = std::min(line.find_first_not_of(line[start], start), line.size());
  return end - start < 3 ? std::string_view{} : line.substr(start, end - start);
}

}  // namespace

Line diff_line(std::string_view text) {
  Tone tone = Tone::plain;
  if (text.starts_with('+')) tone = Tone::added;
  if (text.starts_with('-')) tone = Tone::removed;
  if (text.starts_with("@@")) tone = Tone::accent;
  return line_of(text, tone);
}

std::vector<Line> markdown_lines(std::string_view text, std::size_t columns) {
  const std::string valid = to_utf8(text);
  Parsing parsing{.renderer = Renderer(columns)};
  MD_PARSER parser{};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_TASKLISTS | MD_FLAG_STRIKETHROUGH | MD_FLAG_NOHTML;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
    return render(self, [&](Renderer& renderer) { renderer.enter_block(type, detail); });
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
    return render(self, [&](Renderer& renderer) { renderer.leave_block(type); });
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
    return render(self, [&](Renderer& renderer) { renderer.enter_span(type, detail); });
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
    return render(self, [&](Renderer& renderer) { renderer.leave_span(type); });
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* chars, MD_SIZE size, void* self) {
    return render(self, [&](Renderer& renderer) { renderer.text(type, {chars, size}); });
  };
  md_parse(valid.data(), static_cast<MD_SIZE>(valid.size()), &parser, &parsing);
  if (parsing.bug) std::rethrow_exception(parsing.bug);
  return parsing.renderer.finish();
}

std::size_t settled_prefix(std::string_view text) {
  std::size_t settled = 0;
  std::string_view fence;
  bool after_blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool is_blank = trimmed(line).empty();
    // What is indented may belong to the list before it.
    if (fence.empty() && after_blank && !is_blank && line.front() != ' ' && line.front() != '\t')
      settled = at;
    if (const auto mark = fence_of(line); !mark.empty()) {
      if (fence.empty()) {
        fence = mark;
      } else if (mark.front() == fence.front() && mark.size() >= fence.size()) {
        fence = {};
      }
    }
    after_blank = is_blank;
    at = end + 1;
  }
  return settled;
}

}  // namespace deputy
