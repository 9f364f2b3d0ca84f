// The whole runtime as it is at work: a real loop, disk, store and processes, in a folder of its own. The
// model is played, unless a test brings others.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/pool.h"
#include "runtime/runtime.h"
#include "sandbox/processes.h"
#include "store/sqlite/sqlite_store.h"
#include "support/acting_model.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace deputy {

struct RealWorld {
  using MakeModels = std::function<Models(SystemLoop&, const Disk&)>;

  RealWorld(ActingModel::Play play, const TreeLimits& limits, std::vector<Profile> more = {})
      : RealWorld(
            [&play](SystemLoop& loop, const Disk&) {
              Models models;
              models.add(std::make_unique<ActingModel>(loop, std::move(play)));
              return models;
            },
            limits, std::move(more)) {}
  RealWorld(const MakeModels& make_models, const TreeLimits& limits, std::vector<Profile> more = {}) {
    auto store = SqliteStore::open(loop, *home, std::make_unique<ThreadWriter>());
    EXPECT_TRUE(store);
    Profiles profiles = Profiles::built_in();
    for (Profile& profile : more) profiles.add(std::move(profile));
    runtime = std::make_unique<Runtime>(
        Runtime::Parts{.loop = loop,
                       .pool = pool,
                       .disk = disk,
                       .processes = processes,
                       .random = random,
                       .store = *std::move(store),
                       .models = make_models(loop, disk),
                       .profiles = std::move(profiles),
                       .state = home},
        Runtime::Options{.limits = limits,
                         .attendance = Attendance::approves_all,
                         .tools = {.search = {}, .bash = {.least = SandboxLevel::none}},
                         .hidden = {folder.file("home")}});
  }
  RootBrief brief() const {
    return {.brief = {.label = "root", .prompt = "go"},
            .model = ModelName("acting/test"),
            .workspace = workspace->path(),
            .rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}})};
  }

  TempFolder folder;
  SystemLoop loop;
  ThreadPool pool{2};
  SystemDisk disk;
  SystemProcesses processes{loop, bin_dir() + "/deputy-init"};
  SystemRandom random;
  std::shared_ptr<Folder> home = *disk.open(folder.file("home"), IfAbsent::create);
  std::unique_ptr<Folder> workspace = *disk.open(folder.file("work"), IfAbsent::create);
  std::unique_ptr<Runtime> runtime;
};

}  // namespace deputy
