// What a person types, as values: the bytes of a terminal taken apart. A sequence may come in pieces; what no
// key is known for is dropped, so that nothing of it is taken for text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

enum class KeyName {
  text,  // printable characters; also what was pasted, with its line breaks
  paste,
  control,  // with a letter, in `text`
  enter,
  line_break,  // alt-enter or ctrl-j: a new line in the input
  tab,
  back_tab,
  backspace,
  remove,
  remove_word,
  left,
  right,
  up,
  down,
  word_left,
  word_right,
  home,
  end,
  page_up,
  page_down,
  escape,
};

struct Key {
  KeyName name = KeyName::text;
  std::string text = {};
  bool operator==(const Key&) const = default;
};

// Foreign bytes as text that a person meant to write: line breaks and tabs, no other control character.
std::string as_typed(std::string_view bytes);

class KeyReader {
 public:
  std::vector<Key> feed(std::string_view bytes);
  // Whether what came last may be the beginning of more: an escape alone is one only if nothing follows soon.
  bool is_waiting() const { return !pending_.empty() && !is_pasting_; }
  // Nothing followed.
  std::vector<Key> settle();

 private:
  // How much of the pending bytes was used; 0 while more is needed.
  std::size_t take(std::vector<Key>& keys);
  std::size_t take_paste(std::vector<Key>& keys);
  std::size_t take_escape(std::vector<Key>& keys) const;

  std::string pending_;
  bool is_pasting_ = false;
};

}  // namespace deputy
