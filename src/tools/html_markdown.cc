#include "tools/html_markdown.h"

#include <gumbo.h>

#include <memory_resource>
#include <vector>

#include "base/text.h"
#include "tools/html_elements.h"
#include "tools/markdown_writer.h"

namespace deputy {
namespace {

// Gumbo takes down its tree by recursion, as deep as the page nests: it never gets to, the arena goes at
// once.
class ParsedHtml {
 public:
  explicit ParsedHtml(std::string_view html) {
    GumboOptions options = kGumboDefaultOptions;
    options.max_errors = 0;
    options.userdata = &arena_;
    options.allocator = [](void* arena, std::size_t bytes) {
      return static_cast<std::pmr::memory_resource*>(arena)->allocate(bytes);
    };
    options.deallocator = [](void*, void*) {};
    output_ = gumbo_parse_with_options(&options, html.data(), html.size());
  }
  const GumboNode* document() const { return output_->document; }

 private:
  std::pmr::monotonic_buffer_resource arena_;
  GumboOutput* output_ = nullptr;
};

// What lies before one tag too many.
std::string_view bounded_tags(std::string_view html) {
  std::size_t tags = 0;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    if (++tags > kMaxHtmlTags) return html.substr(0, at);
  }
  return html;
}

class Walker {
 public:
  explicit Walker(const ResolveLink& resolve) : resolve_(resolve) {}

  // Without recursion: pages may nest as deep as they like.
  void walk(const GumboNode* root) {
    std::vector<Visit> stack{{root}};
    while (!stack.empty()) {
      Visit& top = stack.back();
      const GumboVector* children = children_of(top.node);
      if (top.next == 0 && !enter(top)) {
        stack.pop_back();
        continue;
      }
      if (children && top.next < children->length) {
        const auto* child = static_cast<const GumboNode*>(children->data[top.next++]);
        stack.push_back({child});
        continue;
      }
      leave(top);
      stack.pop_back();
    }
  }
  Page take() { return {.title = on_one_line(title_), .markdown = writer_.take()}; }

 private:
  struct Visit {
    const GumboNode* node;
    unsigned next = 0;
    std::string_view open = {};  // the mark that it has put
    std::string close = {};      // what ends it
    std::size_t prefix = 0;      // bytes of prefix that it has put
  };
  struct List {
    bool is_ordered = false;
    int number = 0;
  };

  static const GumboVector* children_of(const GumboNode* node) {
    if (node->type == GUMBO_NODE_DOCUMENT) return &node->v.document.children;
    if (node->type == GUMBO_NODE_ELEMENT) return &node->v.element.children;
    return nullptr;
  }

  // False where the node and all in it is left out, or is done already.
  bool enter(Visit& visit) {
    const GumboNode* node = visit.node;
    if (node->type == GUMBO_NODE_DOCUMENT) return true;
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
        node->type == GUMBO_NODE_CDATA) {
      if (preformatted_ > 0) {
        writer_.raw(node->v.text.text);
      } else {
        writer_.text(node->v.text.text);
      }
      return false;
    }
    if (node->type != GUMBO_NODE_ELEMENT) return false;
    const GumboElement& element = node->v.element;
    if (element.tag == GUMBO_TAG_HEAD) take_title(element);
    if (is_skipped(element.tag) || gumbo_get_attribute(&element.attributes, "hidden")) return false;
    return enter_element(visit, element);
  }

