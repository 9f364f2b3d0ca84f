// What every command stands on: the flags, the environment, the process's streams, the loop, the disk. It
// opens nothing by itself; a command opens what it needs.
#pragma once

#include <memory>
#include <string>

#include "app/arguments.h"
#include "app/connections.h"
#include "app/failure.h"
#include "app/looks.h"
#include "app/model_choice.h"
#include "app/settings.h"
#include "app/streams.h"
#include "async/loop.h"
#include "base/disk.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/redaction.h"
#include "sandbox/background.h"
#include "store/sqlite/sqlite_store.h"
#include "tools/connected_tools.h"

namespace deputy {

class Program {
 public:
  // `typed_name` is argv[0].
  Program(CommonArguments given, const Environment& variables, std::string_view typed_name);

  // The state folder, made where it is missing.
  Result<std::unique_ptr<Folder>> open_home() const;
  // All that is kept. Starts a thread. Who only reads has it also where the folder cannot be written.
  // Who only glances tells of no loss and no damage, and leaves that to the next.
  enum class StoreUse { write, read, glance };
  Result<std::unique_ptr<Store>> open_store(StoreUse use = StoreUse::write);
  // Whether there is anything to open; nothing is made in order to look.
  bool keeps_anything() const;
  const std::optional<Error>& loss() const { return loss_; }  // that open_store() told of
  // Damage that all reads of the store found their way past; for the end of every command.
  std::optional<Error> damage_passed() const { return passed_ ? passed_->told() : std::nullopt; }
  // Where agents work; it exists and can be read.
  OrFailure<std::string> workspace() const;
  // What was set, in files and the environment, for the folder to work in; read when it is first needed. A
  // mistake in it is the person's.
  OrFailure<const LoadedSettings*> settings();
  // Those of the settings and the flags.
  OrFailure<TreeLimits> limits();
  OrFailure<std::vector<Rule>> rules();
  OrFailure<ModelOffer> offer();
  OrFailure<ToolSettings> tool_settings();
  // A command line of this program that works from here: by the name it was started under, with the same
  // state folder.
  std::string command_line(std::string_view arguments) const;
  // A text that names command lines, such that they work from here, too.
  std::string as_typed_here(std::string_view text) const;
  std::string help_as_typed_here(std::string_view help) const { return help_as_typed(help, name_); }
  // A result as JSON, where that is asked for. In a stream of events it is one of them, and of a list each
  // entry is one.
  void print(const json::value& result);
  // It was told to end: what a terminal does not take in a moment is lost.
  void wait_no_longer() {
    out.wait_no_longer();
    err.wait_no_longer();
  }
  // What went wrong, as a part of a result.
  json::object told(const Error& error) const {
    return error_json(name_of(error.code), as_typed_here(error.message), as_typed_here(error.advice));
  }
  void tell(const Error& error) { err.write_line(as_typed_here(error_line(error))); }

  const CommonArguments common;
  const Environment& environment;
  const Looks looks;
  Redactor redactor;
  SystemDisk disk;
  SystemLoop loop;
  Connections connections;
  OutStream out;
  OutStream err;
  std::optional<Announcer> announcer;  // of a process in the background: its first child's id is waited for

 private:
  std::string name_;  // that a shell finds it by from here, quoted for one
  std::optional<LoadedSettings> settings_;
  std::optional<Error> loss_;
  std::shared_ptr<const PassedDamage> passed_;
};

}  // namespace deputy
