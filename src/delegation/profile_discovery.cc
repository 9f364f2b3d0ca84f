#include "delegation/profile_discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "base/disk_names.h"
#include "base/text.h"
#include "delegation/profile_node.h"

namespace deputy {
namespace {

constexpr int kMostFolders = 4;  // below each other

struct Usual {
  ProfileFormat format;
  std::string_view in_project;
  std::string_view in_home;  // "": in the person's folder for settings
  std::string_view in_config;
};
constexpr Usual kUsual[] = {
    {ProfileFormat::deputy, ".deputy/agents", "", "deputy/agents"},
    {ProfileFormat::claude, ".claude/agents", ".claude/agents", ""},
    {ProfileFormat::opencode, ".opencode/agent", "", "opencode/agent"},
    {ProfileFormat::opencode, ".opencode/agents", "", "opencode/agents"},
    {ProfileFormat::gemini, ".gemini/agents", ".gemini/agents", ""},
    {ProfileFormat::codex, ".codex/agents", ".codex/agents", ""},
};

// Names that deputy itself runs under; who took one over would change what Delegate and the root are.
bool is_reserved(std::string_view name) { return name == "main" || name == "reader" || name == "command"; }

std::string_view ending_of(ProfileFormat format) { return format == ProfileFormat::codex ? ".toml" : ".md"; }

bool has_subfolders(ProfileFormat format) {
  return format == ProfileFormat::claude || format == ProfileFormat::opencode;
}

std::string_view without_ending(std::string_view name) { return name.substr(0, name.rfind('.')); }

// Whatever the name of its file says is its name until it says one itself.
FoundProfile unread(const ProfilePlace& place, std::string_view name, const Error& error) {
  FoundProfile found{.file = join_path(place.folder(), name),
                     .format = place.format,
                     .origin = place.origin,
                     .standing = Standing::broken,
                     .problem = error.advice.empty() ? error.message : to_text(error)};
  found.read.profile.name = std::string(without_ending(name));
  return found;
}

void read_folder(const Folder& folder, const std::string& below, const ProfilePlace& place, int depth,
                 std::vector<FoundProfile>& found) {
  const auto entries = folder.list(below);
  if (!entries && entries.error().code == ErrorCode::not_found) return;
  if (!entries) {
    found.push_back(unread(place, below, entries.error()));
    found.back().has_name = false;
    return;
  }
  for (const auto& entry : *entries) {
    const std::string name = below == "." ? entry.name : join_path(below, entry.name);
    const bool is_folder = entry.status.kind == EntryKind::folder;
    if (is_folder && has_subfolders(place.format) && depth < kMostFolders) {
      read_folder(folder, name, place, depth + 1, found);
    }
    if (is_folder || !entry.name.ends_with(ending_of(place.format)) || entry.name.starts_with('.')) continue;
    if (found.size() >= kMostProfilesInAPlace) {
      found.push_back(
          unread(place, name,
                 {ErrorCode::exhausted,
                  fmt::format("there are more than {} agents in {}", kMostProfilesInAPlace, place.folder()),
                  "remove what is not used"}));
      return;
    }
    found.push_back(read_profile_file(folder, name, place));
  }
}

// Reached from above: no link in it leads outside.
std::vector<FoundProfile> profiles_in(const Disk& disk, const ProfilePlace& place) {
  std::vector<FoundProfile> found;
  const auto above = disk.open(place.above, IfAbsent::fail);
  const auto folder = above ? (*above)->open_folder(place.name) : std::unexpected(above.error());
  if (folder) {
    read_folder(**folder, ".", place, 1, found);
  } else if (folder.error().code != ErrorCode::not_found) {
    found.push_back(unread(place, ".", folder.error()));
    found.back().has_name = false;
  }
  return found;
}

void add_built_in(std::vector<FoundProfile>& found) {
  const auto built_in = Profiles::built_in();
  for (const auto* profile : built_in.offered()) {
    FoundProfile each{.origin = ProfileOrigin::built_in};
    each.read.profile = *profile;
    found.push_back(std::move(each));
  }
}

std::string place_text(const FoundProfile& profile) {
  return profile.file.empty() ? "the built-in one" : profile.file;
}

// By what its own file says.
void settle_alone(FoundProfile& found) {
  const std::string& name = found.read.profile.name;
  if (found.read.is_disabled) {
    found.standing = Standing::disabled;
    found.problem = "its file says that it is disabled";
  } else if (is_reserved(name)) {
    found.standing = Standing::broken;
    found.problem = fmt::format("'{}' is a name of deputy's own; give it another", name);
  } else if (!unknown_tools(found.read.profile).empty()) {
    found.standing = Standing::broken;
    for (const auto& each : found.read.no_tools)
      found.problem += (found.problem.empty() ? "" : "\n") + to_text(each);
  }
}

// Who counts of those that could, in order of precedence.
void settle_standing(std::vector<FoundProfile>& found, bool project_is_trusted) {
  std::map<std::string, const FoundProfile*> first;
  for (auto& each : found) {
    const bool is_broken = each.standing == Standing::broken;
    const bool is_untrusted = each.origin == ProfileOrigin::project && !project_is_trusted;
    if (each.standing == Standing::disabled || !each.has_name) continue;
    if (is_broken && (is_untrusted || is_reserved(each.read.profile.name))) continue;
    if (is_untrusted) {
      each.standing = Standing::untrusted;
      each.problem = "this folder is not trusted; see what it says, then run `deputy agents trust`";
      continue;
    }
    const auto [other, is_first] = first.emplace(each.read.profile.name, &each);
    each.keeps_name = is_first;
    if (is_first || is_broken) continue;
    each.standing = Standing::shadowed;
    each.problem =
        fmt::format("{} has the same name and comes first{}", place_text(*other->second),
                    other->second->standing == Standing::broken ? ", though it is broken: mend it" : "");
  }
}

}  // namespace

std::string_view name_of(ProfileOrigin origin) {
  switch (origin) {
    case ProfileOrigin::project:
      return "project";
    case ProfileOrigin::person:
      return "person";
    case ProfileOrigin::built_in:
      break;
  }
  return "built in";
}

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::used:
      return "used";
    case Standing::shadowed:
      return "shadowed";
    case Standing::untrusted:
      return "untrusted";
    case Standing::broken:
      return "broken";
    case Standing::disabled:
      break;
  }
  return "disabled";
}

