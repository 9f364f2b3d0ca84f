#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "base/text.h"
#include "delegation/profile_node.h"

namespace deputy {
namespace {

struct Refused {
  int line = 0;
  std::string why;
};

// Builds the tree from the library's events, which come one by one however the text refers to itself: an
// alias is refused where it stands, and nothing is ever multiplied.
class TreeBuilder final : public YAML::EventHandler {
 public:
  ProfileNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add({.line = line_of(mark)}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{line_of(mark), "aliases are not read"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    add({.kind = ProfileNode::Kind::text, .text = value, .is_quoted = tag != "?", .line = line_of(mark)});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin({.kind = ProfileNode::Kind::list, .line = line_of(mark)});
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin({.kind = ProfileNode::Kind::map, .line = line_of(mark)});
  }
  void OnMapEnd() override { end(); }

 private:
  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }

  void begin(ProfileNode node) {
    if (open_.size() >= static_cast<std::size_t>(kMostNodeDepth))
      throw Refused{node.line, fmt::format("it is nested more than {} deep", kMostNodeDepth)};
    count(node.line);
    open_.push_back(std::move(node));
  }
  void end() {
    ProfileNode done = std::move(open_.back());
    open_.pop_back();
    place(std::move(done));
  }
  void add(ProfileNode node) {
    count(node.line);
    place(std::move(node));
  }
  void count(int line) {
    if (++nodes_ > kMostNodes)
      throw Refused{line, fmt::format("it holds more than {} values", with_thousands(kMostNodes))};
  }
  // In a map every other value is a key.
  void place(ProfileNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    ProfileNode& into = open_.back();
    if (into.kind == ProfileNode::Kind::map && into.keys.size() == into.items.size()) {
      if (node.kind == ProfileNode::Kind::list || node.kind == ProfileNode::Kind::map)
        throw Refused{node.line, "a key is no plain text"};
      into.keys.push_back(std::move(node.text));
    } else {
      into.items.push_back(std::move(node));
    }
  }

  ProfileNode root_;
  std::vector<ProfileNode> open_;
  std::size_t nodes_ = 0;
};

void move_lines(ProfileNode& node, int by) {
  node.line += by;
  for (auto& item : node.items) move_lines(item, by);
}

std::unexpected<Error> not_yaml(int line, std::string_view why) {
  return fail(ErrorCode::invalid, fmt::format("line {}: {}", line, on_one_line(made_visible(to_utf8(why)))),
              "mend it there, or put the value in quotes");
}

}  // namespace

Result<ProfileNode> read_yaml(std::string_view text, int first_line) {
  const int above = first_line - 1;
  TreeBuilder builder;
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
  } catch (const Refused& refused) {
    return not_yaml(refused.line + above, refused.why);
  } catch (const YAML::Exception& error) {
    return not_yaml(std::max(error.mark.line, 0) + 1 + above, error.msg);
  }
  ProfileNode root = builder.take();
  if (root.kind == ProfileNode::Kind::nothing) root.kind = ProfileNode::Kind::map;
  move_lines(root, above);
  if (root.kind == ProfileNode::Kind::map) return root;
  return not_yaml(root.line, fmt::format("it is {}, not a table of keys and values", kind_name(root)));
}

}  // namespace deputy
