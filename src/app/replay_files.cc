#include "app/replay_files.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

std::string heading_of(std::string_view path) { return fmt::format("=== {} ===\n", made_visible(path)); }

// Nothing where there is none of that number: a bundle may say anything.
auto* element(const auto& list, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < list.size() ? &list[static_cast<std::size_t>(index)]
                                                                     : nullptr;
}

// As with_context_files() put them together.
void put_context(const Folder& workspace, std::string_view told, const json::object& task) {
  const std::string prompt = string_or(task, "prompt", "");
  const auto* context = array_at(task, "context");
  if (!context || !told.ends_with(prompt)) return;
  told.remove_suffix(prompt.size());
  std::vector<std::string> paths;
  for (const auto& path : *context) paths.emplace_back(path.is_string() ? path.get_string() : "");
  for (std::size_t at = 0; at < paths.size(); ++at) {
    const std::string heading = heading_of(paths[at]);
    if (!told.starts_with(heading)) return;
    told.remove_prefix(heading.size());
    const bool is_last = at + 1 == paths.size();
    std::string_view text = is_last ? told : told.substr(0, told.find(heading_of(paths[at + 1])));
    told.remove_prefix(text.size());
    if (text.ends_with('\n')) text.remove_suffix(1);  // behind the line break that ends it
    put_file(workspace, paths[at], text);
  }
}

void put_artifacts(const Folder& workspace, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto* ended = std::get_if<RunEnded>(&event.fact);
    if (!ended) continue;
    for (const Artifact& artifact : ended->report->artifacts) put_file(workspace, artifact.path, "");
  }
}

// Each is named in a task of the call that made the child.
void put_contexts(const Folder& workspace, const std::vector<Event>& events) {
  std::map<std::tuple<RunId, int>, const Reply*> replies;  // by run and step
  for (const Event& event : events) {
    if (const auto* received = std::get_if<ReplyReceived>(&event.fact))
      replies[{event.run, event.step}] = &received->reply;
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (!created || !created->session->delegation) continue;
    const auto& [call, task] = *created->session->delegation;
    const auto reply = replies.find({call.run, call.step});
    const auto* asked = reply == replies.end() ? nullptr : element(reply->second->message.calls, call.index);
    const auto arguments = asked ? parse_json_object(asked->arguments) : json::object{};
    const auto* tasks = arguments ? array_at(*arguments, "tasks") : nullptr;
    const auto* told = tasks ? element(*tasks, task) : nullptr;
    if (told && told->is_object()) put_context(workspace, created->session->prompt, told->get_object());
  }
}

}  // namespace

void put_file(const Folder& workspace, std::string_view path, std::string_view text) {
  if (path.starts_with(workspace.path() + "/")) path.remove_prefix(workspace.path().size() + 1);
  if (path.starts_with('/')) return;
  if (const auto above = path.rfind('/'); above != std::string_view::npos)
    (void)workspace.make_folder(path.substr(0, above));
  (void)workspace.replace(path, text);
}

Result<void> put_files(const Disk& disk, const std::vector<Event>& events) {
  const Session& root = std::get<SessionCreated>(events.front().fact).session;
  TRY(const auto workspace, disk.open(root.workspace, IfAbsent::create));
  put_artifacts(*workspace, events);
  put_contexts(*workspace, events);
  return {};
}

}  // namespace deputy
