#include "support/temp_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace deputy {
namespace {

std::filesystem::path folder_for(TempFolder::Where where) {
  constexpr const char* kInMemory = "/dev/shm";
  if (where == TempFolder::Where::in_memory && ::access(kInMemory, W_OK | X_OK) == 0) return kInMemory;
  return std::filesystem::temp_directory_path();
}

}  // namespace

TempFolder::TempFolder(Where where) : path_((folder_for(where) / "deputy-test-XXXXXX").string()) {
  if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make a temporary folder at " + path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace deputy
