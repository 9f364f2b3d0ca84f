#include "model/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "model/cost.h"
#include "model/offline.h"
#include "model/rehearsal_choice.h"
#include "model/rehearsal_plan.h"
#include "model/rehearsal_report.h"
#include "model/rehearsal_run.h"
#include "transcript/event.h"

namespace deputy {
namespace {

constexpr std::size_t kMostReads = 3;
constexpr int kLinesOfAFile = 60;
constexpr int kLinesAround = 4;
constexpr int kMostCounts = 5000;
constexpr std::size_t kSummaryOfReport = 400;

// The tools on offer and how to call them. Schemas refuse what they do not know, so an argument that is not
// essential is sent only where the schema names it.
class Offers {
 public:
  explicit Offers(std::span<const ToolOffer> tools) : tools_(tools) {}

  bool has(std::string_view tool) const { return offer(tool) != nullptr; }

  bool takes(std::string_view tool, std::string_view argument) const {
    const ToolOffer* found = offer(tool);
    if (found == nullptr) return false;
    const auto schema = parse_json_object(found->schema);
    const json::object* properties = schema ? object_at(*schema, "properties") : nullptr;
    return properties != nullptr && find(*properties, argument) != nullptr;
  }

  // Adds a call, where the tool is offered.
  void call(std::vector<Call>& calls, std::string_view tool, json::object essential,
            const json::object& optional = {}) const {
    if (!has(tool)) return;
    for (const auto& [key, value] : optional) {
      if (takes(tool, key)) essential[key] = value;
    }
    calls.push_back({.id = "", .name = std::string(tool), .arguments = to_json_text(essential)});
  }

