// Patterns for paths: `*` any run within one name, `?` one character, `[a-z]` and `[!a-z]` one of them,
// `{a,b}` either, `**/` any folders or none, `**` anything at all, `\` the next character itself. A pattern
// that ends in `/`, or in `/**`, means the folder and all beneath it. A match takes time proportional to
// pattern times path, whatever they are: states are followed side by side, nothing is tried twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deputy {

enum class GlobMatch { none, above, whole };  // above: not the path itself, but a folder that it lies in

class Glob {
 public:
  static constexpr std::size_t kMaxBytes = 1024;
  static constexpr std::size_t kMaxAlternatives = 64;
  static constexpr std::size_t kMaxWrittenOut = 4096;  // bytes of all alternatives together

  // Fails for an empty, too long or unfinished pattern.
  static Result<Glob> compile(std::string_view pattern);

  // `path` is relative, without "." and "..", and "" for the root.
  GlobMatch match(std::string_view path) const;
  bool matches(std::string_view path) const { return match(path) == GlobMatch::whole; }
  // Whether it would match, wherever in the path the root lies: for paths of which only the end is known.
  bool may_match_end_of(std::string_view path) const;

  // The pattern with its braces written out.
  const std::vector<std::string>& alternatives() const { return alternatives_; }

 private:
  struct Step {
    enum class Kind : std::uint8_t {
      literal,
      one,
      one_of,
      within_name,
      anything,
      folders_or_none,
      folders,
      beneath_or_none
    };
    Kind kind = Kind::literal;
    char32_t character = 0;
    std::size_t set = 0;  // of one_of
  };
  struct Set {
    std::vector<std::pair<char32_t, char32_t>> ranges;
    bool negated = false;
    bool contains(char32_t character) const;
  };
  using Program = std::vector<Step>;
  enum class From : std::uint8_t { the_start, any_name };

  Result<Program> program_for(std::u32string_view pattern);
  Result<std::size_t> add_set(std::u32string_view pattern, std::size_t& at);
  GlobMatch run(const Program& program, std::u32string_view path, From from) const;
  bool takes(const Step& step, char32_t character) const;

  std::vector<std::string> alternatives_;
  std::vector<Program> programs_;
  std::vector<Set> sets_;
};

}  // namespace deputy
