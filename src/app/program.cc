#include "app/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/places.h"
#include "base/text.h"
#include "store/redacting_store.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

// What another user can put into the state folder would be believed.
Result<void> check_is_own(const Folder& home) {
  struct stat found{};
  if (::fstat(home.descriptor(), &found) != 0) return {};  // seam: whose it is matters at the start alone
  if (found.st_uid != ::geteuid()) {
    return fail(ErrorCode::denied, fmt::format("the state folder: {} belongs to another user", home.path()),
                "choose another with --home");
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(
        ErrorCode::denied, fmt::format("the state folder: others can write to {}", home.path()),
        fmt::format("run `chmod 700 {}`, if nobody has put anything there", shell_quoted(home.path())));
  }
  return {};
}

TerminalLetters letters_of(const Style& style) {
  return style.unicode ? TerminalLetters::unicode : TerminalLetters::ascii;
}

}  // namespace

Program::Program(CommonArguments given, const Environment& variables, std::string_view typed_name)
    : common(std::move(given)),
      environment(variables),
      looks(looks_of(terminals_of_process(), variables, common)),
      connections(loop),
      out(STDOUT_FILENO, common.output == OutputForm::stream_json ? left_out_event : left_out_line,
          common.output == OutputForm::text ? letters_of(looks.out) : TerminalLetters::unicode),
      err(STDERR_FILENO, left_out_line, letters_of(looks.err)),
      name_(typed_name.contains('/') ? shell_quoted(typed_name) : "deputy") {
  for (const auto& secret : secrets_of({}, variables)) redactor.hide(secret);
}

Result<std::unique_ptr<Folder>> Program::open_home() const {
  TRY(const auto path, state_folder(common, environment, disk.current_folder()));
  auto home = disk.open(path, IfAbsent::create);
  if (home) {
    TRY(check_is_own(**home));
    return home;
  }
  return fail(home.error().code, fmt::format("the state folder: {}", home.error().message),
              "make it a folder that you can write to, or choose another with --home");
}

bool Program::keeps_anything() const {
  const auto path = state_folder(common, environment, disk.current_folder());
  const auto home = path ? disk.open(*path, IfAbsent::fail) : std::unexpected(path.error());
  return home && (*home)->status("deputy.db");
}

Result<std::unique_ptr<Store>> Program::open_store(StoreUse use) {
  TRY(const auto home, open_home());
  TRY(auto store, SqliteStore::open(loop, *home, std::make_unique<ThreadWriter>()));
  if (use == StoreUse::glance) return std::make_unique<RedactingStore>(std::move(store), redactor);
  loss_ = store->loss();
  passed_ = store->damage_passed();
  if (loss_) {
    tell(*loss_);
    store->forget_loss();
  } else if (use == StoreUse::write) {
    TRY(store->check_writable());
  }
  return std::make_unique<RedactingStore>(std::move(store), redactor);
}

OrFailure<std::string> Program::workspace() const {
  TRY(auto path, or_misused(absolute_path(common.cwd.value_or("."), disk.current_folder())));
  auto opened = disk.open(path, IfAbsent::fail);
  const auto listed = opened ? (*opened)->list(".") : std::unexpected(opened.error());
  if (listed) return path;
  const Error& error = listed.error();
  const Error told{error.code, fmt::format("cannot work in {}: {}", path, error.message),
                   error.advice.empty() ? "choose another folder with --cwd" : error.advice};
  return std::unexpected(
      CommandFailure(told, error.code == ErrorCode::denied ? ExitStatus::failed : ExitStatus::usage));
}

OrFailure<const LoadedSettings*> Program::settings() {
  if (settings_) return &*settings_;
  TRY(const auto folder, or_misused(absolute_path(common.cwd.value_or("."), disk.current_folder())));
  TRY(settings_, or_misused(load_settings(disk, environment, common.config, folder)));
  for (const auto& secret : secrets_of(settings_->settings, environment)) redactor.hide(secret);
  connections.network.configure(network_options(settings_->settings.network, environment));
  return &*settings_;
}

OrFailure<TreeLimits> Program::limits() {
  TRY(const auto* loaded, settings());
  return changed_by(changed_by({}, loaded->settings.limits), common.limits);
}

OrFailure<std::vector<Rule>> Program::rules() {
  TRY(const auto* loaded, settings());
  std::vector<Rule> rules = loaded->settings.rules;
  rules.insert(rules.end(), common.rules.begin(), common.rules.end());
  return rules;
}

OrFailure<ModelOffer> Program::offer() {
  TRY(const auto* loaded, settings());
  return model_offer(loaded->settings, environment);
}

OrFailure<ToolSettings> Program::tool_settings() {
  TRY(const auto* loaded, settings());
  ToolSettings tools{.search = search_of(loaded->settings, environment)};
  if (tools.search) redactor.hide(tools.search->key);
  tools.bash.least = loaded->settings.sandbox.least.value_or(tools.bash.least);
  for (const auto& path : loaded->settings.allowed_paths) {
    const bool is_in_home = path.starts_with("~/");
    auto root =
        disk.open(is_in_home ? environment.get("HOME").value_or("") + path.substr(1) : path, IfAbsent::fail);
    if (!root) {
      return misused(fmt::format("allowed_paths: {}", root.error().message),
                     "make the folder, or take it out of the settings");
    }
    tools.roots.push_back(*std::move(root));
  }
  return tools;
}

std::string Program::command_line(std::string_view arguments) const {
  std::string line = name_;
  if (!arguments.empty()) line += fmt::format(" {}", arguments);
  if (common.home) line += fmt::format(" --home {}", shell_quoted(*common.home));
  return line;
}

void Program::print(const json::value& result) {
  if (common.output == OutputForm::json) return out.write_line(redactor.redact_json(result));
  if (const auto* list = result.if_array()) {
    for (const auto& each : *list) print(each);
    return;
  }
  json::object line{{"v", 1}, {"event", "result"}};
  for (const auto& [key, value] : result.as_object()) line[key] = value;
  out.write_line(redactor.redact_json(std::move(line)));
}

std::string Program::as_typed_here(std::string_view text) const {
  return as_typed(text, name_, common.home ? shell_quoted(*common.home) : "");
}

}  // namespace deputy
