#include "tools/html_markdown.h"

#include <gumbo.h>

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <vector>

#include "base/text.h"

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

bool is_skipped(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_MATH:
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_CANVAS:
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_VIDEO:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_BUTTON:
      return true;
    default:
      return false;
  }
}

bool is_block(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_P:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_DD:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_SUMMARY:
      return true;
    default:
      return false;
  }
}

int heading_level(GumboTag tag) {
  return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6
             ? static_cast<int>(tag) - static_cast<int>(GUMBO_TAG_H1) + 1
             : 0;
}

std::string attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  return found ? found->value : "";
}

std::string_view emphasis_of(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_STRONG:
    case GUMBO_TAG_B:
      return "**";
    case GUMBO_TAG_EM:
    case GUMBO_TAG_I:
      return "*";
    case GUMBO_TAG_CODE:
    case GUMBO_TAG_KBD:
    case GUMBO_TAG_SAMP:
      return "`";
    default:
      return {};
  }
}

// Writes text with white space folded and blank lines between blocks, and never more of either than needed.
class Writer {
 public:
  void text(std::string_view piece) {
    for (const char c : piece) {
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f') {
        space_ = true;
      } else {
        put_pending();
        out_ += c;
      }
    }
  }
  // Marks open before a word and close after one, so that white space stays outside of them.
  void open(std::string_view mark) {
    put_pending();
    out_ += mark;
    space_ = false;
    after_mark_ = true;
  }
  // A mark with nothing after it goes again.
  void close(std::string_view opened, std::string_view mark) {
    if (after_mark_ && out_.ends_with(opened)) {
      out_.resize(out_.size() - opened.size());
    } else {
      out_ += mark;
    }
    after_mark_ = false;
  }
  void raw(std::string_view piece) {
    put_pending();
    space_ = false;
    for (const char c : piece) {
      out_ += c;
      if (c == '\n') out_ += prefix_;
    }
  }
  void line(int blank_lines) {
    space_ = false;
    lines_ = std::max(lines_, blank_lines + 1);
  }
  void push_prefix(std::string_view prefix) { prefix_ += prefix; }
  void pop_prefix(std::size_t bytes) { prefix_.resize(prefix_.size() - bytes); }
  std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  void put_pending() {
    if (lines_ > 0) {
      if (!out_.empty()) {
        for (int i = 0; i < lines_; ++i) {
          out_ += '\n';
          if (i + 1 < lines_ && prefix_.contains('>')) out_ += trimmed(prefix_);
        }
      }
      out_ += prefix_;
    } else if (out_.empty()) {
      out_ += prefix_;
    } else if (space_ && !after_mark_ && !out_.ends_with(' ')) {
      out_ += ' ';
    }
    lines_ = 0;
    space_ = after_mark_ = false;
  }

  std::string out_;
  std::string prefix_;  // of every line: quotation marks and indentation
  int lines_ = 0;       // line breaks owed before the next word
  bool space_ = false;  // white space owed
  bool after_mark_ = false;
};

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
  Writer writer_;
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
