// Keeps a name in a folder free of what must not come to be there: a repository, for what a command would
// configure in it the person's own git would run later; and deputy's own settings. While this lives an empty
// folder stands there where nothing did, for the sandbox to mount unchangeable; git and deputy take no notice
// of an empty one. It goes with the last who holds it, in this process or another, and one that a dead
// process left goes with the next, or when somebody clears it away.
#pragma once

#include <optional>

#include "base/result.h"
#include "sandbox/owned_fd.h"

namespace deputy {

class FreePlace {
 public:
  // Nothing where something else than an empty folder stands that needs no holding, or where nobody could
  // make one. Does not wait: an Error where another has locked it against us, or the system has no descriptor
  // or memory left to hold it with.
  static Result<std::optional<FreePlace>> hold(int folder, const char* name);
  // Removes what stands there if it is empty and nobody holds it.
  static void clear(int folder, const char* name);

  FreePlace(FreePlace&&) = default;
  FreePlace& operator=(FreePlace&&) = delete;
  ~FreePlace();

 private:
  FreePlace(OwnedFd folder, const char* name, OwnedFd place)
      : folder_(std::move(folder)), name_(name), place_(std::move(place)) {}
  OwnedFd folder_;
  const char* name_;
  OwnedFd place_;  // locked, shared with all who hold it
};

}  // namespace deputy