  bool enter_element(Visit& visit, const GumboElement& element) {
    if (const int level = heading_level(element.tag)) {
      writer_.line(1);
      writer_.open(std::string(static_cast<std::size_t>(level), '#') + " ");
      return true;
    }
    switch (element.tag) {
      case GUMBO_TAG_BR:
        writer_.line(0);
        return false;
      case GUMBO_TAG_HR:
        writer_.line(1);
        writer_.text("---");
        writer_.line(1);
        return false;
      case GUMBO_TAG_IMG:
        if (const std::string alt = on_one_line(attribute(element, "alt")); !alt.empty())
          writer_.text("[image: " + alt + "]");
        return false;
      case GUMBO_TAG_A:
        open_link(visit, element);
        return true;
      case GUMBO_TAG_UL:
      case GUMBO_TAG_OL:
        writer_.line(lists_.empty() ? 1 : 0);
        lists_.push_back({element.tag == GUMBO_TAG_OL});
        return true;
      case GUMBO_TAG_LI:
        open_item(visit);
        return true;
      case GUMBO_TAG_BLOCKQUOTE:
        writer_.line(1);
        push_prefix(visit, "> ");
        return true;
      case GUMBO_TAG_PRE:
        writer_.line(1);
        writer_.raw("```\n");
        ++preformatted_;
        return true;
      case GUMBO_TAG_TR:
        writer_.line(0);
        writer_.open("| ");
        return true;
      case GUMBO_TAG_TD:
      case GUMBO_TAG_TH:
        visit.close = " |";
        writer_.text(" ");
        return true;
      default:
        break;
    }
    if (const auto mark = emphasis_of(element.tag); !mark.empty() && preformatted_ == 0) {
      writer_.open(mark);
      visit.open = mark;
      visit.close = mark;
    } else if (is_block(element.tag)) {
      writer_.line(1);
    }
    return true;
  }

  void leave(Visit& visit) {
    if (visit.node->type != GUMBO_NODE_ELEMENT) return;
    const GumboTag tag = visit.node->v.element.tag;
    if (tag == GUMBO_TAG_PRE) {
      --preformatted_;
      writer_.raw("\n```");
    }
    if (!visit.close.empty()) writer_.close(visit.open, visit.close);
    if (tag == GUMBO_TAG_UL || tag == GUMBO_TAG_OL) lists_.pop_back();
    if (visit.prefix > 0) {
      writer_.pop_prefix(visit.prefix);
      --depth_of_prefixes_;
    }
    if (tag == GUMBO_TAG_LI || tag == GUMBO_TAG_TR) {
      writer_.line(0);
    } else if (is_block(tag) || heading_level(tag) > 0) {
      writer_.line(lists_.empty() ? 1 : 0);
    }
  }

  void open_link(Visit& visit, const GumboElement& element) {
    const std::string address = attribute(element, "href");
    const std::string target = address.empty() || preformatted_ > 0 ? std::string() : resolve_(address);
    if (target.empty()) return;
    writer_.open("[");
    visit.open = "[";
    visit.close = "](" + target + ")";
  }

  void open_item(Visit& visit) {
    writer_.line(0);
    const bool is_ordered = !lists_.empty() && lists_.back().is_ordered;
    const std::string mark = is_ordered ? std::to_string(++lists_.back().number) + ". " : "- ";
    writer_.open(mark);
    push_prefix(visit, is_ordered ? "   " : "  ");
  }

  void push_prefix(Visit& visit, std::string_view prefix) {
    if (depth_of_prefixes_ >= kMostPrefixes) return;
    ++depth_of_prefixes_;
    writer_.push_prefix(prefix);
    visit.prefix = prefix.size();
  }

  void take_title(const GumboElement& head) {
    for (unsigned i = 0; i < head.children.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(head.children.data[i]);
      if (child->type != GUMBO_NODE_ELEMENT || child->v.element.tag != GUMBO_TAG_TITLE) continue;
      const GumboVector& texts = child->v.element.children;
      for (unsigned t = 0; t < texts.length; ++t) {
        const auto* text = static_cast<const GumboNode*>(texts.data[t]);
        if (text->type == GUMBO_NODE_TEXT) title_ += text->v.text.text;
      }
      return;
    }
  }

  // Else a page of nested lists would come out in the square of its size.
  static constexpr int kMostPrefixes = 12;

  const ResolveLink& resolve_;
  MarkdownWriter writer_;
  std::vector<List> lists_;
  int preformatted_ = 0;
  int depth_of_prefixes_ = 0;
  std::string title_;
};

}  // namespace

Page page_of(std::string_view html, const ResolveLink& resolve) {
  const std::string text = to_utf8(bounded_tags(html));
  const ParsedHtml parsed(text);
  Walker walker(resolve);
  walker.walk(parsed.document());
  Page page = walker.take();
  page.cut = bounded_tags(html).size() < html.size();
  return page;
}

}  // namespace deputy
