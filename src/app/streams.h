// The process's own output. A reader that went away is ordinary: what is written after that is dropped, and
// the work goes on. Any other failure is kept, so that a result that could not be written does not look like
// success.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {

class OutStream {
 public:
  explicit OutStream(int descriptor) : descriptor_(descriptor) {}
  void write(std::string_view text);
  // With a line break at its end, if it has none.
  void write_line(std::string_view text);
  const std::optional<Error>& failure() const { return failure_; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  bool is_closed_ = false;
  std::optional<Error> failure_;
};

// Fills the places of standard streams that the process was started without: a file opened later must not
// take their place and be written to as if it were one.
void keep_standard_streams();

// All of stdin. More than `most` bytes is an Error.
Result<std::string> read_stdin(std::size_t most);

}  // namespace deputy
