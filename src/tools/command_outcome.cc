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

}  // namespace

std::string told_of(const ProcessResult& result) {
  std::string text = result.output;
  if (!result.errors.empty()) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += fmt::format("[stderr]\n{}", result.errors);
  }
  while (text.ends_with('\n')) text.pop_back();
  const std::string ending = ending_of(result);
  if (text.empty() && ending.empty()) return "(no output)";
  return text.empty() ? ending.substr(1) : text + ending;
}

void append_tail(std::string& tail, std::string_view piece, std::size_t most) {
  tail += piece;
  if (tail.size() > 2 * most) tail = std::string(utf8_suffix(tail, most));
}

}  // namespace deputy
