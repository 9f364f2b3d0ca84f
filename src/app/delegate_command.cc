#include "app/batch_input.h"
#include "app/commands.h"
#include "app/places.h"
#include "app/tree_command.h"
#include "app/tree_result.h"

namespace deputy {
namespace {

Result<std::string> text_of_file(const Program& program, const std::string& file) {
  if (file == "-") return read_stdin(kMostBatchBytes);
  TRY(const auto path, absolute_path(file, program.disk.current_folder()));
  return read_named_file(program.disk, path, kMostBatchBytes);
}

OrFailure<json::object> batch_of(const Program& program, const BatchArguments& arguments) {
  if (arguments.file && !arguments.tasks.empty())
    return misused("--task and --file were both given", "leave one of them out");
  if (!arguments.file && arguments.tasks.empty()) {
    return misused("there is nothing to delegate", "give --task LABEL=PROMPT, or --file FILE");
  }
  if (!arguments.file) return or_misused(batch_from_tasks(arguments));
  TRY(const auto text, or_misused(text_of_file(program, *arguments.file)));
  return or_misused(batch_from_file(text, arguments));
}

}  // namespace

Ended delegate_command(Program& program, const BatchArguments& arguments) {
  TRY(auto model, chosen_model(program));
  TRY(const auto batch, batch_of(program, arguments));
  TRY(const auto limits, program.limits());
  TRY(check_batch_limits(limits));
  TRY(const auto end, start_tree(program, batch_work(batch, std::move(model))));
  return print_result(program, result_of(end));
}

}  // namespace deputy
