// What tests of profile files share: a file read, or what is said of one that cannot be.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delegation/profile_file.h"

namespace deputy {

inline ReadProfile read(ProfileFormat format, std::string_view text) {
  auto read = read_profile(format, text, "file-name");
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : ReadProfile{};
}
inline std::string own_file(const std::string& head) { return "---\n" + head + "\n---\nDo it.\n"; }
inline ReadProfile own(const std::string& head) { return read(ProfileFormat::deputy, own_file(head)); }
inline Error mistake(ProfileFormat format, std::string_view text) {
  const auto read = read_profile(format, text, "file-name");
  EXPECT_FALSE(read) << text;
  return read ? Error{} : read.error();
}
inline Error own_mistake(const std::string& head) { return mistake(ProfileFormat::deputy, own_file(head)); }
inline std::vector<std::string> warnings(const ReadProfile& read) {
  std::vector<std::string> texts;
  for (const auto& warning : read.warnings)
    texts.push_back(std::to_string(warning.line) + ": " + warning.text);
  return texts;
}

}  // namespace deputy
