// The models of a replay: what a tree asks of them again ends as it did then, each reply at its moment, with
// the ids that its sessions have now.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/replay_names.h"
#include "app/replay_recording.h"
#include "async/loop.h"
#include "model/models.h"

namespace deputy {

// The tree as it was, and as it is again: which session of one stands where which of the other does. Both
// outlive it.
class Worlds {
 public:
  Worlds(const Places& then, const Places& now);
  // A text of then, with the ids of now.
  std::string translated(std::string_view text) const;

 private:
  const Places& then_;
  const Places& now_;
  const Names ids_;  // of then
};

// What is played again, and how far: it outlives the processes of the tree, and what it is given outlives it.
class Playback {
 public:
  Playback(const Recording& recording, const Worlds& worlds)
      : course(recording.course), recording_(recording), worlds_(worlds) {}

  TimePoint moment(std::size_t event) const { return recording_.moments.of(event); }
  // Of what is on record.
  TimePoint end() const { return moment(recording_.bundle.events.size() - 1); }
  std::string translated(std::string_view text) const { return worlds_.translated(text); }

  std::size_t asked(const std::string& place) const {
    const auto found = asked_.find(place);
    return found == asked_.end() ? 0 : found->second;
  }
  // By a program that goes on: those requests that have an end on record.
  void take_up(const std::vector<Event>& now, const Places& places) {
    asked_.clear();
    for (const auto& [place, made] : requests_in(now)) asked_[place] = made.size();
    course.begin();
    for (const Event& event : now) course.take(places.of(event.run.session), event.fact);
  }
  // Which request of the session this is, from 0.
  std::size_t ask(const std::string& place) {
    const std::size_t index = asked_[place]++;
    if (on_ask) on_ask();
    return index;
  }
  const RecordedRequest* request(const std::string& place, std::size_t index) const {
    const auto made = recording_.requests.find(place);
    return made == recording_.requests.end() || index >= made->second.size() ? nullptr : &made->second[index];
  }

  std::function<void()> on_ask;
  Course course;

 private:
  const Recording& recording_;
  const Worlds& worlds_;
  std::map<std::string, std::size_t> asked_;
};

// All that the tree had then. What they are given outlives them; `places` are those of now.
Result<Models> replayed_models(const Recording& recording, Loop& loop, Playback& playback,
                               const Places& places);

}  // namespace deputy
