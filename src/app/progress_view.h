// What a person sees of a running tree, computed from its events alone: a row a session, as a frame that is
// drawn again and again or as one plain line an event. Nothing in it can move the cursor or hide: control
// characters are made visible. Knows no terminal, no clock and no loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/looks.h"
#include "transcript/event.h"
#include "tui/line.h"
#include "tui/tree_view.h"

namespace deputy {

class ProgressView {
 public:
  explicit ProgressView(Style style) : style_(style) {}

  void apply(const Event& event, const EventOrigin& origin);
  // The model sums up what the session holds, so many tokens: what to print of it.
  std::optional<std::string> apply_summary_asked(const SessionId& session, std::int64_t tokens);

  // Every session a line, children below their parent; the most recent ones where there is not room for all.
  std::vector<Line> frame(TerminalSize size) const;

  enum class Detail { usual, all };
  // What to print of an event that was just applied; nothing for most.
  std::optional<std::string> line_for(const Event& event, Detail detail) const;

 private:
  // What the lines need of a session beside its place in the tree.
  struct Besides {
    int batch = 0;                              // how many children its last batch has
    std::map<std::string, QuestionKind> asked;  // by id
    std::vector<std::string> calls;             // the tools that its last reply wants to call
    std::set<int> begun;                        // those of them that were not refused
  };
  struct Applied;
  struct Told;

  const Besides& besides_of(const TreeNode& node) const { return besides_.find(node.id)->second; }
  Line line_of_row(const TreeRow& row, std::size_t label_width) const;
  std::string ending_of(const TreeNode& node, const Report& report) const;
  static std::optional<std::string> refusal_in(const Besides& besides, const Event& event);

  Style style_;
  TreeView tree_;
  std::map<SessionId, Besides> besides_;  // of every session in the tree
};

}  // namespace deputy
