#include "tools/git_config.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

bool is_space(char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; }

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '.';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  GitConfigPaths read() {
    GitConfigPaths paths;
    std::string section;
    while (!text_.empty()) {
      const char letter = text_.front();
      if (is_space(letter)) {
        text_.remove_prefix(1);
      } else if (letter == '#' || letter == ';') {
        skip_line();
      } else if (letter == '[') {
        section = take_section();
      } else if (is_name_letter(letter)) {
        take_setting(section, paths);
      } else {
        break;
      }
    }
    return paths;
  }

 private:
  void skip_line() { text_.remove_prefix(std::min(text_.find('\n'), text_.size())); }

  std::string take_name() {
    std::size_t size = 0;
    while (size < text_.size() && is_name_letter(text_[size])) ++size;
    std::string name = lowered(text_.substr(0, size));
    text_.remove_prefix(size);
    return name;
  }

  // Of [includeIf "onbranch:x"] "includeif.": without what stands in quotes, but that something does.
  std::string take_section() {
    text_.remove_prefix(1);
    std::string name = take_name();
    bool is_quoted = false;
    while (!text_.empty() && text_.front() != '\n') {
      const char letter = text_.front();
      text_.remove_prefix(is_quoted && letter == '\\' && text_.size() > 1 ? 2 : 1);
      if (letter == '"') {
        if (is_quoted) name += '.';
        is_quoted = !is_quoted;
      }
      if (letter == ']' && !is_quoted) break;
    }
    return name;
  }

  void take_setting(std::string_view section, GitConfigPaths& paths) {
    const std::string name = take_name();
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) text_.remove_prefix(1);
    if (!text_.starts_with('=')) {
      skip_line();
      return;
    }
    text_.remove_prefix(1);
    std::string value = take_value();
    if ((section == "include" || section == "includeif.") && name == "path") {
      paths.included.push_back(std::move(value));
    } else if (section == "core" && name == "hookspath") {
      paths.hooks.push_back(std::move(value));
    }
  }

  // To the end of the line, or further where that is escaped.
  std::string take_value() {
    std::string value;
    std::string spaces;  // they count only between other letters
    bool is_quoted = false;
    while (!text_.empty() && text_.front() != '\n') {
      char letter = text_.front();
      if (!is_quoted && (letter == '#' || letter == ';')) {
        skip_line();
        break;
      }
      text_.remove_prefix(1);
      if (!is_quoted && is_space(letter)) {
        if (!value.empty()) spaces += letter;
        continue;
      }
      if (letter == '"') {
        is_quoted = !is_quoted;
        continue;
      }
      if (letter == '\\') {
        if (text_.starts_with("\r\n")) text_.remove_prefix(1);
        if (text_.empty()) break;
        letter = text_.front();
        text_.remove_prefix(1);
        if (letter == '\n') continue;
        if (letter == 't') letter = '\t';
        if (letter == 'n') letter = '\n';
        if (letter == 'b') letter = '\b';
      }
      value += std::exchange(spaces, {});
      value += letter;
    }
    return value;
  }

  std::string_view text_;
};

}  // namespace

GitConfigPaths paths_in_git_config(std::string_view text) { return Reader(text).read(); }

}  // namespace deputy
