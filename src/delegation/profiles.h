// The profiles that can be delegated to, by name. Unknown names are refused with the known ones; there is no
// fall-back.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transcript/profile.h"

namespace deputy {

class Profiles {
 public:
  static Profiles built_in();
  void add(Profile profile);
  // Nobody has this name from now on, since the file of the one who should is broken: `why` says how.
  void leave_out(const std::string& name, std::string_view why);
  // "" where nobody of that name was left out.
  std::string why_left_out(std::string_view name) const;
  Result<const Profile*> find(std::string_view name) const;
  std::vector<const Profile*> offered() const;  // without the hidden ones, by name
  std::vector<const Profile*> declared_by(const Profile& profile) const;

 private:
  std::map<std::string, Profile, std::less<>> profiles_;
  std::map<std::string, std::string, std::less<>> left_out_;  // why, by name
};

// Those of its tools that are no tools of ours: it is refused until they are gone.
std::vector<std::string> unknown_tools(const Profile& profile);

}  // namespace deputy
