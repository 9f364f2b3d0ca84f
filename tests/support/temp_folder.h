// A folder of its own for one test, gone with all that is in it when the test ends.
#pragma once

#include <string>

namespace deputy {

class TempFolder {
 public:
  // In memory, where the system has a folder there: for a test that plays the disk's part itself.
  enum class Where { on_disk, in_memory };
  explicit TempFolder(Where where = Where::on_disk);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace deputy
