// The keys of a profile's file, taken one by one: what is left over at the end is what nobody knows. For the
// readers of the formats (profile_*.cc) alone.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "delegation/profile_file.h"
#include "delegation/profile_node.h"
#include "guard/verdict.h"

namespace deputy {

class ProfileFields {
 public:
  // `head` is a map; both outlive this.
  ProfileFields(const ProfileNode& head, ReadProfile& into) : head_(head), into_(into) {}

  // The key's value; nothing where it is absent or empty. `ours` is what it means here, where that has
  // another name.
  const ProfileNode* take(std::string_view key, std::string_view ours = {});

  // The same as a value of that type; another one is a mistake of the file, kept for its end, and nothing.
  Result<std::optional<std::string>> text(std::string_view key, std::string_view ours = {});
  Result<std::optional<bool>> truth(std::string_view key, std::string_view ours = {});
  Result<std::optional<int>> number(std::string_view key, std::string_view ours = {});  // from 1 on, or none
  Result<std::optional<Duration>> duration(std::string_view key);  // "10m", seconds, or none
  // A list of texts, or one text with commas between them; commas in brackets do not count.
  Result<std::optional<std::vector<ProfileNode>>> texts(std::string_view key, std::string_view ours = {});
  template <class E, std::size_t N>
  Result<std::optional<E>> choice(std::string_view key, const EnumNames<E, N>& names) {
    const ProfileNode* value = take(key);
    if (!value) return std::nullopt;
    if (const auto found = value_in(names, value->text)) return found;
    std::vector<std::string> words;
    for (const auto& [each, name] : names) words.emplace_back(name);
    return mistaken(wrong_choice(*value, key, words));
  }

  // Keys that are known there and mean nothing here.
  void ignore(std::span<const std::string_view> keys);
  // What is left is kept and warned of.
  void finish();

 private:
  std::nullopt_t mistaken(std::unexpected<Error> mistake) {
    into_.mistakes.push_back(std::move(mistake).error());
    return std::nullopt;
  }
  std::unexpected<Error> wrong_choice(const ProfileNode& value, std::string_view key,
                                      const std::vector<std::string>& words) const;

  const ProfileNode& head_;
  ReadProfile& into_;
  std::vector<std::string> known_;
};

// true or false, in the words that YAML has for them; another value is an Error.
Result<bool> truth_in(const ProfileNode& value, std::string_view key);

// "line 3: max_turns is 'many'" and what it must be.
std::unexpected<Error> wrong_value(const ProfileNode& value, std::string_view key, std::string_view must_be);

// What a pattern in another program's brackets is in a rule of ours.
using PatternReader = std::string (*)(std::string_view tool, std::string_view pattern, Decision decision);

// Kept with the file's other mistakes, so that all are told at once.
void keep_mistake(ReadProfile& read, Result<void> done);

// Grants what a tool list names, in any spelling: "LS", "Bash(git:*)", "Agent(reviewer)", "*".
void add_tools(ReadProfile& read, std::span<const ProfileNode> written, PatternReader pattern_of = nullptr);
void add_all_tools(ReadProfile& read);
// Takes away what it names; a pattern becomes a rule. A name that is no tool is a mistake: what was meant to
// be taken away would stay.
void remove_tools(ReadProfile& read, std::span<const ProfileNode> written,
                  PatternReader pattern_of = nullptr);
// What is no rule is a mistake.
void add_rule(ReadProfile& read, Decision decision, std::string rule, int line);

// What holds where the file does not say it: Note for all, and a workspace by what the tools do.
void settle(ReadProfile& read, std::optional<WorkspaceMode> workspace);

// A name that can be typed, and stands in paths and tool lists. One that cannot is a mistake.
void name_profile(ReadProfile& read, std::string_view written);
// Where its file has to say it.
void name_by_its_head(ReadProfile& read, const std::optional<std::string>& written);

// A model of another program's as provider/name; nothing for "inherit".
std::optional<ModelName> foreign_model(std::string_view written, std::string_view usual_provider,
                                       ReadProfile& read);

}  // namespace deputy
