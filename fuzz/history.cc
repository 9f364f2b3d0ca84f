// What the chat's history file says, whoever wrote it: texts that could have been typed, that come back as
// they are when they are written down, and that stand on the screen line by line when they are recalled.
#include "app/history.h"

#include <cstdint>

#include "base/json.h"
#include "base/text.h"
#include "must.h"
#include "tui/input_line.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto texts = history_in({reinterpret_cast<const char*>(bytes), size});
  std::string written;
  for (const std::string& text : texts) {
    must(is_utf8(text) && as_typed(text) == text);
    written += to_json_text(json::value(std::string_view(text))) + "\n";
  }
  must(history_in(written) == texts);
  constexpr int kMostRecalled = 8;
  constexpr std::size_t kRows = 5;
  InputLine input{.history = texts};
  for (int recalled = 0; recalled < kMostRecalled; ++recalled) {
    must(edit(input, {KeyName::up}) && input.cursor <= input.text.size());
    const InputView view = view_of(input, "> ", 20, kRows);
    must(view.lines.size() <= kRows && view.cursor_row < view.lines.size());
    for (const Line& line : view.lines) {
      const std::string shown = plain_text(line);
      must(is_utf8(shown) && !shown.contains('\n') && !shown.contains('\t'));
    }
  }
  return 0;
}
