// What is read off a bundle once, for all attempts to run its tree again. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/bundle.h"
#include "app/replay_comparison.h"
#include "app/replay_course.h"
#include "app/replay_moments.h"
#include "app/replay_outside.h"
#include "app/replay_places.h"
#include "app/replay_script.h"
#include "app/replayed_tool.h"
#include "model/model_facts.h"

namespace deputy {

// What the bundle says of the tree's models, by their names.
using KnownModels = std::map<std::string, ModelFacts>;
KnownModels models_in(const Bundle& bundle);
inline constexpr std::int64_t kBeyondAnyWindow = 1'000'000'000;

struct Recording {
  explicit Recording(const Bundle& read);

  const Bundle& bundle;  // outlives it
  const Session& root;
  Places places;
  Moments moments;
  RecordedCalls calls;
  RecordedRequests requests;
  std::string script;
  FromOutside outside;
  KnownModels models;
  Course course;  // from its beginning
  Comparison comparison;
};

}  // namespace deputy
