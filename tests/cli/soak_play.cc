#include "soak_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/tongues.h"
#include "support/hosted_provider.h"

namespace deputy {
namespace {

constexpr std::string_view kResult = "## Subagent Result";

std::string child_task(int child) { return fmt::format("CHILD {}.", child); }

// The number behind the root's task, if any.
std::string tree_in(std::string_view request) {
  const std::string_view rest = request.substr(request.find(kRootTask) + kRootTask.size());
  const std::size_t end = std::min(rest.find_first_not_of(" 0123456789"), rest.size());
  return std::string(rest.substr(0, end));
}

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++count;
  return count;
}

// An effect that may be made once, and a command that leaves a process behind: at any time some child runs
// one.
std::string command_at(int child, int step, int lasting_seconds) {
  if (step == 1) return fmt::format("printf x >> {}", file_of(child));
  if (child % 8 == 0 && child / 8 % 4 == step % 4)
    return fmt::format("sleep {} >/dev/null 2>&1 & sleep 2", lasting_seconds);
  return {};
}

// What the model says: it follows from what the conversation holds, so it says the same after a resume.
Said said_to(const std::string& request, int lasting_seconds) {
  if (request.contains(kRootTask)) {
    const int results = count_of(request, kResult);
    if (results == kChildren) return {.text = std::string(kAllIsDone)};
    if (results > 0) return {.text = fmt::format("{} results came of {}", results, kChildren)};
    Said said{.text = "I hand it out."};
    for (int child = 0; child < kChildren; ++child) {
      said.calls.push_back(
          {fmt::format("call_{}", child), "task",
           fmt::format(R"({{"agent":"general","prompt":"{} {}"}})", child_task(child), tree_in(request))});
    }
    return said;
  }
  for (int child = 0; child < kChildren; ++child) {
    if (!request.contains(child_task(child))) continue;
    int step = 0;
    while (step < kSteps && request.contains(note_of(child, step))) ++step;
    if (step == kSteps) return {.text = "done"};
    Said said{.text = "I go on.",
              .calls = {{"call_n", "Note", fmt::format(R"({{"content":"{}"}})", note_of(child, step))}}};
    if (const std::string command = command_at(child, step, lasting_seconds); !command.empty())
      said.calls.push_back({"call_b", "Bash", fmt::format(R"({{"command":"{}"}})", command)});
    return said;
  }
  return {.text = "neither the root's nor a child's request"};
}

}  // namespace

std::string note_of(int child, int step) { return fmt::format("note {}/{}.", child, step); }
std::string file_of(int child) { return fmt::format("out_{}", child); }

FaultProgram GoingWrong::answer(const std::string& request) {
  const std::string body =
      answer_in(Tongue::anthropic, said_to(request, lasting_seconds_)).chunks.front().bytes;
  const std::string good = http_answer(
      200,
      {{"content-type", "text/event-stream; charset=utf-8"}, {"content-length", std::to_string(body.size())}},
      body);
  ++requests;
  switch (chance_of(request)) {
    case Wrong::reset:
      return {fault::Reset{}};
    case Wrong::cut_off:
      return {fault::Send{good.substr(0, good.size() - body.size() / 2)}};
    case Wrong::failed:
      return {fault::Send{http_answer(500, {{"content-length", "0"}}, "")}, fault::KeepOpen{}};
    case Wrong::dripped:
      return {fault::Drip{good}, fault::KeepOpen{}};
    case Wrong::turned_down:
      return {fault::Send{http_answer(429, {{"content-length", "0"}, {"retry-after", "1"}}, "")},
              fault::KeepOpen{}};
    case Wrong::nothing:
      break;
  }
  return {fault::Drip{good.substr(0, 1), thinking_}, fault::Send{good.substr(1)}, fault::KeepOpen{}};
}

Wrong wrong_by(std::uint64_t chance) {
  const std::uint64_t one_of = chance % 480;
  if (one_of < 20) return Wrong::reset;
  if (one_of < 40) return Wrong::cut_off;
  if (one_of < 60) return Wrong::failed;
  if (one_of < 80) return Wrong::dripped;
  return one_of == 80 ? Wrong::turned_down : Wrong::nothing;
}

Wrong GoingWrong::chance_of(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const std::size_t head = request.find("\r\n\r\n");
  const bool is_new =
      seen_.insert(std::hash<std::string>()(request.substr(std::min(head, request.size())))).second;
  const Wrong wrong = is_new ? wrong_by(chance_()) : Wrong::nothing;
  if (wrong != Wrong::nothing) ++faults;
  return wrong;
}

}  // namespace deputy
