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
  // `path` and `glob` as the model wrote them; an empty glob means every file. Does not look at the disk.
  static Result<SearchScope> make(const ToolContext& context, std::string_view tool, std::string_view path,
                                  std::string_view glob);

  const std::string& path() const { return path_; }
  Hidden hidden() const { return hidden_; }
  // Options for ripgrep that leave out most of what meant() would. Its own --glob will not do: it would
  // search ignored files.
  std::vector<std::string> narrowing() const;

  enum class Answer { not_meant, withheld, shown };
  Answer judge(std::string_view found) const;

  const Sight& sight() const { return sight_; }

 private:
  SearchScope(std::string tool, std::string path, Sight sight)
      : tool_(std::move(tool)), path_(std::move(path)), sight_(std::move(sight)) {}
  bool is_meant(std::string_view found) const;

  std::string tool_;
  std::string path_;
  Sight sight_;
  std::optional<Glob> glob_;
  Hidden hidden_ = Hidden::skip;
};

}  // namespace deputy
