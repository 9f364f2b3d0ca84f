// The models of a replay: what a tree asks of them again ends as it did then, each reply at its moment, with
// the ids that its sessions have now.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/bundle.h"
#include "app/replay_course.h"
#include "app/replay_moments.h"
#include "app/replay_script.h"
#include "app/replayed_tool.h"
#include "async/loop.h"
#include "model/model_facts.h"
#include "model/models.h"
#include "store/memory_store.h"

namespace deputy {

// The tree as it was, and as it is again: which session of one stands where which of the other does. `now`
// outlives it.
class Worlds {
 public:
  Worlds(const std::vector<Event>& then, const std::vector<Event>& now);
  // A text of then, with the ids of now.
  std::string translated(std::string text) const;

 private:
  std::map<std::string, SessionId> then_;
  const std::vector<Event>& now_;
};

// What is played again, and how far: it outlives the processes of the tree, and `worlds` outlives it.
class Playback {
 public:
  Playback(const std::vector<Event>& then, const Worlds& worlds)
      : course(then),
        moments_(then),
        end_(moments_.of(then.back().at)),
        worlds_(worlds),
        requests_(requests_in(then)) {}

  std::string script() const { return script_of(requests_); }
  TimePoint moment(WallTime at) const { return moments_.of(at); }
  TimePoint end() const { return end_; }
  std::string translated(std::string text) const { return worlds_.translated(std::move(text)); }

  std::size_t asked(const std::string& place) const {
    const auto found = asked_.find(place);
    return found == asked_.end() ? 0 : found->second;
  }
  // By a program that goes on: those requests that have an end on record.
  void take_up(const std::vector<Event>& now) {
    asked_.clear();
    for (const auto& [place, made] : requests_in(now)) asked_[place] = made.size();
    course.begin();
    const auto places = places_in(now);
    for (const Event& event : now) course.take(places.at(event.run.session), event.fact);
  }
  // Which request of the session this is, from 0.
  std::size_t ask(const std::string& place) {
    const std::size_t index = asked_[place]++;
    if (on_ask) on_ask();
    return index;
  }
  const RecordedRequest* request(const std::string& place, std::size_t index) const {
    const auto made = requests_.find(place);
    return made == requests_.end() || index >= made->second.size() ? nullptr : &made->second[index];
  }

  std::function<void()> on_ask;
  Course course;

 private:
  const Moments moments_;
  const TimePoint end_;  // of what is on record
  const Worlds& worlds_;
  RecordedRequests requests_;
  std::map<std::string, std::size_t> asked_;
};

// What the bundle says of the tree's models, by their names.
using KnownModels = std::map<std::string, ModelFacts>;
KnownModels models_in(const Bundle& bundle);

// All that the tree had then. What they are given outlives them; `memory` is what the tree is now.
Result<Models> replayed_models(const std::vector<Event>& then, Loop& loop, Playback& playback,
                               const MemoryStore::Memory& memory, const KnownModels& known);

}  // namespace deputy