std::vector<ProfilePlace> profile_places(std::string_view workspace, const Environment& environment) {
  std::vector<ProfilePlace> places;
  for (const auto& usual : kUsual)
    places.push_back(
        {std::string(workspace), std::string(usual.in_project), usual.format, ProfileOrigin::project});
  const std::string home = environment.get("HOME").value_or("");
  // A relative one is invalid by that variable's own rules.
  std::string config = environment.get("XDG_CONFIG_HOME").value_or("");
  if (!config.starts_with('/')) config = home.starts_with('/') ? join_path(home, ".config") : "";
  for (const auto& usual : kUsual) {
    const bool is_in_config = usual.in_home.empty();
    const std::string& above = is_in_config ? config : home;
    if (!above.starts_with('/')) continue;
    const ProfilePlace own{above, std::string(is_in_config ? usual.in_config : usual.in_home), usual.format,
                           ProfileOrigin::person};
    // Where the person works in the folder that is their home, what lies there is theirs.
    std::erase_if(places, [&own](const ProfilePlace& place) { return place.folder() == own.folder(); });
    places.push_back(own);
  }
  return places;
}

FoundProfile read_profile_file(const Folder& folder, std::string_view name, const ProfilePlace& place) {
  const auto text = folder.read(name, 0, kMostProfileBytes + 1);
  if (!text) return unread(place, name, text.error());
  ReadProfile read;
  if (const auto done = read_profile(place.format, *text, without_ending(name), read); !done) {
    FoundProfile broken = unread(place, name, done.error());
    if (!read.profile.name.empty()) broken.read.profile.name = std::move(read.profile.name);
    broken.has_name = done.error().code != ErrorCode::unavailable;
    broken.read.is_disabled = read.is_disabled;
    if (read.is_disabled) settle_alone(broken);
    return broken;
  }
  FoundProfile found{.file = join_path(place.folder(), name),
                     .format = place.format,
                     .origin = place.origin,
                     .read = std::move(read)};
  settle_alone(found);
  return found;
}

void warn_of_nobody(FoundProfile& found, const Profiles& profiles) {
  if (found.standing != Standing::used) return;
  const auto offered = profiles.offered();
  for (const auto& name : found.read.profile.subagents) {
    if (name != "*" && std::ranges::find(offered, name, &Profile::name) == offered.end())
      found.read.warnings.push_back({0, fmt::format("subagents names {}, which is no agent here", name)});
  }
}

std::vector<FoundProfile> find_profiles(const Disk& disk, const std::vector<ProfilePlace>& places,
                                        bool project_is_trusted) {
  std::vector<FoundProfile> found;
  for (const auto& place : places) std::ranges::move(profiles_in(disk, place), std::back_inserter(found));
  add_built_in(found);
  settle_standing(found, project_is_trusted);
  const Profiles profiles = profiles_of(found);
  for (auto& each : found) warn_of_nobody(each, profiles);
  return found;
}

Profiles profiles_of(const std::vector<FoundProfile>& found) {
  Profiles profiles = Profiles::built_in();
  for (const auto& each : found) {
    if (each.standing == Standing::used) {
      profiles.add(each.read.profile);
    } else if (each.keeps_name) {
      profiles.leave_out(each.read.profile.name, each.problem);
    }
  }
  return profiles;
}

ProfileFormat format_of_file(std::string_view path) {
  if (path.ends_with(".toml")) return ProfileFormat::codex;
  const auto parts = split(path, '/');
  for (const auto part : std::views::reverse(parts)) {  // the nearest folder counts
    for (const auto& usual : kUsual) {
      const std::string_view folder = usual.in_project.substr(0, usual.in_project.find('/'));
      const std::string_view config = usual.in_config.substr(0, usual.in_config.find('/'));
      const bool is_markdown = usual.format != ProfileFormat::codex;
      if (is_markdown && !part.empty() && (part == folder || part == config)) return usual.format;
    }
  }
  return ProfileFormat::deputy;
}

}  // namespace deputy
