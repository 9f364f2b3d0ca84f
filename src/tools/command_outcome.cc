#include "tools/command_outcome.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {
namespace {

std::string ending_of(const ProcessResult& result) {
  std::string ending;
  if (result.cut) ending += "\n[more was printed than is kept]";
  if (result.timed_out) {
    ending += "\n[ended: its time was up]";
  } else if (result.exit_status != 0) {
    ending += fmt::format("\n[exit status {}]", result.exit_status);
  }
  return ending;
}

std::string with_end(const std::string& beginning, const OutputEnd& end) {
  if (end.left_out == 0) return beginning + end.text;
  return fmt::format("{}\n[{} bytes left out]\n{}", beginning, with_thousands(end.left_out), end.text);
}

}  // namespace

std::string told_of(const ProcessResult& result) {
  std::string text = with_end(result.output, result.output_end);
  if (!result.errors.empty()) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += fmt::format("[stderr]\n{}", with_end(result.errors, result.errors_end));
  }
  while (text.ends_with('\n')) text.pop_back();
  const std::string ending = ending_of(result);
  if (text.empty() && ending.empty()) return "(no output)";
  return text.empty() ? ending.substr(1) : text + ending;
}

void append_tail(std::string& tail, std::string_view piece, std::size_t most) {
  tail += piece;
  if (tail.size() > 2 * most) tail.erase(0, tail.size() - utf8_suffix(tail, most).size());
}

}  // namespace deputy
