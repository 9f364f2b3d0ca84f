// Keeps a repository from coming to be where there is none: what a command would configure in it, the
// person's own git would run later. While this lives an empty `.git` stands in the folder, for the sandbox to
// mount unchangeable; git takes no notice of an empty one. It goes with the last who holds it, in this
// process or another, and one that a dead process left goes with the next.
#pragma once

#include <optional>

#include "sandbox/owned_fd.h"

namespace deputy {

class GitPlace {
 public:
  // Nothing where there is a repository, or where nobody could make one.
  static std::optional<GitPlace> keep_free(int folder);
  GitPlace(GitPlace&&) = default;
  GitPlace& operator=(GitPlace&&) = delete;
  ~GitPlace();

 private:
  GitPlace(OwnedFd folder, OwnedFd place) : folder_(std::move(folder)), place_(std::move(place)) {}
  OwnedFd folder_;
  OwnedFd place_;  // locked, shared with all who hold it
};

}  // namespace deputy
