// Which model was asked for, and the providers that this process has for it. A name that nobody knows is
// refused, never replaced by another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/arguments.h"
#include "async/loop.h"
#include "base/disk.h"
#include "base/environment.h"
#include "model/models.h"

namespace deputy {

// --model, DEPUTY_MODEL, else the rehearsal model. A script is named by its whole path, so that a resume
// finds it from any folder.
Result<ModelName> wanted_model(const CommonArguments& common, const Environment& environment,
                               std::string_view current_folder);

bool is_rehearsal(const ModelName& model);

// All providers that are needed to run `model`, the one that plays commands among them.
Result<Models> models_for(const ModelName& model, Loop& loop, const Disk& disk);

struct KnownProvider {
  std::string_view name;
  std::string_view written;  // how a model of it is named
  std::string_view about;
};
const std::vector<KnownProvider>& known_providers();

}  // namespace deputy
