#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/agents.h"
#include "app/agents_text.h"
#include "app/commands.h"
#include "app/places.h"
#include "app/run_on.h"
#include "app/trust.h"
#include "base/disk_names.h"
#include "base/text.h"
#include "delegation/profile_presets.h"

namespace deputy {
namespace {

json::object all_to_json(const std::vector<FoundProfile>& found) {
  json::array agents;
  for (const auto& each : found) agents.push_back(to_json(each));
  return {{"agents", std::move(agents)}};
}

Ended list(Program& program, const std::vector<FoundProfile>& found) {
  if (program.common.output == OutputForm::text) {
    program.out.write(program.redactor.redact(list_of_agents(found)));
  } else {
    program.print(all_to_json(found));
  }
  return ExitStatus::completed;
}

// The one that is used, else the first of that name.
Ended show(Program& program, const std::vector<FoundProfile>& found, const std::string& name) {
  const FoundProfile* chosen = nullptr;
  std::vector<std::string> names;
  for (const auto& each : found) {
    names.push_back(each.read.profile.name);
    if (each.read.profile.name == name && (!chosen || each.standing == Standing::used)) chosen = &each;
  }
  if (!chosen) {
    const auto near = nearest(name, names, 1);
    return not_there(fmt::format("there is no agent '{}'", shorten(to_utf8(name), 64)),
                     near.empty() ? "see `deputy agents ls`" : fmt::format("did you mean {}?", near.front()));
  }
  if (program.common.output == OutputForm::text) {
    program.out.write(program.redactor.redact(shown_agent(*chosen)));
  } else {
    json::object value = to_json(*chosen);
    value["instructions"] = chosen->read.profile.instructions;
    program.print(value);
  }
  return ExitStatus::completed;
}

OrFailure<FoundProfile> read_named(const Program& program, const std::string& file) {
  TRY(const auto path, or_misused(absolute_path(file, program.disk.current_folder())));
  const auto [parent, leaf] = split_name(path);
  const std::string folder(parent.empty() ? "/" : parent);
  TRY(const auto opened, or_misused(program.disk.open(folder, IfAbsent::fail)));
  TRY(or_misused(opened->status(leaf)));
  return read_profile_file(*opened, leaf, {.above = folder, .name = ".", .format = format_of_file(path)});
}

Ended check(Program& program, std::vector<FoundProfile> found) {
  std::erase_if(found, [](const FoundProfile& each) { return each.origin == ProfileOrigin::built_in; });
  if (program.common.output == OutputForm::text) {
    for (const auto& each : found) program.out.write(program.redactor.redact(checked_agent(each)));
    program.out.write(found.empty() ? "no agents but the built-in ones\n" : counted(found));
  } else {
    program.print(all_to_json(found));
  }
  return std::ranges::all_of(found, is_sound) ? ExitStatus::completed : ExitStatus::failed;
}

Ended init(Program& program, const AgentsArguments& arguments, std::string_view workspace) {
  const auto text = preset_text(arguments.name);
  if (!text)
    return not_there(fmt::format("there is no preset '{}'", shorten(to_utf8(arguments.name), 64)),
                     fmt::format("choose one of {}", fmt::join(preset_names(), ", ")));
  const auto origin = arguments.in_project ? ProfileOrigin::project : ProfileOrigin::person;
  const auto places = profile_places(workspace, program.environment);
  const auto place = std::ranges::find_if(places, [origin](const ProfilePlace& each) {
    return each.origin == origin && each.format == ProfileFormat::deputy;
  });
  if (place == places.end())
    return misused("there is no folder for your agents: HOME is not set", "set it, or use --project");
  TRY(const auto folder, program.disk.open(place->folder(), IfAbsent::create));
  const std::string agent = arguments.name == "blank" ? "my-agent" : arguments.name;  // as the text says
  const std::string name = fmt::format("{}.md", agent);
  const std::string path = join_path(place->folder(), name);
  if (folder->status(name))
    return misused(fmt::format("{} exists already", path), "change it there, or remove it first");
  TRY(folder->replace(name, *text));
  if (program.common.output == OutputForm::text) {
    program.out.write_line(path);
  } else {
    program.print(json::object{{"path", path}});
  }
  program.err.write_line(fmt::format("deputy: change it to your needs, `{}` tells what it means; then `{}`{}",
                                     program.command_line(fmt::format("agents check {}", shell_quoted(path))),
                                     program.command_line(fmt::format("task {} …", agent)),
                                     arguments.in_project ? fmt::format(", once you trust this folder (`{}`)",
                                                                        program.command_line("agents trust"))
                                                          : ""));
  return ExitStatus::completed;
}

Task<> set_trust_of(Loop& loop, std::shared_ptr<const Folder> home, std::string folder, Trust trust,
                    Result<void>& done) {
  done = co_await set_trust(loop, std::move(home), std::move(folder), trust);
}

Ended trust(Program& program, const AgentsArguments& arguments, const std::string& workspace) {
  TRY(auto home, program.open_home());
  Result<void> done;
  run_on(program.loop, set_trust_of(program.loop, std::move(home), workspace,
                                    arguments.undo ? Trust::withdrawn : Trust::given, done));
  TRY(done);
  TRY(const auto found, find_agents(program, workspace));
  const auto count = std::ranges::count(found, ProfileOrigin::project, &FoundProfile::origin);
  if (program.common.output != OutputForm::text)
    program.print(json::object{{"folder", workspace}, {"trusted", !arguments.undo}, {"agents", count}});
  program.err.write_line(fmt::format("deputy: {} is {}trusted; it has {} agent{}",
                                     made_visible(to_utf8(workspace)), arguments.undo ? "no longer " : "",
                                     count, count == 1 ? "" : "s"));
  return ExitStatus::completed;
}

}  // namespace

Ended agents_command(Program& program, const AgentsArguments& arguments) {
  TRY(const auto workspace, program.workspace());
  if (arguments.action == AgentsAction::init) return init(program, arguments, workspace);
  if (arguments.action == AgentsAction::trust) return trust(program, arguments, workspace);
  if (arguments.action == AgentsAction::check && !arguments.name.empty()) {
    TRY(auto one, read_named(program, arguments.name));
    TRY(const auto others, find_agents(program, workspace));
    Profiles profiles = profiles_of(others);
    if (one.standing == Standing::used) profiles.add(one.read.profile);  // it may name itself
    warn_of_nobody(one, profiles);
    return check(program, {std::move(one)});
  }
  TRY(auto found, find_agents(program, workspace));
  if (arguments.action == AgentsAction::show) return show(program, found, arguments.name);
  if (arguments.action == AgentsAction::check) return check(program, std::move(found));
  return list(program, found);
}

}  // namespace deputy
