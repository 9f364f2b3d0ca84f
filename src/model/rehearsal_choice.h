// Which of the findings matter: what to read next and what to report first. Pure, and in a fixed order: equal
// findings give equal choices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/rehearsal_findings.h"
#include "model/rehearsal_plan.h"

namespace deputy {

// What explains a folder first (README, build files, an entry point), what nobody reads (images, archives)
// not at all.
std::vector<std::string> files_that_explain(const std::vector<std::string>& paths, std::size_t most);
// The files that the prompt names, as the tools found them; as the prompt spells them where nothing was
// listed.
std::vector<std::string> files_asked_for(const Plan& plan, const Findings& findings, std::size_t most);
// The most telling first, and the first of each file before the second of any.
std::vector<Cite> first_hits(const Plan& plan, const Findings& findings, std::size_t most);
std::vector<Cite> longest_files(const Findings& findings, std::size_t most);
// The line that says what a file is: its heading, its project's name, its entry point; else its first that is
// not empty.
std::optional<Cite> telling_line(const std::vector<Cite>& lines);

// What the unfinished and the risky look for: the word as people write it, most telling first, and the
// expression to search with.
struct Mark {
  std::string_view word;
  std::string_view pattern;
};
std::span<const Mark> marks_of(Inquiry inquiry);
// The mark or term that a line was found for; empty where none is in it.
std::string_view found_for(const Plan& plan, std::string_view text);

}  // namespace deputy
