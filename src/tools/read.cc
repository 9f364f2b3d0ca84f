#include "tools/read.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "tools/content_kind.h"
#include "tools/line_window.h"
#include "tools/sight.h"
#include "tools/wording.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Reads a text file of the workspace with line numbers. Says how to read on when there is more.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"file_path":{"type":"string","minLength":1,"description":"absolute or relative to the workspace"},
"offset":{"type":"integer","minimum":1,"description":"first line, from 1"},
"limit":{"type":"integer","minimum":1,"description":"number of lines (2000)"}},
"required":["file_path"],
"additionalProperties":false})json";

constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr std::size_t kAtOnceBytes =
    64 * 1024;  // that hold the loop up for less than a thread would take to wake
constexpr std::size_t kBeginningBytes = 8 * 1024;  // where a NUL byte tells that it is no text

struct Request {
  Target target;
  std::string path;  // as it is shown
  LineWindow::Limits limits;
};

// What was read, and the SHA-256 of the whole file where all of it was.
struct Reading {
  ToolResult result;
  std::string digest;
};

std::string range_text(const LineWindow& window, const Request& request, bool is_whole) {
  const std::string total = fmt::format("{}{}", is_whole ? "" : "more than ", window.seen());
  std::string range = fmt::format("lines {}–{} of {}", request.limits.first, window.last(), total);
  if (window.last() < window.seen() || !is_whole)
    range += fmt::format("; read on with offset {}", window.last() + 1);
  return range;
}

std::string past_the_end(const LineWindow& window, const Request& request, bool is_whole) {
  if (is_whole) {
    return fmt::format("{} has only {}: offset {} lies past its end.", request.path,
                       counted(window.seen(), "line"), request.limits.first);
  }
  return fmt::format(
      "{} is too large to reach line {}: only its first {} MiB can be read. Use Grep to find a place in it.",
      request.path, request.limits.first, ReadTool::kMaxScanned >> 20);
}

ToolResult result_of(const LineWindow& window, const Request& request, bool is_whole) {
  if (window.seen() == 0 && is_whole) return tool_ok(fmt::format("[{} is empty]", request.path));
  if (window.last() == 0) return tool_error(past_the_end(window, request, is_whole));
  std::string content = window.text();
  const bool shows_all = is_whole && request.limits.first == 1 && window.last() == window.seen();
  if (!shows_all) content += fmt::format("[{}]\n", range_text(window, request, is_whole));
  if (window.was_mended()) content += "[bytes that are not UTF-8 are shown as \uFFFD]\n";
  if (window.has_crlf()) content += "[its lines end with CRLF]\n";
  return tool_ok(std::move(content));
}

std::optional<Reading> unless_text(const Request& request, std::string_view beginning) {
  const auto kind = kind_unless_text(beginning.substr(0, kBeginningBytes));
  if (!kind) return std::nullopt;
  return Reading{tool_error(fmt::format("{} is {} of {}, not text, so it cannot be shown.", request.path,
                                        *kind, counted(request.target.place->status()->size, "byte"))),
                 ""};
}

Reading read_whole(const Request& request, std::string_view content) {
  if (auto other = unless_text(request, content)) return *std::move(other);
  LineWindow window(request.limits);
  window.feed(content);
  window.finish();
  return {result_of(window, request, true), sha256_hex(content)};
}

// On the pool.
Reading read_lines(const Request& request, const Sight& sight) {
  const Place& place = *request.target.place;
  if (!place.status()) return {tool_error(not_there(request.target, sight)), ""};
  if (place.status()->kind == EntryKind::folder) {
    return {tool_error(fmt::format("{} is a folder. Use List to see what is in it.", request.path)), ""};
  }
  LineWindow window(request.limits);
  Sha256 digest;
  for (std::uint64_t at = 0; at < ReadTool::kMaxScanned; at += kPieceBytes) {
    const auto piece = place.read(at, kPieceBytes);
    if (!piece) return {tool_error(to_text(piece.error())), ""};
    if (at == 0) {
      if (auto other = unless_text(request, *piece)) return *std::move(other);
    }
    window.feed(*piece);
    digest.feed(*piece);
    if (piece->size() < kPieceBytes) {
      window.finish();
      return {result_of(window, request, true), digest.hex()};
    }
  }
  return {result_of(window, request, false), ""};
}

}  // namespace

const ToolText& ReadTool::text() const {
  static const ToolText text{"Read", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string ReadTool::in_full(const json::object& arguments) const {
  return shown_path(string_or(arguments, "file_path", ""));
}

std::string ReadTool::shown(const json::object& arguments) const { return shorten(in_full(arguments), 120); }

std::optional<std::string> ReadTool::path(const json::object& arguments) const {
  return string_or(arguments, "file_path", "");
}

Task<ToolResult> ReadTool::run(json::object arguments, ToolContext context) {
  Request request{.target = *context.target,
                  .path = shown_path(context.target->name),
                  .limits = {.first = static_cast<std::size_t>(integer_or(arguments, "offset", 1)),
                             .lines = static_cast<std::size_t>(integer_or(arguments, "limit", kDefaultLines)),
                             .bytes = kMaxTextBytes}};
  Reading reading;
  if (const auto content = request.target.place->read_at_once(kAtOnceBytes)) {
    reading = read_whole(request, *content);
  } else {
    auto sight = Sight::of(context);
    if (!sight) co_return tool_error(to_text(sight.error()));
    reading = co_await on_pool(
        context.loop, context.pool,
        [request = std::move(request), sight = *std::move(sight)] { return read_lines(request, sight); });
  }
  if (reading.result.status == ToolStatus::ok && !reading.digest.empty()) {
    context.journal.ride_along({context.id.step, context.id.index},
                               FileTouched{{context.target->path, reading.digest, reading.digest}});
  }
  co_return std::move(reading.result);
}

}  // namespace deputy
