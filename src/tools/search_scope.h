// Which of the files that a search comes upon are meant and may be shown: those a glob names, beneath a path
// of the workspace, hidden ones only where path or glob name them with a dot, and none that Read's rules keep
// back. Shared by Grep and Glob.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "guard/glob.h"
#include "tools/ripgrep.h"
#include "tools/sight.h"

namespace deputy {

class SearchScope {
 public:
  // Of the call's target. `glob` as the model wrote it; an empty one means every file. Does not look at the
  // disk.
  static Result<SearchScope> make(const ToolContext& context, std::string_view tool, std::string_view glob);

  const Target& target() const { return target_; }
  // Beneath the root that is searched.
  const std::string& path() const { return target_.place->name(); }
  // The same for models: "the workspace", "src/guard".
  std::string shown() const;
  Hidden hidden() const { return hidden_; }
  // Options for ripgrep that leave out most of what meant() would. Its own --glob will not do: it would
  // search ignored files.
  std::vector<std::string> narrowing() const;

  enum class Answer { not_meant, withheld, shown };
  // Of a name beneath the root.
  Answer judge_name(std::string_view found) const;
  // Of what was found in the file: it is looked at once more, so that a link that took its place meanwhile
  // does not lend it its name.
  Answer judge_content(std::string_view found) const;

  const Sight& sight() const { return sight_; }

 private:
  SearchScope(std::string tool, Target target, Sight sight)
      : tool_(std::move(tool)), target_(std::move(target)), sight_(std::move(sight)) {}
  bool is_meant(std::string_view found) const;
  std::string judged_name(std::string_view found) const;

  std::string tool_;
  Target target_;
  Sight sight_;
  std::optional<Glob> glob_;
  Hidden hidden_ = Hidden::skip;
};

}  // namespace deputy
