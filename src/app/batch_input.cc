#include "app/batch_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/delegate_tool.h"

namespace deputy {
namespace {

constexpr std::string_view kSeeHelp = "see `deputy delegate --help`";

std::string shown_label(std::string_view label) {
  return made_visible(shorten(on_one_line(to_utf8(label)), 40));
}

Result<json::object> task_from(std::string_view typed, const BatchArguments& arguments) {
  const std::size_t equals = typed.find('=');
  if (equals == std::string_view::npos) {
    return fail(ErrorCode::invalid, fmt::format("--task '{}' has no '='", shown_label(typed)),
                "write --task LABEL=PROMPT");
  }
  const std::string_view label = typed.substr(0, equals);
  const std::string_view prompt = typed.substr(equals + 1);
  if (!is_utf8(label)) {
    return fail(ErrorCode::invalid, fmt::format("the label '{}' is not valid UTF-8", shown_label(label)),
                "write it in UTF-8");
  }
  // The schema would count bytes that are no characters.
  TRY(check_prompt(prompt, fmt::format("the prompt of task [{}]", shown_label(label))));
  json::object task{{"label", label}, {"prompt", prompt}};
  if (!arguments.context.empty()) {
    auto& context = task["context"].emplace_array();
    for (const auto& path : arguments.context) {
      if (!is_utf8(path)) {
        return fail(ErrorCode::invalid, fmt::format("--context '{}' is not valid UTF-8", shown_label(path)),
                    "rename the file");
      }
      context.emplace_back(path);
    }
  }
  if (arguments.max_output_tokens) task["max_output_tokens"] = *arguments.max_output_tokens;
  return task;
}

void put_in_options(json::object& batch, const BatchArguments& arguments) {
  if (arguments.concurrency) batch["concurrency"] = *arguments.concurrency;
  if (arguments.layout) batch["return"] = to_utf8(*arguments.layout);
}

Result<json::object> checked(json::object batch) {
  static const JsonSchema schema =
      JsonSchema::compile(parse_json(DelegateTool::definition().schema).value()).value();
  if (const auto mistakes = schema.mistakes_in(batch); !mistakes.empty()) {
    return fail(ErrorCode::invalid, fmt::format("the batch is not valid: {}", fmt::join(mistakes, "; ")),
                std::string(kSeeHelp));
  }
  for (const auto& task : read_delegate_arguments(batch).tasks) {
    const auto whose = fmt::format("the prompt of task [{}]", shown_label(task.brief.label));
    TRY(check_prompt(task.brief.prompt, whose));
  }
  return batch;
}

}  // namespace

Result<void> check_prompt(std::string_view prompt, std::string_view whose) {
  if (prompt.size() > kMostPromptBytes) {
    return fail(ErrorCode::invalid,
                fmt::format("{} has {} bytes, more than the {} that are allowed", whose,
                            with_thousands(prompt.size()), with_thousands(kMostPromptBytes)),
                "put large material into files and name them, with --context for example");
  }
  if (trimmed(prompt).empty())
    return fail(ErrorCode::invalid, fmt::format("{} is empty", whose), "say what is to be done");
  if (is_utf8(prompt)) return {};
  return fail(ErrorCode::invalid, fmt::format("{} is not valid UTF-8", whose),
              "convert it, for example with iconv");
}

Result<json::object> batch_from_tasks(const BatchArguments& arguments) {
  json::object batch;
  auto& tasks = batch["tasks"].emplace_array();
  for (const auto& typed : arguments.tasks) {
    TRY(auto task, task_from(typed, arguments));
    tasks.emplace_back(std::move(task));
  }
  put_in_options(batch, arguments);
  return checked(std::move(batch));
}

Result<json::object> batch_from_file(std::string_view text, const BatchArguments& arguments) {
  if (!arguments.context.empty() || arguments.max_output_tokens) {
    return fail(ErrorCode::invalid, "--context and --max-output-tokens go with --task",
                "with --file, write them into the tasks of the file");
  }
  auto batch = parse_json_object(text);
  if (!batch)
    return fail(ErrorCode::invalid, fmt::format("the batch is not valid: {}", batch.error().message),
                std::string(kSeeHelp));
  put_in_options(*batch, arguments);
  return checked(*std::move(batch));
}

}  // namespace deputy
