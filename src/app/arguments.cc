#include "app/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "app/command_tree.h"
#include "app/command_words.h"
#include "base/text.h"

namespace deputy {
namespace {

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

Error wrong_value(const Typed& typed, std::string advice) {
  return {ErrorCode::invalid, fmt::format("{} is '{}'", typed.name(), shorten(to_utf8(typed.text), 60)),
          std::move(advice)};
}

template <class T, std::size_t N>
Result<T> chosen(const Typed& typed, const Choice<T> (&choices)[N], T otherwise) {
  if (!typed.value()) return otherwise;
  std::vector<std::string_view> words;
  for (const auto& choice : choices) {
    if (choice.word == typed.text) return choice.value;
    words.push_back(choice.word);
  }
  return std::unexpected(wrong_value(typed, fmt::format("it must be {}", fmt::join(words, " or "))));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class T>
Result<std::optional<T>> limit(const Typed& typed, std::optional<T> (*read)(std::string_view),
                               std::string_view must_be) {
  if (!typed.value()) return std::nullopt;
  if (const auto value = read(typed.text)) return value;
  return std::unexpected(wrong_value(typed, std::string(must_be)));
}

Result<LimitSettings> limits_of(const Words& typed) {
  LimitSettings limits;
  TRY(limits.max_depth, limit(typed.max_depth, count_limit, kWholeLimit));
  TRY(limits.max_delegations, limit(typed.max_delegations, count_limit, kWholeLimit));
  TRY(limits.max_children, limit(typed.max_children, count_limit, kWholeLimit));
  TRY(limits.max_live, limit(typed.max_live, count_limit, kWholeLimit));
  TRY(limits.max_steps, limit(typed.max_steps, whole_limit, kWholeLimit));
  TRY(limits.max_tokens, limit(typed.max_tokens, whole_limit, kWholeLimit));
  TRY(limits.max_cost_micros, limit(typed.max_cost, dollar_limit, kDollarLimit));
  TRY(limits.timeout, limit(typed.timeout, time_limit, kTimeLimit));
  return limits;
}

Result<std::optional<std::int64_t>> number(const Typed& typed) {
  if (!typed.value()) return std::nullopt;
  if (const auto found = whole_number(typed.text)) return found;
  return std::unexpected(wrong_value(typed, "it must be a whole number"));
}

Result<std::vector<Rule>> rules_of(const Words& typed) {
  std::vector<Rule> rules;
  for (const auto& [decision, texts] :
       {std::pair(Decision::allow, &typed.allow), std::pair(Decision::ask, &typed.ask),
        std::pair(Decision::deny, &typed.deny)}) {
    for (const auto& text : *texts) {
      TRY(auto rule, parse_rule(decision, text));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

// An empty word is a shell's variable that was not set, and means neither a default nor all there is.
Result<std::optional<std::string>> named(const Typed& typed, std::string_view advice) {
  if (typed.value() && typed.text.empty()) return std::unexpected(wrong_value(typed, std::string(advice)));
  return typed.value();
}

constexpr Choice<OutputForm> kForms[] = {
    {"text", OutputForm::text}, {"json", OutputForm::json}, {"stream-json", OutputForm::stream_json}};

Result<CommonArguments> common_of(const Words& typed) {
  constexpr Choice<ColourChoice> kColours[] = {
      {"auto", ColourChoice::automatic}, {"always", ColourChoice::always}, {"never", ColourChoice::never}};
  CommonArguments common;
  TRY(common.model, named(typed.model, "name one that `deputy models` lists, or leave it out"));
  TRY(common.cwd, named(typed.cwd, "name a folder, or leave it out"));
  TRY(common.home, named(typed.home, "name a folder, or leave it out"));
  TRY(common.config, named(typed.config, "name a file, or leave it out"));
  TRY(common.output, chosen(typed.output, kForms, common.output));
  TRY(common.colour, chosen(typed.colour, kColours, common.colour));
  TRY(common.rules, rules_of(typed));
  TRY(common.limits, limits_of(typed));
  common.approve_all = typed.yes;
  common.plain = typed.plain;
  common.verbose = typed.verbose;
  return common;
}

Result<BatchArguments> batch_of(const Words& typed) {
  BatchArguments batch{.tasks = typed.tasks,
                       .file = typed.file.value(),
                       .context = typed.context,
                       .layout = typed.layout.value()};
  TRY(batch.concurrency, number(typed.concurrency));
  TRY(batch.max_output_tokens, number(typed.max_output_tokens));
  return batch;
}

Result<SessionsArguments> sessions_of(const Words& typed) {
  SessionsArguments sessions = typed.sessions;
  if ((sessions.view == SessionView::answer || sessions.view == SessionView::nudge) && sessions.text.empty())
    return fail(ErrorCode::invalid, "the text is empty", "write what it is to be told");
  if (sessions.view == SessionView::prune) {
    TRY(const auto id, named(typed.pruned, "name a tree, or leave it out for all that ended long ago"));
    sessions.id = id.value_or("");
  }
  TRY(sessions.older_than,
      limit(typed.older_than, parse_duration, "it must be a time such as 12h, 7d or 30d"));
  return sessions;
}

Result<AgentsArguments> agents_of(const Words& typed) {
  AgentsArguments agents = typed.agents;
  if (agents.action == AgentsAction::check) {
    TRY(const auto file, named(typed.checked, "name a file, or leave it out for all of them"));
    agents.name = file.value_or("");
  }
  return agents;
}

Result<DoctorArguments> doctor_of(const Words& typed) {
  if (typed.bundled.value() && typed.replayed.value())
    return fail(ErrorCode::invalid, "a bundle is made or replayed, not both",
                "leave --bundle or --replay out");
  return DoctorArguments{typed.bundled.value(), typed.replayed.value()};
}

Result<TextArguments> completions_for(const Typed& shell) {
  using Writer = std::string (*)(const CommandTree&);
  constexpr Choice<Writer> kShells[] = {
      {"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}};
  TRY(const Writer writer, chosen(shell, kShells, Writer{bash_completions}));
  return TextArguments{writer(command_tree())};
}

Result<CompleteArguments> names_of(const Typed& kind) {
  constexpr Choice<NamesOf> kKinds[] = {
      {"sessions", NamesOf::sessions}, {"agents", NamesOf::agents}, {"models", NamesOf::models}};
  TRY(const auto names, chosen(kind, kKinds, NamesOf::sessions));
  return CompleteArguments{names};
}

Result<decltype(Arguments::command)> command_of(const Words& typed) {
  const std::string& name = typed.command;
  if (name.empty() || name == "chat") {
    TRY(auto resume, named(typed.chat_resume, "name a session that `deputy sessions ls` lists"));
    return ChatArguments{!name.empty(), std::move(resume)};
  }
  if (name == "run") return RunArguments{typed.prompt.value()};
  if (name == "delegate") return batch_of(typed);
  if (name == "agents") return agents_of(typed);
  if (name == "task") {
    OneTaskArguments task{.agent = typed.task_agent,
                          .prompt = typed.task_prompt.value(),
                          .resume = typed.task_resume.value(),
                          .background = typed.task_background};
    const Typed& time = typed.task_timeout.value() ? typed.task_timeout : typed.timeout;
    TRY(task.timeout, limit(time, time_limit, kTimeLimit));
    return task;
  }
  if (name == "sessions") return sessions_of(typed);
  if (name == "resume") return ResumeArguments{typed.resumed.value()};
  if (name == "models") return ModelsArguments{};
  if (name == "doctor") return doctor_of(typed);
  if (name == "manual") return TextArguments{manual_page(command_tree())};
  if (name == "completions") return completions_for(typed.shell);
  if (name == "complete") return names_of(typed.completed);
  return DemoArguments{};
}

}  // namespace

Result<Arguments> parse_arguments(std::span<const std::string> words) {
  TRY(const auto told, told_apart(words));
  if (const auto* text = std::get_if<TextArguments>(&told))
    return Arguments{.common = {.output = output_wanted(words)}, .command = *text};
  const auto& typed = std::get<Words>(told);
  TRY(auto command, command_of(typed));
  TRY(auto common, common_of(typed));
  // Wherever the flag stands it is the time of the one agent that is run, and so of all that there is.
  if (const auto* task = std::get_if<OneTaskArguments>(&command); task && task->timeout)
    common.limits.timeout = kNoTimeout;
  return Arguments{std::move(common), std::move(command)};
}

OutputForm output_wanted(std::span<const std::string> words) {
  constexpr std::string_view kFlag = "--output";
  OutputForm wanted = OutputForm::text;
  for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    std::string_view value;
    if (words[at] == kFlag && at + 1 < words.size()) value = words[at + 1];
    if (words[at].starts_with("--output=")) value = std::string_view(words[at]).substr(kFlag.size() + 1);
    for (const auto& form : kForms) {
      if (form.word == value) wanted = form.value;
    }
  }
  return wanted;
}

}  // namespace deputy
