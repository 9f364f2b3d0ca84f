#include <fmt/format.h>

#include <algorithm>

#include "async/sleep.h"
#include "sandbox/processes.h"
#include "sandbox/watch.h"

namespace deputy {

void SimProcesses::define(std::string name, Program program, Duration takes) {
  programs_.insert_or_assign(std::move(name), Defined{std::move(program), takes});
}

Task<Result<ProcessResult>> SimProcesses::run(ProcessSpec spec, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  if (spec.argv.empty())
    co_return fail(ErrorCode::invalid, "no program was named", "give argv at least one element");
  const std::string name = spec.argv[0].substr(spec.argv[0].rfind('/') + 1);
  const auto found = programs_.find(name);
  if (found == programs_.end()) {
    co_return fail(ErrorCode::not_found, fmt::format("there is no program {}", spec.argv[0]),
                   fmt::format("install {}", name));
  }
  if (fault_) CO_TRY(fault_());
  const auto note = [&spec](const std::string& line) {
    if (spec.record) (void)spec.record->folder->append_to(spec.record->name, line);
  };
  note("confined 1 0\n");
  const Defined defined = found->second;  // it may be defined anew while this one runs
  const Duration time_limit = std::min(spec.time_limit, kLongestTimeLimit);
  const bool in_time = defined.takes <= time_limit;
  if (co_await sleep_for(loop_, in_time ? defined.takes : time_limit, stop) == Slept::stopped) {
    co_return std::unexpected(Error::cancelled());
  }
  // Beyond the time limit it dies like a real one: killed, with nothing to show.
  ProcessResult result =
      in_time ? defined.program(spec) : ProcessResult{.exit_status = 128 + 15, .timed_out = true};
  note(fmt::format("ended exit {}\n", result.exit_status));
  if (spec.on_use && defined.takes > Duration::zero())
    spec.on_use({.cpu = in_time ? defined.takes : time_limit, .memory = kSimMemory});
  const auto collect = [&](std::string& text, OutputEnd& end) {
    if (spec.on_output && !text.empty()) spec.on_output(text);
    Collected collected;
    collected.take(text, spec.max_output);
    text = std::move(collected.text);
    end = std::move(collected.end);
    result.cut = result.cut || collected.cut;
  };
  collect(result.output, result.output_end);
  collect(result.errors, result.errors_end);
  result.level = spec.need;
  co_return result;
}

}  // namespace deputy
