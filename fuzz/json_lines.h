// How inputs of JSON lines are made up: a byte that is changed at random leaves hardly any of them JSON, and
// one in a hundred came as far as what is behind that. Most are changed in their lines and values instead:
// what is said of one session is said of another, comes twice, earlier or not at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "base/text.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace deputy {

class JsonLines {
 public:
  JsonLines(std::string_view text, std::uint64_t seed) : random_(seed) {
    for (const std::string_view line : lines_of(text)) lines_.emplace_back(line);
  }

  std::string mutated() {
    if (lines_.empty()) return {};
    const auto at = lines_.begin() + static_cast<std::ptrdiff_t>(one_of(lines_.size()));
    switch (one_of(8)) {
      case 0:
        std::swap(*at, any_line());
        break;
      case 1:
        lines_.insert(at, std::string(any_line()));
        break;
      case 2:
        lines_.erase(at);
        break;
      default:
        change(*at);
    }
    if (one_of(8) != 0) put_in_order();
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
  }

 private:
  std::size_t one_of(std::size_t count) { return static_cast<std::size_t>(random_.below(count)); }
  std::string& any_line() { return lines_[one_of(lines_.size())]; }

  static void collect(json::value& value, std::vector<json::value*>& all) {
    all.push_back(&value);
    if (auto* list = value.if_array())
      for (auto& each : *list) collect(each, all);
    if (auto* object = value.if_object())
      for (auto& [key, each] : *object) collect(each, all);
  }
  // Any that is in there, or all of it.
  json::value& value_in(json::value& line) {
    std::vector<json::value*> all;
    collect(line, all);
    return *all[one_of(all.size())];
  }

  void change(std::string& line) {
    auto told = parse_json(line);
    if (!told) return change_bytes(line);
    json::value& value = value_in(*told);
    auto other = parse_json(any_line());
    const json::value* replacement = other ? &value_in(*other) : nullptr;
    if (replacement != nullptr && replacement->kind() == value.kind() && one_of(2) == 0) {
      value = json::value(*replacement);
    } else if (auto* text = value.if_string()) {
      std::string bytes(*text);
      change_bytes(bytes);
      *text = to_utf8(bytes);
    } else if (const auto* number = value.if_int64()) {
      using Limits = std::numeric_limits<std::int64_t>;
      const std::int64_t numbers[] = {
          0, 1, -1, *number / 2, *number ^ 1, *number ^ 1024, 1 << 30, Limits::min(), Limits::max()};
      value = numbers[one_of(std::size(numbers))];
    } else if (value.is_bool()) {
      value = !value.get_bool();
    }
    line = to_json_text(*told);
  }

  static void change_bytes(std::string& text) {
    constexpr std::size_t kMore = 16;  // that it may grow by
    const std::size_t size = text.size();
    text.resize(size + kMore);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  }

  // As events are numbered, from 1 behind the first line.
  void put_in_order() {
    constexpr std::string_view kNumber = R"({"seq":)";
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      const std::size_t end = lines_[i].find(',');
      if (lines_[i].starts_with(kNumber) && end != std::string::npos)
        lines_[i].replace(kNumber.size(), end - kNumber.size(), std::to_string(i));
    }
  }

  SeededRandom random_;
  std::vector<std::string> lines_;
};

}  // namespace deputy

extern "C" [[gnu::used]] inline std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                                                    std::size_t most, unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(bytes, size, most);
  const std::string text = deputy::JsonLines({reinterpret_cast<const char*>(bytes), size}, seed).mutated();
  if (text.empty() || text.size() > most) return LLVMFuzzerMutate(bytes, size, most);
  std::ranges::copy(text, bytes);
  return text.size();
}
