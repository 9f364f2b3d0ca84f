// One file of a profile, in our own format or in that of another program, as the Profile it means here. Pure:
// what was understood under another name, what has no meaning here and what nobody knows is told, never
// fatal; a value that cannot be meant is an Error with its line, since dropping it could widen what the
// profile may do. Nothing in such a file can widen what its parent may do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "transcript/profile.h"

namespace deputy {

enum class ProfileFormat { deputy, claude, opencode, gemini, codex };
std::string_view name_of(ProfileFormat format);  // "Claude Code", … for people

struct ProfileWarning {
  int line = 0;  // 0: about the file
  std::string text;
  bool operator==(const ProfileWarning&) const = default;
};

struct ReadProfile {
  Profile profile;
  std::vector<std::string> mapped = {};   // "maxTurns → max_turns"
  std::vector<std::string> ignored = {};  // known there, without a meaning here: "color"
  std::vector<ProfileWarning> warnings = {};
  std::vector<Error> mistakes = {};  // values that cannot be meant; with one of them it is no profile
  std::vector<Error> no_tools = {};  // names among its tools that are none: it cannot be used
  json::object unknown = {};         // keys that nobody knows, as they stood
  bool is_disabled = false;          // its file says so
};

// `stem` is what the file's name gives: a name for who has none of its own. An Error names every mistake,
// each on a line of its own.
Result<ReadProfile> read_profile(ProfileFormat format, std::string_view text, std::string_view stem);
// The same into `read`, which has the name that the file gives also where it is no profile.
Result<void> read_profile(ProfileFormat format, std::string_view text, std::string_view stem,
                          ReadProfile& read);

}  // namespace deputy
