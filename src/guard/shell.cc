#include "guard/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

// In the place of a command these steer the shell, or change how what follows is read.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"!",    "{",  "}",   "[[",       "]]", "case", "coproc", "do",   "done", "elif",  "else",
     "esac", "fi", "for", "function", "if", "in",   "select", "then", "time", "until", "while"});

constexpr std::string_view kEndsWord = " \t\n|&;<>()";
constexpr std::string_view kPlainPunctuation = "_-./,:+=@%^]!";  // themselves, wherever they stand in a word

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c); }
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// bash opens a connection for these.
bool is_network_device(std::string_view path) {
  return path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
}

// A tab is a separator; within a word nobody could tell it from spaces.
bool has_hidden_characters(std::string_view text) {
  return !is_utf8(text) || made_unmistakable(text) != text;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  ShellReading read() {
    skip_blank_lines();
    while (!rest_.empty()) {
      if (commands_.size() == kMaxShellCommands) {
        return std::unexpected(
            Opaque{Opaque::Kind::too_long, fmt::format("it is more than {} commands", kMaxShellCommands)});
      }
      if (!read_command() || !read_joint()) return std::unexpected(opaque_);
    }
    if (owed_) return unclear(fmt::format("nothing follows {}", *owed_));
    if (commands_.empty()) return unclear("it is empty");
    return std::move(commands_);
  }

 private:
  std::unexpected<Opaque> unclear(std::string why) {
    opaque_.why = std::move(why);
    return std::unexpected(opaque_);
  }
  bool refuse(std::string why) {
    opaque_.why = std::move(why);
    return false;
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip_blanks() {
    while (take(" ") || take("\t") || take("\\\n")) {
    }
  }
  void skip_blank_lines() {
    for (skip_blanks(); take("\n"); skip_blanks()) {
    }
  }

  bool read_command() {
    SimpleCommand command{.joint = joint_};
    owed_.reset();
    for (skip_blanks(); !rest_.empty() && !std::string_view("\n|&;").contains(rest_.front()); skip_blanks()) {
      if (at_redirection()) {
        if (!read_redirection(command)) return false;
      } else {
        auto word = read_word();
        if (!word || (command.words.empty() && !can_be_command(*word))) return false;
        command.words.push_back(*std::move(word));
      }
    }
    if (command.words.empty()) return refuse("a command is missing");
    commands_.push_back(std::move(command));
    return true;
  }

  bool read_joint() {
    if (rest_.empty()) return true;
    if (take("&&")) {
      joint_ = Joint::if_done;
      owed_ = "&&";
    } else if (take("||")) {
      joint_ = Joint::if_failed;
      owed_ = "||";
    } else if (rest_.starts_with("|&") || rest_.starts_with('&') || rest_.starts_with(";;")) {
      return refuse(fmt::format("it holds {}", rest_.starts_with('&') ? "&" : rest_.substr(0, 2)));
    } else if (take("|")) {
      joint_ = Joint::pipe;
      owed_ = "|";
    } else if (take(";") || take("\n")) {
      joint_ = Joint::then;
    } else {
      return refuse(fmt::format("it holds {}", rest_.front()));
    }
    skip_blank_lines();
    return true;
  }

  // Also where a single digit stands right before the sign.
  bool at_redirection() const {
    const std::string_view text = is_digit(rest_.front()) ? rest_.substr(1) : rest_;
    return text.starts_with('<') || text.starts_with('>');
  }

  bool read_redirection(SimpleCommand& command) {
    using enum Redirection::Kind;
    Redirection to;
    std::optional<int> descriptor;
    if (is_digit(rest_.front())) descriptor = rest_.front() - '0';
    if (descriptor) rest_.remove_prefix(1);
    for (const std::string_view sign : {"<<", "<&", "<>", "<(", ">(", ">|"}) {
      if (rest_.starts_with(sign)) return refuse(fmt::format("it holds {}", sign));
    }
    if (take(">>")) {
      to.kind = append;
    } else if (take(">&")) {
      to.kind = duplicate;
    } else {
      to.kind = take("<") ? read : write;
      if (to.kind == write) take(">");
    }
    to.descriptor = descriptor.value_or(to.kind == read ? 0 : 1);
    skip_blanks();
    if (rest_.empty() || kEndsWord.contains(rest_.front())) return refuse("a redirection leads nowhere");
    const auto word = read_word();
    if (!word) return false;
    const bool is_descriptor = word->text.size() == 1 && is_digit(word->text.front());
    if (word->varies || word->text.empty() || is_network_device(word->text) ||
        (to.kind == duplicate && !is_descriptor)) {
      return refuse("a redirection leads where cannot be told");
    }
    to.target = word->text;
    command.redirections.push_back(std::move(to));
    return true;
  }

  bool can_be_command(const ShellWord& word) {
    if (word.text.empty() || word.varies || !is_ascii(word.text) || word.text.contains('\n')) {
      return refuse("a command has a name that cannot be told");
    }
    if (word.text.contains('=')) return refuse("it sets a variable");
    if (std::ranges::find(kReserved, word.text) != kReserved.end()) {
      return refuse(fmt::format("'{}' is a word of the shell's own language", word.text));
    }
    return true;
  }

  std::optional<ShellWord> read_word() {
    ShellWord word;
    is_quoted_ = false;
    for (bool is_first = true; !rest_.empty() && !kEndsWord.contains(rest_.front()); is_first = false) {
      const bool could_read = take("'")    ? read_single_quotes(word)
                              : take("\"") ? read_double_quotes(word)
                              : take("\\") ? read_escape(word)
                                           : read_plain(word, is_first);
      if (!could_read) return std::nullopt;
    }
    if (!rest_.empty() && std::string_view("()").contains(rest_.front())) {
      refuse("it holds a bracket of the shell");
      return std::nullopt;
    }
    const bool is_number = !is_quoted_ && std::ranges::all_of(word.text, is_digit);
    if (is_number && !rest_.empty() && (rest_.front() == '<' || rest_.front() == '>')) {
      refuse("it redirects a descriptor above 9");
      return std::nullopt;
    }
    if (word.varies && is_quoted_) {
      refuse("a pattern is partly quoted");
      return std::nullopt;
    }
    if (word.text == "[") word.varies = false;
    return word;
  }

  bool read_single_quotes(ShellWord& word) {
    is_quoted_ = true;
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return refuse("a quote is not closed");
    word.text += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return !word.text.contains('\t') || refuse("it holds a tab within quotes");
  }

  bool read_double_quotes(ShellWord& word) {
    is_quoted_ = true;
    while (!take("\"")) {
      if (rest_.empty()) return refuse("a quote is not closed");
      if (take("\\\n")) continue;
      const char c = rest_.front();
      if (c == '$' || c == '`') return refuse(fmt::format("it holds {}", c));
      if (c == '\t') return refuse("it holds a tab within quotes");
      const bool is_escape = c == '\\' && rest_.size() > 1 && std::string_view("$`\"\\").contains(rest_[1]);
      word.text += rest_[is_escape ? 1 : 0];
      rest_.remove_prefix(is_escape ? 2 : 1);
    }
    return true;
  }

  bool read_escape(ShellWord& word) {
    is_quoted_ = true;
    // A line that goes on in the middle of a word could make a sign of what looks like two.
    if (rest_.empty() || rest_.front() == '\t' || rest_.front() == '\n') {
      return refuse("it escapes what cannot be seen");
    }
    word.text += rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  bool read_plain(ShellWord& word, bool is_first) {
    const char c = rest_.front();
    const bool after_sign = is_first || word.text.ends_with('=') || word.text.ends_with(':');
    // find's and xargs's {}, git's stash@{0}: with neither a comma nor dots in them they are themselves.
    // But {fd}>x would open x under another number.
    const std::size_t end = c == '{' ? rest_.find('}') : std::string_view::npos;
    const auto is_redirected = [&] { return end > 1 && rest_.substr(end + 1).find_first_of("<>") == 0; };
    if (end != std::string_view::npos && std::ranges::all_of(rest_.substr(1, end - 1), is_alphanumeric) &&
        !is_redirected()) {
      word.text += rest_.substr(0, end + 1);
      rest_.remove_prefix(end + 1);
      return true;
    }
    if (std::string_view("$`{}").contains(c)) return refuse(fmt::format("it holds {}", c));
    if (c == '#' && is_first) return refuse("it holds a comment");
    if (std::string_view("*?[").contains(c) || (c == '~' && after_sign)) word.varies = true;
    const bool is_known = is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 ||
                          kPlainPunctuation.contains(c) || std::string_view("*?[~#").contains(c);
    if (!is_known) return refuse(fmt::format("it holds {}", c));
    word.text += c;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  std::vector<SimpleCommand> commands_;
  Joint joint_ = Joint::then;
  std::optional<std::string_view> owed_;  // a joint that nothing follows yet
  bool is_quoted_ = false;                // some of the word being read
  Opaque opaque_;
};

}  // namespace

ShellReading read_shell(std::string_view command) {
  if (command.size() > kMaxShellBytes) {
    return std::unexpected(
        Opaque{Opaque::Kind::too_long, fmt::format("it is longer than {} bytes", kMaxShellBytes)});
  }
  if (has_hidden_characters(command)) {
    return std::unexpected(Opaque{Opaque::Kind::unclear, "it holds characters that cannot be seen"});
  }
  return Reader(command).read();
}

}  // namespace deputy
