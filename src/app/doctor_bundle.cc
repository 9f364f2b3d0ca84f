// `deputy doctor --bundle` and `--replay`: a tree's journal in one file, without secrets, and the same tree
// again from such a file.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "app/agents.h"
#include "app/bundle.h"
#include "app/doctor_check.h"
#include "app/places.h"
#include "app/replay.h"
#include "app/session_lookup.h"
#include "app/tree_command.h"
#include "base/text.h"
#include "tools/wording.h"

namespace deputy {
namespace {

// What was set, by name; a key is only ever named by its variable, and what an address may hold of one is
// redacted.
json::object settings_json(const LoadedSettings& loaded) {
  const Settings& settings = loaded.settings;
  json::object found{{"file", loaded.file}};
  if (settings.model) found["model"] = *settings.model;
  if (settings.base_url) found["base_url"] = *settings.base_url;
  json::object& providers = found["providers"].emplace_object();
  for (const auto& [name, provider] : settings.providers) {
    json::object& each = providers[name].emplace_object();
    if (provider.base_url) each["base_url"] = *provider.base_url;
    if (provider.key_env) each["key_env"] = *provider.key_env;
  }
  found["proxy_is_set"] = settings.network.proxy.has_value();
  if (settings.sandbox.least) found["sandbox_least"] = static_cast<int>(*settings.sandbox.least);
  if (settings.sandbox.network) found["sandbox_network"] = *settings.sandbox.network;
  json::array& rules = found["rules"].emplace_array();
  for (const Rule& rule : settings.rules) rules.emplace_back(to_text(rule));
  found["allowed_paths"] = json::array(settings.allowed_paths.begin(), settings.allowed_paths.end());
  return found;
}

json::object about(Program& program, const std::vector<Check>& checks, const std::string& state) {
  json::object found{
      {"version", DEPUTY_VERSION}, {"made_at", to_iso8601(program.loop.clock().wall())}, {"state", state}};
  struct utsname system{};
  if (::uname(&system) == 0)
    found["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  json::array& looked_at = found["checks"].emplace_array();
  for (const Check& check : checks) looked_at.emplace_back(to_json(check));
  if (const auto loaded = program.settings()) {
    found["settings"] = settings_json(**loaded);
    const auto search = search_of((*loaded)->settings, program.environment);
    if (search) program.redactor.hide(search->key);
    found["has_search"] = search.has_value();  // whether sessions are offered WebSearch
  }
  return found;
}

// Where its provider cannot be had any more, what the catalogue says.
std::optional<std::int64_t> window_of(Program& program, const ModelName& model, const ModelFacts& facts) {
  const auto models = models_for(program, model);
  if (!models) return facts.window;
  const auto provider = models->find(model);
  return provider ? (*provider)->window(model) : facts.window;
}

// By their windows conversations are compacted, and by their prices budgets end: as they are for the person.
void add_models(Program& program, const std::vector<Event>& events, json::object& about) {
  json::object windows;
  json::object prices;
  const auto offer = program.offer();
  const auto add = [&](const ModelName& model) {
    if (model.empty() || windows.contains(model.value)) return;
    const ModelFacts facts = offer ? offer->catalog.facts(model) : ModelFacts{};
    if (const auto window = window_of(program, model, facts)) windows[model.value] = *window;
    if (facts.price) prices[model.value] = price_json(*facts.price);
  };
  for (const Event& event : events) {
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) add(created->session->model);
    if (const auto* started = std::get_if<RunStarted>(&event.fact)) add(started->model);
  }
  about["windows"] = std::move(windows);
  about["prices"] = std::move(prices);
}

// As they are now.
void add_agents(Program& program, const std::vector<Event>& events, json::object& about) {
  const auto* created = events.empty() ? nullptr : std::get_if<SessionCreated>(&events.front().fact);
  const auto profiles = created ? profiles_for(program, created->session->workspace) : Profiles::built_in();
  if (!profiles) {
    const Error& why = profiles.error().error;
    about["agents_left_out"] = why.message;
    return program.tell(
        {why.code, fmt::format("the agents are left out of the bundle: {}", why.message), why.advice});
  }
  about["agents"] = agents_json(*profiles, events);
  const auto changed = changed_agents(*profiles, events);
  if (changed.empty()) return;
  about["changed_agents"] = json::array(changed.begin(), changed.end());
  program.tell(
      {ErrorCode::invalid,
       fmt::format("these agents are not as they were when the tree ran: {}", fmt::join(changed, ", ")),
       "put their files back and make the bundle again, or a replay may go another way"});
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Never over another file.
Result<std::string> keep(const Program& program, const std::string& name, std::string_view text) {
  TRY(const auto folder, program.disk.open(program.disk.current_folder(), IfAbsent::fail));
  auto path = join_path(folder->path(), name);
  TRY(const auto place, folder->look_up(name));
  const auto written = place->status() ? fail(ErrorCode::busy, "") : place->replace(text, "");
  if (written) return path;
  if (written.error().code != ErrorCode::busy) return std::unexpected(written.error());
  return fail(ErrorCode::exists, fmt::format("{} is there already", path),
              "move it away, or go to another folder");
}

}  // namespace

Ended make_bundle(Program& program, const std::string& typed, const std::vector<Check>& checks) {
  TRY(const auto home, program.open_home());
  TRY(const auto store, program.open_store(Program::StoreUse::read));
  TRY(const Session session, session_typed(*store, typed));
  TRY(auto events, store->events_of_tree(session.tree));
  json::object known = about(program, checks, home->path());
  add_models(program, events, known);
  add_agents(program, events, known);
  const std::string text = bundle_text({std::move(known), std::move(events)}, program.redactor);
  if (text.size() > kMostBundleBytes) {
    return std::unexpected(
        Error{ErrorCode::exhausted,
              fmt::format("the bundle of {} would be larger than {} bytes", session.tree.value,
                          with_thousands(kMostBundleBytes)),
              "send what `deputy sessions transcript ID` shows of the session in question"});
  }
  TRY(const auto bundle, parse_bundle(text));  // what nobody could read is not handed out
  TRY(const auto path, keep(program, fmt::format("deputy-bundle-{}.jsonl", session.tree.value), text));
  const std::size_t redacted = count_of(text, kRedacted);
  if (program.common.output != OutputForm::text) {
    program.print(json::object{{"file", path},
                               {"tree", session.tree.value},
                               {"events", bundle.events.size()},
                               {"redacted", redacted}});
    return ExitStatus::completed;
  }
  program.out.write_line(path);
  program.err.write_line(
      fmt::format("deputy: it holds the version, what doctor found, the settings, {}and all {} events of {}: "
                  "prompts, replies, "
                  "results, paths. {} secrets in it are redacted: the values of *_API_KEY and of the keys in "
                  "the settings, "
                  "passwords in addresses, and what looks like a key. Read it before you send it.",
                  bundle.about.contains("agents") ? "the agents that are not built in, " : "",
                  with_thousands(bundle.events.size()), session.tree.value, with_thousands(redacted)));
  return ExitStatus::completed;
}

Ended replay_bundle(Program& program, const std::string& file) {
  TRY(const auto path, or_misused(absolute_path(file, program.disk.current_folder())));
  TRY(const auto text, or_misused(read_named_file(program.disk, path, kMostBundleBytes)));
  TRY(const auto bundle, or_misused(parse_bundle(text)));
  auto result = replay(bundle);
  if (!result && result.error().code == ErrorCode::corrupt)
    return std::unexpected(CommandFailure(std::move(result).error(), ExitStatus::usage));
  TRY(const auto replayed, std::move(result));
  const bool is_same = replayed.differences.empty();
  if (program.common.output != OutputForm::text) {
    program.print(
        json::object{{"same", is_same},
                     {"sessions", replayed.sessions},
                     {"events", replayed.events},
                     {"differences", json::array(replayed.differences.begin(), replayed.differences.end())}});
  } else {
    for (const auto& difference : replayed.differences)
      program.out.write_line(made_visible(on_one_line(difference)));
    program.out.write_line(fmt::format(
        "{} of {}, replayed: {}", counted(replayed.events, "event"), counted(replayed.sessions, "session"),
        is_same ? "the same but for times and ids"
                : fmt::format("{} went another way", counted(replayed.differences.size(), "session"))));
  }
  return is_same ? ExitStatus::completed : ExitStatus::failed;
}

}  // namespace deputy
