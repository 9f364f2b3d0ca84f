// How each format is read: a file each. `read` comes with what holds for all; see profile_file.h.
#pragma once

#include "delegation/profile_fields.h"

namespace deputy {

Result<void> read_deputy_profile(const MarkdownProfile& file, std::string_view stem, ReadProfile& read);
Result<void> read_claude_profile(const MarkdownProfile& file, ReadProfile& read);
Result<void> read_opencode_profile(const MarkdownProfile& file, std::string_view stem, ReadProfile& read);
Result<void> read_gemini_profile(const MarkdownProfile& file, ReadProfile& read);
Result<void> read_codex_profile(const ProfileNode& file, std::string_view stem, ReadProfile& read);

}  // namespace deputy