 private:
  const ToolOffer* offer(std::string_view tool) const {
    const auto found = std::ranges::find(tools_, tool, &ToolOffer::name);
    return found == tools_.end() ? nullptr : &*found;
  }
  std::span<const ToolOffer> tools_;
};

enum class Letters { as_written, of_any_case };

void call_grep(const Offers& offers, std::vector<Call>& calls, std::string pattern, Letters letters) {
  json::object optional{{"output_mode", "content"}};
  if (letters == Letters::of_any_case) optional["case_insensitive"] = true;
  offers.call(calls, "Grep", {{"pattern", std::move(pattern)}}, optional);
}

// The number of lines of each file, of as many files as a result can hold.
void call_count(const Offers& offers, std::vector<Call>& calls) {
  if (offers.takes("Grep", "output_mode"))
    offers.call(calls, "Grep", {{"pattern", "^"}, {"output_mode", "count"}}, {{"head_limit", kMostCounts}});
}

void call_list(const Offers& offers, std::vector<Call>& calls) {
  offers.call(calls, "List", {{"path", "."}});
}
void call_glob(const Offers& offers, std::vector<Call>& calls, std::string pattern) {
  offers.call(calls, "Glob", {{"pattern", std::move(pattern)}});
}

void call_read(const Offers& offers, std::vector<Call>& calls, std::string_view path, int from, int lines) {
  offers.call(calls, "Read", {{"file_path", path}}, {{"offset", std::max(1, from)}, {"limit", lines}});
}

std::string marks_pattern(Inquiry inquiry) {
  std::string pattern;
  for (const Mark& mark : marks_of(inquiry)) pattern.append(pattern.empty() ? "" : "|").append(mark.pattern);
  return pattern;
}

void search_for_mentions(const Plan& plan, const Offers& offers, std::vector<Call>& calls) {
  if (!plan.terms.empty()) call_grep(offers, calls, pattern_for(plan.terms), Letters::of_any_case);
  for (const std::string& file : plan.files) {
    if (calls.size() < 3) call_glob(offers, calls, "**/" + file.substr(file.rfind('/') + 1));
  }
}

std::vector<Call> searches(const Plan& plan, const Offers& offers) {
  std::vector<Call> calls;
  switch (plan.inquiry) {
    case Inquiry::survey:
      call_glob(offers, calls, "**/*");
      call_list(offers, calls);
      break;
    case Inquiry::unfinished:
      call_grep(offers, calls, marks_pattern(plan.inquiry), Letters::as_written);
      call_glob(offers, calls, "**/*");
      break;
    case Inquiry::risky:
      call_grep(offers, calls, marks_pattern(plan.inquiry), Letters::as_written);
      call_count(offers, calls);
      break;
    case Inquiry::mentions:
      search_for_mentions(plan, offers, calls);
      break;
  }
  // Whatever else shows names will do where the right tool is not granted.
  if (calls.empty()) call_glob(offers, calls, "**/*");
  if (calls.empty()) call_list(offers, calls);
  if (calls.empty()) call_count(offers, calls);
  return calls;
}

std::vector<Call> reads(const Plan& plan, const Findings& findings, const Offers& offers) {
  std::vector<Call> calls;
  for (const std::string& path : files_asked_for(plan, findings, kMostReads))
    call_read(offers, calls, path, 1, kLinesOfAFile);
  if (plan.inquiry == Inquiry::risky) {
    for (const Cite& file : longest_files(findings, 1))
      call_read(offers, calls, file.path, file.line - kLinesAround, kLinesAround + 1);
  }
  for (const Cite& hit : first_hits(plan, findings, kMostReads)) {
    if (calls.size() < kMostReads)
      call_read(offers, calls, hit.path, hit.line - kLinesAround, 2 * kLinesAround + 1);
  }
  if (!calls.empty()) return calls;
  std::vector<std::string> paths = findings.known_files();
  // With no list of names there is still the name that most folders have.
  const bool names_can_be_had = offers.has("Glob") || offers.has("List");
  if (paths.empty() && (!names_can_be_had || !findings.troubles.empty())) paths.emplace_back("README.md");
  for (const std::string& path : files_that_explain(paths, kMostReads))
    call_read(offers, calls, path, 1, kLinesOfAFile);
  return calls;
}

std::vector<Call> delegation(std::string_view prompt, const Offers& offers) {
  std::vector<Call> calls;
  json::array tasks;
  for (const RehearsalTask& task : tasks_for(prompt)) {
    tasks.push_back(json::object{{"label", task.label}, {"prompt", task.prompt}});
  }
  if (!tasks.empty()) offers.call(calls, "Delegate", {{"tasks", std::move(tasks)}}, {{"concurrency", 3}});
  return calls;
}

Message saying(std::string text, std::vector<Call> calls = {}) {
  Message message;
  message.role = Role::assistant;
  message.text = std::move(text);
  message.calls = std::move(calls);
  return message;
}

Message handed_in(const RunSoFar& run) {
  const json::object report{{"status", "completed"},
                            {"summary", shorten(on_one_line(run.last_text), kSummaryOfReport)},
                            {"body", run.last_text}};
  return saying("Handing in the report.",
                {{.id = "", .name = "task_completion", .arguments = to_json_text(report)}});
}

std::vector<Call> further_searches(const RunSoFar& run, const Findings& findings, const Offers& offers) {
  // Where the search itself does not work on this machine, a folder can still be listed.
  std::vector<Call> calls;
  const bool failed = !findings.troubles.empty() && findings.hits.empty() && findings.known_files().empty();
  if (failed && !run.has_called("List")) call_list(offers, calls);
  return calls;
}

// One agent's own work: search, read, note, report. A stage that has no call to make is passed over.
Message own_work(const RunSoFar& run, const Offers& offers) {
  const Plan plan = plan_for(run.prompt);
  const Findings findings = findings_of(run.answered);
  const bool searched = run.has_called("Grep") || run.has_called("Glob") || run.has_called("List");
  const bool read = run.has_called("Read");
  const bool noted = run.has_called("Note");
  if (run.report_now) return saying(report_text(plan, findings, run.nudges));
  if (!read && !noted) {
    auto calls = searched ? further_searches(run, findings, offers) : searches(plan, offers);
    if (!calls.empty())
      return saying(searched ? "Searching another way." : "Searching first.", std::move(calls));
    calls = reads(plan, findings, offers);
    if (!calls.empty()) return saying("Reading what was found.", std::move(calls));
  }
  if (!noted && offers.has("Note")) {
    std::vector<Call> calls;
    offers.call(calls, "Note", {{"content", note_text(plan, findings)}});
    return saying("Keeping the main finding.", std::move(calls));
  }
  return saying(report_text(plan, findings, run.nudges));
}

Message decided(const RunSoFar& run, const Offers& offers) {
  if (run.wants_completion && offers.has("task_completion") && !run.has_called("task_completion"))
    return handed_in(run);
  const Answered* delegated = run.first_call_of("Delegate");
  if (delegated == nullptr && run.answered.empty() && !run.report_now) {
    if (auto calls = delegation(run.prompt, offers); !calls.empty()) {
      return saying("Three children look at it side by side.", std::move(calls));
    }
  }
  if (delegated != nullptr && delegated->result.status == ToolStatus::ok) {
    if (const auto children = read_children(delegated->result.content); !children.empty())
      return saying(merged_text(children));
  }
  return own_work(run, offers);
}

}  // namespace

Message rehearsed(std::span<const ToolOffer> tools, std::span<const Message> messages, int replies_before) {
  if (!messages.empty() && messages.back().text == wish_for_summary().text)
    return saying(summary_text(messages.first(messages.size() - 1)));
  Message message = decided(run_so_far(messages), Offers(tools));
  const int step = replies_before + step_of(messages);
  for (std::size_t i = 0; i < message.calls.size(); ++i)
    message.calls[i].id = fmt::format("call_{}_{}", step, i);
  return message;
}

Task<Reply> RehearsalProvider::ask(Request request, DeltaSink deltas, StopToken stop) {
  Reply reply;
  reply.message.role = Role::assistant;
  if (request.prefix) reply.model = request.prefix->model;
  if (stop.stopped()) {
    reply.stop = ReplyStop::stopped;
    reply.usage = kUntaken;
    reply.error = "stopped";
    co_return reply;
  }
  const std::span<const ToolOffer> tools =
      request.prefix ? std::span(request.prefix->tools) : std::span<const ToolOffer>();
  reply.message = rehearsed(tools, request.messages, request.replies_before);
  reply.stop = reply.message.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
  reply.usage = estimated_usage(request, reply.message);
  reply.usage.cost_micros = 0;
  stream_text(reply.message.text, deltas);
  co_return reply;
}

}  // namespace deputy
