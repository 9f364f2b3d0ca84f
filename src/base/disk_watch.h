// Tells when a file of a folder is written to, by whichever process.
#pragma once

#include <memory>
#include <string>

namespace deputy {

class DiskWatch {
 public:
  // Nothing where the folder is missing, or the system has no watch left.
  static std::unique_ptr<DiskWatch> on(const std::string& folder);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;

  int descriptor() const { return descriptor_; }  // readable once something was written
  void forget() const;                            // what was written so far

 private:
  explicit DiskWatch(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace deputy
