#include "app/welcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "app/looks.h"
#include "app/session_text.h"
#include "base/text.h"
#include "tui/rows.h"

namespace deputy {
namespace {

// Lines that fit the screen: what a name is given to stands in a column of its own.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}
  void blank() { lines.emplace_back(); }
  void paragraph(std::string_view text, Tone tone = Tone::plain) {
    std::ranges::move(wrapped(line_of(text, tone), columns_), std::back_inserter(lines));
  }
  void row(std::string_view name, std::string_view about) {
    std::ranges::move(named_row(name, about, columns_), std::back_inserter(lines));
  }
  // A command line is there to be copied: where its column has no room for it, the whole row is its own.
  void command(std::string_view name, const std::string& typed, std::string_view about) {
    const auto rows = named_row(name, fmt::format("{} {}", typed, about), columns_);
    const bool is_whole =
        std::ranges::any_of(rows, [&](const Line& line) { return plain_text(line).contains(typed); });
    if (is_whole) return row(name, fmt::format("{} {}", typed, about));
    paragraph(fmt::format("  {}", name), Tone::accent);
    paragraph(typed);
    paragraph(fmt::format("    {}", about));
  }
  std::vector<Line> lines;

 private:
  std::size_t columns_;
};

// The rehearsal model is the default only where no key was found and no local server answered.
void add_what_was_found(Page& page, const ModelOffer& offer) {
  std::vector<std::string> names;
  for (const auto& provider : offer.providers) {
    const bool is_new = std::ranges::find(names, provider.key_variable) == names.end();
    if (provider.needs_key && is_new) names.push_back(provider.key_variable);
  }
  page.paragraph("No model is set up here yet.");
  page.row("keys", fmt::format("none: looked for {}", fmt::join(names, ", ")));
  for (const auto& provider : offer.providers) {
    if (provider.needs_key || provider.name == "compatible") continue;
    page.row(provider.name, fmt::format("no answer at {}", provider.endpoint.base_url));
  }
}

}  // namespace

std::size_t columns_of_screen() {
  return static_cast<std::size_t>(std::max(20, terminal_size(STDOUT_FILENO).columns - 1));
}

std::vector<Line> welcome_lines(const ModelName& model, const ModelOffer& offer, std::string_view workspace,
                                ModelWasNamed named, const AsTyped& as_typed, std::size_t columns) {
  Page page(columns);
  page.lines.push_back({{fmt::format("deputy {}", DEPUTY_VERSION), Tone::heading}});
  page.lines.back().push_back(line_of(fmt::format("  {}  {}", model.value, workspace), Tone::faint).front());
  if (!is_rehearsal(model) || named == ModelWasNamed::yes) {
    page.paragraph("Say what to do; agents may be asked to help. /help lists keys and commands.",
                   Tone::faint);
    return page.lines;
  }
  page.blank();
  add_what_was_found(page, offer);
  page.blank();
  page.paragraph(
      "You can try everything as it is: `rehearsal` plans by fixed rules, with the real tools, and is no "
      "language model. Ask for a survey of this folder, or for what is unfinished.");
  page.blank();
  page.paragraph("To set up a model, leave with /quit and do one of these:");
  page.row("a key", "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY)");
  page.row("this machine", "run an Ollama with a model in it");
  page.command("another server", as_typed("`deputy chat --model compatible/NAME`"),
               "with base_url in the settings");
  page.command("what works here", as_typed("`deputy doctor`"), "says it");
  page.command("what can be named", as_typed("`deputy models`"), "lists it");
  return page.lines;
}

std::vector<Line> unfinished_lines(const std::vector<Session>& roots, ReadIn where, std::size_t columns) {
  constexpr std::size_t kMostShown = 3;
  constexpr std::size_t kPromptCharacters = 60;
  if (roots.empty()) return {};
  const bool in_chat = where == ReadIn::chat;
  Page page(columns);
  page.blank();
  page.paragraph(
      fmt::format("Left unfinished; {} goes on with it:", in_chat ? "/resume ID" : "`deputy resume ID`"));
  for (const Session& root : std::span(roots).first(std::min(roots.size(), kMostShown))) {
    const std::string prompt = goal_of(root, kPromptCharacters);
    page.row(root.id.value, prompt.empty() ? made_visible(root.label) : prompt);
  }
  if (roots.size() > kMostShown)
    page.paragraph(fmt::format("  and {} more: {}", roots.size() - kMostShown,
                               in_chat ? "/sessions" : "`deputy sessions ls --live`"),
                   Tone::faint);
  return page.lines;
}

}  // namespace deputy
