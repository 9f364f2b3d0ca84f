// Where a test finds what lies outside it: the programs under test, the tree, and recorded provider traffic.
#pragma once

#include <optional>
#include <string>

namespace deputy {

std::string bin_dir();     // holds deputy and deputy-init
std::string source_dir();  // the root of the tree

// What DEPUTY_FIXTURES names, or nothing.
std::optional<std::string> fixtures_dir();

// Whether CI is set: there everything that a test needs must be there.
bool is_ci();

// Skips a test for want of something; in CI it fails.
#define NEEDS(something, otherwise)             \
  if (!(something)) {                           \
    if (deputy::is_ci()) FAIL() << (otherwise); \
    GTEST_SKIP() << (otherwise);                \
  }                                             \
  static_assert(true, "a semicolon follows")

}  // namespace deputy
