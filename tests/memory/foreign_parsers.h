// What takes foreign bytes apart, each as its fuzzer calls it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct ForeignParser {
  std::string corpus;  // of the fuzzer whose name it is
  // How it ended, in so few letters that saying so takes no memory.
  std::function<char(std::string_view)> parse;
};

std::vector<ForeignParser> foreign_parsers();

}  // namespace deputy
