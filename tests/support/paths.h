// Where a test finds what lies outside it: the programs under test, the tree, and recorded provider traffic.
#pragma once

#include <optional>
#include <string>

namespace deputy {

std::string bin_dir();     // holds deputy and deputy-init
std::string source_dir();  // the root of the tree

// What DEPUTY_FIXTURES names, or nothing: then a test that needs it is skipped.
std::optional<std::string> fixtures_dir();

}  // namespace deputy
