#include "machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kExports = "/home/subagent";
constexpr std::string_view kRecords = "/home/commands/";
constexpr int kBySegv = 128 + 11;
constexpr int kByTerm = 128 + 15;

std::string in_exports(std::string_view name) { return fmt::format("{}/{}", kExports, name); }

std::string argument_of(const Call& call, std::string_view name) {
  const auto arguments = parse_json_object(call.arguments);
  return arguments ? string_or(*arguments, name, "") : "";
}

}  // namespace

Machine::Machine(std::uint64_t seed, SimWorld& world) : world_(world), chance_(seed, "the machine") {
  world_.disk.set_fault([this](std::string_view path) { return change(path); });
}

void Machine::begin_life(Life& life) {
  disk_ = Disk::works;
  may_start_ = true;
  for (auto& [name, is_of_this_life] : marred_) is_of_this_life = false;
  life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{}; });
  life.processes().set_fault([this, &life] { return start(life); });
}

void Machine::disk_fails(Life& life) {
  constexpr std::array<std::string_view, 4> kFolders{"/", "/work/", "/home/", kExports};
  disk_ = chance_.one_in(2) ? Disk::is_full : Disk::is_flaky;
  failing_ = kFolders[chance_.below(kFolders.size())];
  figures_[Figure::failing_disks] += 1;
  life.loop().timers().call_at(life.loop().clock().now() + 1s * (1 + chance_.below(100)),
                               [this] { disk_ = Disk::works; });
}

void Machine::no_process_starts(Life& life) {
  may_start_ = false;
  life.loop().timers().call_at(life.loop().clock().now() + 1s * (1 + chance_.below(100)),
                               [this] { may_start_ = true; });
}

Result<void> Machine::change(std::string_view path) {
  if (disk_ == Disk::works || !path.starts_with(failing_)) return {};
  // deputy-init begins no command of which it cannot write that down; here one has begun by then.
  if (path.starts_with(kRecords) && world_.disk.status(path)) return {};
  if (disk_ == Disk::is_flaky && chance_.one_in(2)) return {};
  figures_[Figure::failed_changes] += 1;
  if (path.starts_with(kExports)) marred_[std::string(path)] = true;
  if (disk_ == Disk::is_full)
    return fail(ErrorCode::exhausted, fmt::format("cannot write {}: No space left on device", path));
  return fail(ErrorCode::io, fmt::format("cannot write {}: Input/output error", path));
}

// Asked before each start, which is when it is decided how this one goes.
Result<void> Machine::start(Life& life) {
  if (!may_start_) {
    figures_[Figure::refused_starts] += 1;
    return fail(ErrorCode::exhausted, "no process can be started: Resource temporarily unavailable");
  }
  const bool hangs = chance_.one_in(15);
  const bool dies = !hangs && chance_.one_in(15);
  if (hangs) figures_[Figure::hung_commands] += 1;
  if (dies) figures_[Figure::killed_commands] += 1;
  const auto program = [this, dies](const ProcessSpec& spec) {
    effects_[spec.argv.back()] += 1;
    return ProcessResult{.exit_status = dies ? kBySegv : static_cast<int>(effects_.size() % 3),
                         .output = "counted"};
  };
  life.processes().define("bash", program, hangs ? Duration(24h) : Duration(50ms));
  return {};
}

std::string Machine::fault_after(const Event& event) {
  if (const auto* reply = std::get_if<ReplyReceived>(&event.fact))
    calls_[event.run.session] = reply->reply.message.calls;
  const auto* finished = std::get_if<CallFinished>(&event.fact);
  const auto& calls = calls_[event.run.session];
  if (!finished || event.call < 0 || static_cast<std::size_t>(event.call) >= calls.size()) return {};
  const Call& call = calls[static_cast<std::size_t>(event.call)];
  if (call.name == "Write") return fault_of_write(call, finished->result);
  if (call.name == "Bash") return fault_of_command(call, finished->result);
  return {};
}

