#include "app/welcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "app/session_text.h"
#include "base/text.h"

namespace deputy {
namespace {

Line row(std::string_view left, std::string_view right) {
  Line line = line_of(fmt::format("  {:<18}", left), Tone::accent);
  line.push_back(line_of(right).front());
  return line;
}

// The rehearsal model is the default only where no key was found and no local server answered.
void add_what_was_found(std::vector<Line>& lines, const ModelOffer& offer) {
  std::vector<std::string> names;
  for (const auto& provider : offer.providers) {
    const bool is_new = std::ranges::find(names, provider.key_variable) == names.end();
    if (provider.needs_key && is_new) names.push_back(provider.key_variable);
  }
  lines.push_back(line_of("No model is set up here yet."));
  lines.push_back(row("keys", fmt::format("none: looked for {}", fmt::join(names, ", "))));
  for (const auto& provider : offer.providers) {
    if (provider.needs_key || provider.name == "compatible") continue;
    lines.push_back(row(provider.name, fmt::format("no answer at {}", provider.endpoint.base_url)));
  }
}

}  // namespace

std::vector<Line> welcome_lines(const ModelName& model, const ModelOffer& offer, std::string_view workspace,
                                ModelWasNamed named) {
  std::vector<Line> lines{{{fmt::format("deputy {}", DEPUTY_VERSION), Tone::heading}}};
  lines.back().push_back(line_of(fmt::format("  {}  {}", model.value, workspace), Tone::faint).front());
  if (!is_rehearsal(model) || named == ModelWasNamed::yes) {
    lines.push_back(
        line_of("Say what to do; agents may be asked to help. /help lists keys and commands.", Tone::faint));
    return lines;
  }
  lines.emplace_back();
  add_what_was_found(lines, offer);
  lines.emplace_back();
  lines.push_back(
      line_of("You can try everything as it is: `rehearsal` plans by fixed rules, with the real tools,"));
  lines.push_back(
      line_of("and is no language model. Ask for a survey of this folder, or for what is unfinished."));
  lines.emplace_back();
  lines.push_back(line_of("To set up a model, leave with /quit and do one of these:"));
  lines.push_back(row("a key", "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY)"));
  lines.push_back(row("this machine", "run an Ollama with a model in it"));
  lines.push_back(row("another server", "`deputy chat --model compatible/NAME`, base_url in the settings"));
  lines.push_back(row("more", "`deputy doctor` says what works here, `deputy models` what can be named"));
  return lines;
}

std::vector<Line> unfinished_lines(const std::vector<Session>& roots, ReadIn where) {
  constexpr std::size_t kMostShown = 3;
  constexpr std::size_t kPromptCharacters = 60;
  if (roots.empty()) return {};
  const bool in_chat = where == ReadIn::chat;
  std::vector<Line> lines{{},
                          line_of(fmt::format("Left unfinished; {} goes on with it:",
                                              in_chat ? "/resume ID" : "`deputy resume ID`"))};
  for (const Session& root : std::span(roots).first(std::min(roots.size(), kMostShown))) {
    const std::string prompt = goal_of(root, kPromptCharacters);
    lines.push_back(
        row(root.id.value, fmt::format("  {}", prompt.empty() ? made_visible(root.label) : prompt)));
  }
  if (roots.size() > kMostShown)
    lines.push_back(line_of(fmt::format("  and {} more: {}", roots.size() - kMostShown,
                                        in_chat ? "/sessions" : "`deputy sessions ls --live`"),
                            Tone::faint));
  return lines;
}

}  // namespace deputy
