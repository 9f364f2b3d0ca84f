// Where profiles come from: the folders of a project and those of the person, our own and other programs',
// read where they stand. Of two with one name the first place counts: the project's before the person's
// before the built-in, and ours before other programs'. A project's profiles count only once the person has
// trusted its folder: until then they are found and told of, but no model hears of them. They could not widen
// anything, but what they say would reach the parent's model. A broken one keeps its name: the next of that
// name could do what this one was meant to rule out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/environment.h"
#include "delegation/profile_file.h"
#include "delegation/profiles.h"

namespace deputy {

enum class ProfileOrigin { project, person, built_in };
std::string_view name_of(ProfileOrigin origin);

enum class Standing { used, shadowed, untrusted, broken, disabled };
std::string_view name_of(Standing standing);

struct FoundProfile {
  std::string file;  // absolute; empty for the built-in ones
  ProfileFormat format = ProfileFormat::deputy;
  ProfileOrigin origin = ProfileOrigin::person;
  Standing standing = Standing::used;
  bool has_name = true;     // what is no agent here has none to keep: a folder, an agent of elsewhere
  bool keeps_name = false;  // no other of its name is used: it is the one, or would be if it were not broken
  ReadProfile read;         // of one that could not be read, its name alone
  std::string problem;      // why it is not used, with what to do, a line for each mistake; empty where it is
};

struct ProfilePlace {
  std::string above;  // absolute: the workspace, or a folder of the person's
  std::string name;   // beneath it
  ProfileFormat format = ProfileFormat::deputy;
  ProfileOrigin origin = ProfileOrigin::person;

  std::string folder() const { return join_path(above, name); }
};
// In order of precedence. `workspace` is an absolute path.
std::vector<ProfilePlace> profile_places(std::string_view workspace, const Environment& environment);

inline constexpr std::size_t kMostProfilesInAPlace = 200;

// All that there are, the built-in ones last, each with its standing. A folder or a file that cannot be read
// is told, never fatal.
std::vector<FoundProfile> find_profiles(const Disk& disk, const std::vector<ProfilePlace>& places,
                                        bool project_is_trusted);

// The built-in ones, and those that are used; nobody has the name of one that is broken.
Profiles profiles_of(const std::vector<FoundProfile>& found);

// Whom an agent may hand work to and who is nobody here is left out when it runs.
void warn_of_nobody(FoundProfile& found, const Profiles& profiles);

// Which format a file is in that the person names: by where it lies, and by its ending.
ProfileFormat format_of_file(std::string_view path);
// Reads that one file.
FoundProfile read_profile_file(const Folder& folder, std::string_view name, const ProfilePlace& place);

}  // namespace deputy