// Each is of a file of its own: it is there, whole, or it never was.
std::string Machine::fault_of_write(const Call& call, const ToolResult& told) {
  figures_[Figure::told_truly] += 1;
  const std::string name = argument_of(call, "file_path");
  const auto folder = world_.disk.open(Life::kWorkspace, IfAbsent::fail);
  const auto text = folder ? (*folder)->read(name, 0, 100) : std::unexpected(folder.error());
  if (told.status == ToolStatus::ok && (!text || *text != "written"))
    return fmt::format("{} is not what it is told to be: {}", name, told.content);
  if (told.status == ToolStatus::error && text)
    return fmt::format("{} is there, and it is told: {}", name, told.content);
  return {};
}

// Whether it was run, or nobody knows that. One that never returns has no effect that is counted.
std::string Machine::fault_of_command(const Call& call, const ToolResult& told) {
  figures_[Figure::told_truly] += 1;
  const std::string command = argument_of(call, "command");
  const bool has_effect = effects_.contains(command);
  const bool may_have_none = !told.exit_status || *told.exit_status == kByTerm;
  const bool may_have_one = told.exit_status || told.content.contains("outcome unknown");
  if (has_effect ? may_have_one : may_have_none) return {};
  return fmt::format("{} was {}, and it is told: {}", command, has_effect ? "run" : "not run", told.content);
}

std::string Machine::fault_of_commands() const {
  const auto twice = std::ranges::find_if(effects_, [](const auto& each) { return each.second != 1; });
  return twice == effects_.end() ? "" : twice->first + " was run again";
}

bool Machine::is_open(const Session& session) const {
  const auto names = TranscriptFiles::names_for(session);
  return world_.disk.status(in_exports(names[0])) || !world_.disk.status(in_exports(names[1]));
}

std::string Machine::fault_of_files(const Store& store) const {
  const bool has_failed = std::ranges::any_of(marred_, [](const auto& each) { return each.second; });
  if (has_failed != store.export_failure().has_value())
    return has_failed ? "nobody is told that a transcript could not be written"
                      : "it is told that a transcript could not be written, and none was";
  const auto is_marred = [this](const std::string& name) {
    const auto found = marred_.find(in_exports(name));
    return found != marred_.end() && found->second;
  };
  for (const auto& [id, session] : world_.memory->sessions) {
    if (is_open(session) && std::ranges::none_of(TranscriptFiles::names_for(session), is_marred))
      return "the transcript of " + id.value + " was not sealed";
    if (auto fault = fault_of_notes(session); !fault.empty()) return fault;
  }
  return {};
}

std::string Machine::fault_of_notes(const Session& session) const {
  const std::string name = in_exports(TranscriptFiles::names_for(session)[2]);
  if (marred_.contains(name)) return {};
  std::string notes;
  for (const Event& event : world_.memory->journal) {
    const auto* note = std::get_if<NoteTaken>(&event.fact);
    if (note && event.run.session == session.id) notes += note->content + "\n";
  }
  const auto folder = world_.disk.open(kExports, IfAbsent::fail);
  const auto kept = (*folder)->read(TranscriptFiles::names_for(session)[2], 0, notes.size() + 1);
  return kept.value_or("") == notes ? "" : "the scratchpad of " + session.id.value + " is not what it noted";
}

std::string Machine::fault_after_next_start() {
  const auto& sessions = world_.memory->sessions;
  const auto open = [this](const auto& each) { return is_open(each.second); };
  const auto left = std::ranges::count_if(sessions, open);
  if (left == 0) return {};
  figures_[Figure::sealed_later] += static_cast<std::uint64_t>(left);
  disk_ = Disk::works;
  SimLoop loop(1);
  MemoryStore next(loop, world_.memory,
                   std::make_unique<TranscriptFiles>(*world_.disk.open(kExports, IfAbsent::fail)));
  const auto claimed = next.claim(sessions.begin()->second.tree);
  if (!claimed) return to_text(claimed.error());
  const auto still = std::ranges::find_if(sessions, open);
  return still == sessions.end() ? "" : "the next start did not seal " + still->first.value;
}

}  // namespace deputy
