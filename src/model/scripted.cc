#include "model/scripted.h"

#include <fmt/format.h>

#include "async/sleep.h"
#include "base/json.h"
#include "base/text.h"
#include "model/cost.h"
#include "model/offline.h"
#include "model/script.h"

namespace deputy {
namespace {

constexpr std::size_t kShownCharacters = 200;

// Everything said since the last reply: a nudge may stand behind the results of tools.
std::string news_of(std::span<const Message> messages) {
  std::size_t from = messages.size();
  while (from > 0 && messages[from - 1].role != Role::assistant) --from;
  std::string news;
  for (const Message& message : messages.subspan(from)) {
    news.append(message.text).append(1, '\n');
    for (const ToolResult& result : message.results) news.append(result.content).append(1, '\n');
  }
  return news;
}

std::string log_line(const Request& request, int step, std::string_view news) {
  return to_json_text(json::object{{"label", to_utf8(request.label)},
                                   {"agent", to_utf8(request.agent)},
                                   {"depth", request.depth},
                                   {"step", step},
                                   {"messages", request.messages.size()},
                                   {"last", shorten(on_one_line(to_utf8(news)), kShownCharacters)}});
}

std::string who(const Request& request) {
  return fmt::format("label={} agent={} depth={}", request.label, request.agent, request.depth);
}

// The error is what a person has to know about the script.
std::expected<const ScriptedReply*, std::string> reply_for(const Script& script, const Request& request,
                                                           int step) {
  const auto index = session_for(script, request.label, request.agent, request.depth);
  if (!index) return std::unexpected(fmt::format("the script has no session that fits {}", who(request)));
  const auto& replies = script.sessions[*index].replies;
  if (static_cast<std::size_t>(step) < replies.size()) return &replies[static_cast<std::size_t>(step)];
  return std::unexpected(
      fmt::format("the script has no reply {} for session {}: sessions[{}] holds {}, counted from 0", step,
                  who(request), *index, replies.size()));
}

Reply failed(Reply reply, std::string error) {
  reply.stop = ReplyStop::failed;
  reply.error = std::move(error);
  return reply;
}

Reply stopped(Reply reply) {
  reply.stop = ReplyStop::stopped;
  reply.error = "stopped";
  return reply;
}

void fill_in(Reply& reply, const ScriptedReply& scripted, const Request& request, int step) {
  reply.message.text = scripted.text;
  reply.message.calls = scripted.calls;
  for (std::size_t i = 0; i < reply.message.calls.size(); ++i) {
    std::string& id = reply.message.calls[i].id;
    if (id.empty()) id = fmt::format("call_{}_{}", step, i);
  }
  reply.stop = scripted.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
  reply.usage = scripted.usage ? *scripted.usage : estimated_usage(request, reply.message);
  // The price is known to be nothing, unless the script plays an expensive model.
  if (!reply.usage.cost_micros) reply.usage.cost_micros = 0;
  if (scripted.error) {
    reply.stop = scripted.error->stop;
    reply.error = scripted.error->message;
  }
}

}  // namespace

Result<std::unique_ptr<ScriptedProvider>> ScriptedProvider::parse(std::string_view script, Loop& loop,
                                                                  Log log) {
  TRY(Script read, parse_script(script));
  return std::unique_ptr<ScriptedProvider>(
      new ScriptedProvider(std::make_unique<Script>(std::move(read)), loop, std::move(log)));
}

ScriptedProvider::ScriptedProvider(std::unique_ptr<Script> script, Loop& loop, Log log)
    : script_(std::move(script)), loop_(loop), log_(std::move(log)) {}
ScriptedProvider::~ScriptedProvider() = default;

const std::string& ScriptedProvider::log_path() const { return script_->log; }

Task<Reply> ScriptedProvider::ask(Request request, DeltaSink deltas, StopToken stop) {
  const int step = request.replies_before + step_of(request.messages);
  const std::string news = news_of(request.messages);
  Reply reply;
  reply.message.role = Role::assistant;
  reply.usage = kUntaken;
  if (request.prefix) reply.model = request.prefix->model;
  if (log_ && !script_->log.empty()) log_(log_line(request, step, news));

  const auto chosen = reply_for(*script_, request, step);
  if (!chosen) co_return failed(std::move(reply), chosen.error());
  const ScriptedReply& scripted = **chosen;
  if (scripted.expected && !news.contains(*scripted.expected)) {
    co_return failed(
        std::move(reply),
        fmt::format("the script expected \"{}\" at step {} of {}, but was told: {}", *scripted.expected, step,
                    who(request), shorten(on_one_line(news), kShownCharacters)));
  }
  if (stop.stopped()) co_return stopped(std::move(reply));
  if (scripted.first_byte > Duration::zero()) {
    const Slept slept = co_await sleep_for(loop_, scripted.first_byte, stop);
    if (slept == Slept::stopped) co_return stopped(std::move(reply));
  }
  fill_in(reply, scripted, request, step);
  stream_text(reply.message.text, deltas);
  co_return reply;
}

}  // namespace deputy
