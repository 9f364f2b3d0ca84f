#include "tools/search_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

bool is_dotted(std::string_view name) { return name.size() > 1 && name.starts_with('.') && name != ".."; }

// Asked of every file that a search comes upon, so it makes no list of the parts.
bool has_dotted_name(std::string_view path) {
  for (std::size_t end = 0; !path.empty(); path.remove_prefix(std::min(end + 1, path.size()))) {
    end = std::min(path.find('/'), path.size());
    if (is_dotted(path.substr(0, end))) return true;
  }
  return false;
}

Result<std::string> outside(const Folder& workspace, std::string_view glob) {
  return fail(ErrorCode::denied,
              fmt::format("the pattern {} lies outside the workspace {}", shown_path(shorten(glob, 120)),
                          workspace.path()),
              "give one that is relative to it");
}

// Relative to the workspace where it was absolute; a pattern without a slash is meant at any depth.
Result<std::string> plain_glob(const Folder& workspace, std::string_view glob) {
  const std::string root = workspace.path() == "/" ? "/" : workspace.path() + "/";
  if (glob.starts_with(root)) {
    glob.remove_prefix(root.size());
  } else if (glob.starts_with('/')) {
    return outside(workspace, glob);
  }
  const auto parts = split(glob, '/');
  if (std::ranges::find(parts, "..") != parts.end()) return outside(workspace, glob);
  return glob.contains('/') ? std::string(glob) : fmt::format("**/{}", glob);
}

}  // namespace

Result<SearchScope> SearchScope::make(const ToolContext& context, std::string_view tool,
                                      std::string_view glob) {
  TRY(Sight sight, Sight::of(context));
  SearchScope scope(std::string(tool), *context.target, std::move(sight));
  if (has_dotted_name(scope.path())) scope.hidden_ = Hidden::search;
  if (!glob.empty()) {
    TRY(const std::string pattern, plain_glob(*scope.target_.root, glob));
    TRY(scope.glob_, Glob::compile(pattern));
    if (std::ranges::any_of(scope.glob_->alternatives(), has_dotted_name)) scope.hidden_ = Hidden::search;
  }
  return scope;
}

std::vector<std::string> SearchScope::narrowing() const {
  std::vector<std::string> options;
  if (!glob_) return options;
  for (const std::string& alternative : glob_->alternatives()) {
    const std::string_view pattern = alternative;
    const std::string_view name = pattern.substr(pattern.rfind('/') + 1);  // npos + 1 is 0
    // What ripgrep might understand in another way than we do is not narrowed: is_meant() decides in the end.
    if (name.empty() || name == "*" || name.contains("**") ||
        name.find_first_of(":[\\") != std::string_view::npos) {
      return {};
    }
    options.push_back("--type-add");
    options.push_back(fmt::format("meant:{}", name));
  }
  options.insert(options.end(), {"--type", "meant"});
  return options;
}

std::string SearchScope::shown() const {
  return target_.name == "." ? "the workspace" : shorten(shown_path(target_.name), 200);
}

std::string SearchScope::judged_name(std::string_view found) const {
  return target_.name.starts_with('/') ? join_path(target_.root->path(), found) : std::string(found);
}

SearchScope::Answer SearchScope::judge_name(std::string_view found) const {
  if (!is_meant(found)) return Answer::not_meant;
  return sight_.shows(tool_, judged_name(found)) ? Answer::shown : Answer::withheld;
}

SearchScope::Answer SearchScope::judge_content(std::string_view found) const {
  const Answer by_name = judge_name(found);
  if (by_name != Answer::shown) return by_name;
  const auto place = target_.root->look_up(found);
  if (!place || (*place)->name() != found || !(*place)->status()) return Answer::withheld;
  return sight_.shows(tool_, judged_name(found), *(*place)->status()) ? Answer::shown : Answer::withheld;
}

bool SearchScope::is_meant(std::string_view found) const {
  std::string_view beneath = found;
  if (path() != ".") {
    if (!found.starts_with(path())) return false;
    beneath.remove_prefix(path().size());
    if (beneath.empty()) return true;  // the file that was asked for itself
    if (!beneath.starts_with('/')) return false;
    beneath.remove_prefix(1);
  }
  if (hidden_ == Hidden::skip && has_dotted_name(beneath)) return false;
  // Models mean either: relative to the path they gave, or to the workspace.
  return !glob_ || glob_->matches(beneath) || (beneath.size() < found.size() && glob_->matches(found));
}

}  // namespace deputy
