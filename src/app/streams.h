// The process's own output. A reader that went away is ordinary: what is written after that is dropped, and
// whoever writes can ask whether it is so. Any other failure is kept, so that a result that could not be
// written does not look like success. A terminal that takes nothing for a while (Ctrl-S, a slow connection)
// is ordinary too: what is offered to it is waited for by nobody.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {

// What stands where lines were left out, by their number.
using LeftOutNotice = std::string (*)(std::size_t lines);
std::string left_out_line(std::size_t lines);
std::string left_out_event(std::size_t lines);  // where every line is an event

// What a terminal can show. Anything else that is written to takes the bytes as they are.
enum class TerminalLetters { unicode, ascii };

class OutStream {
 public:
  // Of what a terminal does not take; what is offered beyond it is left out, and that is said.
  static constexpr std::size_t kMostBehind = 1024UL * 1024;

  explicit OutStream(int descriptor, LeftOutNotice notice = left_out_line,
                     TerminalLetters letters = TerminalLetters::unicode);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  // Waits until all of it was taken, and what was offered before.
  void write(std::string_view text);
  // With a line break at its end, if it has none.
  void write_line(std::string_view text);
  // To a terminal without waiting: what it does not take stays behind and goes out before anything else.
  // Whole lines, or what may be left out as a whole. Anything but a terminal is waited for.
  void offer(std::string_view text);
  bool is_behind() const { return !behind_.empty(); }
  std::uint64_t taken() const { return taken_; }  // bytes of what was offered
  // Offers again what stayed behind; whether all of it was taken.
  bool catch_up();
  // The same for the last time: it is given a moment, and another whenever it takes something.
  bool catch_up_in_a_moment();
  // The process was told to end: what a terminal does not take in a moment is no longer waited for.
  void wait_no_longer() { waits_ = false; }
  // Whether a line can be written without waiting for a reader that stands still.
  bool has_room_soon() const;
  const std::optional<Error>& failure() const { return failure_; }
  // Known once something was written for it that it did not take.
  bool is_reader_gone() const { return is_closed_ && !failure_; }
  // For who may have nothing to write for long: whether what is written next may be read by somebody.
  bool can_be_read() const;
  int descriptor() const { return descriptor_; }
  TerminalLetters letters() const { return is_ascii_ ? TerminalLetters::ascii : TerminalLetters::unicode; }

 private:
  bool is_terminal();
  void write_bytes(std::string_view text);
  void offer_bytes(std::string_view text);
  void write_all(std::string_view text);
  bool try_all(int most_waits);
  std::string take_left_out();
  void close(int error);

  int descriptor_;
  LeftOutNotice notice_;
  bool is_ascii_;
  bool waits_ = true;
  std::optional<int> terminal_;  // another way to it that does not wait; below 0 where there is none
  std::string behind_;
  std::uint64_t taken_ = 0;
  std::size_t left_out_ = 0;  // lines
  bool is_closed_ = false;
  std::optional<Error> failure_;
};

// Fills the places of standard streams that the process was started without: a file opened later must not
// take their place and be written to as if it were one.
void keep_standard_streams();

// As ::read, once there is something to read. A terminal is not waited for also where a shell had it: then
// the process is stopped in the middle, and what there was is somebody else's when it goes on (EAGAIN).
ssize_t read_what_is_there(int descriptor, std::span<char> buffer);

// All of stdin. More than `most` bytes is an Error.
Result<std::string> read_stdin(std::size_t most);

}  // namespace deputy
