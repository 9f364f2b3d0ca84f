#include "app/replay_recording.h"

#include <algorithm>

namespace deputy {

KnownModels models_in(const Bundle& bundle) {
  KnownModels models;
  if (const auto* windows = object_at(bundle.about, "windows")) {
    for (const auto& [model, told] : *windows) {
      if (const auto window = integer_at(*windows, model); window && *window > 0)
        models[std::string(model)].window = std::min(*window, kBeyondAnyWindow);
    }
  }
  if (const auto* prices = object_at(bundle.about, "prices")) {
    for (const auto& [model, told] : *prices)
      if (told.is_object()) models[std::string(model)].price = price_in(told.as_object());
  }
  return models;
}

Recording::Recording(const Bundle& read)
    : bundle(read),
      root(std::get<SessionCreated>(bundle.events.front().fact).session),
      places(bundle.events),
      moments(bundle.events),
      calls(bundle.events),
      requests(requests_in(bundle.events)),
      script(script_of(requests)),
      outside(outside_in(bundle.events)),
      models(models_in(bundle)),
      course(bundle.events),
      comparison(bundle.events) {}

}  // namespace deputy
