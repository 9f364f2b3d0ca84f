// A support bundle comes from a stranger: any bytes give either an Error with words, or one whole tree. Its
// events read the same when they are written again and are the same as themselves, and whatever they say,
// what a replay reads off them is what its headers promise: nothing is put outside of the workspace, no price
// is below zero, no moment lies before another, no agent plays a command, and the replay comes to an end.
#include "app/bundle.h"

#include <array>
#include <cmath>

#include "app/replay.h"
#include "app/replay_comparison.h"
#include "app/replay_files.h"
#include "app/replay_git.h"
#include "app/replay_models.h"
#include "app/replay_moments.h"
#include "app/replay_outside.h"
#include "app/replay_places.h"
#include "app/replay_recording.h"
#include "app/replay_script.h"
#include "app/replayed_tool.h"
#include "base/text.h"
#include "choice.h"
#include "guard/rules.h"
#include "json_lines.h"
#include "model/script.h"
#include "must.h"
#include "transcript/profile_codec.h"

using namespace deputy;

namespace {

using Sessions = std::map<SessionId, Session>;

Sessions sessions_in(const std::vector<Event>& events) {
  Sessions sessions;
  for (const Event& event : events)
    if (const auto* created = std::get_if<SessionCreated>(&event.fact))
      sessions.emplace(event.run.session, created->session);
  return sessions;
}

std::set<std::string> all_places(const std::vector<Event>& events) {
  std::set<std::string> all;
  for (const auto& [id, place] : Places(events).all()) all.insert(place);
  return all;
}

// Without what is told about it, which is for people: a fraction there may come back as its neighbour, since
// the JSON library reads numbers to within their last bit.
std::string text_of_events(Bundle bundle) {
  bundle.about.clear();
  return bundle_text(bundle, Redactor());
}

void is_read_as_written(const Bundle& bundle) {
  const auto written = parse_bundle(bundle_text(bundle, Redactor()));  // what looks like a key is out of it
  must(written.has_value() && written->events.size() == bundle.events.size());
  const auto again = parse_bundle(bundle_text(*written, Redactor()));
  must(again.has_value() && text_of_events(*again) == text_of_events(*written));
}

void is_the_same_as_itself(const Bundle& bundle) {
  const Replayed same = Comparison(bundle.events).with(bundle.events);
  const bool was_taken_up = is_taken_up(bundle.events);
  must(same.differences.empty() && same.sessions == all_places(bundle.events).size());
  must(same.events == static_cast<std::size_t>(std::ranges::count_if(bundle.events, [&](const Event& event) {
         return is_compared(event.fact, was_taken_up);
       })));
}

// Each below that of its parent; and where no two stand in one place, a text of then is one of now.
void has_places(const Bundle& bundle) {
  const Places places(bundle.events);
  const Sessions sessions = sessions_in(bundle.events);
  must(places.all().size() == sessions.size());
  for (const auto& [id, session] : sessions) {
    const std::string& place = places.of(id);
    must((place == "root") == !session.parent && places.at(place) && places.of(*places.at(place)) == place);
  }
  if (all_places(bundle.events).size() != sessions.size()) return;
  const Worlds worlds(places, places);
  for (const auto& [id, session] : sessions) must(worlds.translated(session.prompt) == session.prompt);
}

void has_moments(const Bundle& bundle) {
  const Moments moments(bundle.events);
  TimePoint before{};
  for (std::size_t at = 0; at < bundle.events.size(); ++at) {
    must(moments.of(at) >= before);
    before = moments.of(at);
  }
  std::size_t last = 0;
  for (const auto& [first, taken_up] : next_programs_in(bundle.events)) {
    must(last < first && first <= taken_up && taken_up < bundle.events.size());
    must(std::holds_alternative<TakenUp>(bundle.events[taken_up].fact));
    last = taken_up;
  }
}

// What came from outside came to sessions that there are, which had come no further than they ever did.
void has_an_outside(const Bundle& bundle) {
  const auto places = all_places(bundle.events);
  const FromOutside outside = outside_in(bundle.events);
  must(std::ranges::is_sorted(outside.happenings, {}, &Outside::event));
  for (const Outside& each : outside.happenings) {
    const bool is_of_all = each.kind == Outside::Kind::leave || each.kind == Outside::Kind::die;
    must(is_of_all ? !each.after.empty() : places.contains(each.place));
    for (const auto& [place, progress] : each.after)
      must(places.contains(place) && progress.events <= bundle.events.size() &&
           progress.requests <= bundle.events.size());
  }
  std::size_t last = 0;
  for (const Continuation& each : outside.continuations) {
    must(last <= each.event && each.event < bundle.events.size());
    for (const Word& word : each.words) must(places.contains(word.place));
    last = each.event;
  }
}

// A call without a name, or counts that nobody has used: no script says these.
bool can_be_said(const RecordedRequest& request) {
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 50;
  if (!request.reply) return true;
  const auto& [input, output, cache_read, cache_write, cost] = request.reply->usage;
  return std::ranges::none_of(request.reply->message.calls,
                              [](const Call& call) { return call.name.empty(); }) &&
         std::ranges::all_of(std::array{input, output, cache_read, cache_write, cost.value_or(0)},
                             [](std::int64_t count) { return count >= 0 && count <= kMostTokens; });
}

void has_a_script(const Bundle& bundle) {
  const RecordedRequests requests = requests_in(bundle.events);
  const auto script = parse_script(script_of(requests));
  const bool is_sayable = std::ranges::all_of(
      requests, [](const auto& each) { return std::ranges::all_of(each.second, can_be_said); });
  must(script.has_value() == is_sayable);
  if (!script) return must(!script.error().message.empty());
  must(script->sessions.size() == requests.size());
  for (const auto& [place, made] : requests) {
    const auto session = session_for(*script, place, "", 0);
    must(session && script->sessions[*session].replies.size() == made.size());
  }
}

void has_calls(const Bundle& bundle) {
  const Places places(bundle.events);
  const RecordedCalls calls(bundle.events);
  for (const Event& event : bundle.events) {
    const auto* call = calls.find(places.of(event.run.session), event.run.number, event.step, event.call);
    must((call != nullptr) == (event.call >= 0));
    if (!call) continue;
    must(call->ended_at >= TimePoint{});
    must(call->result || !std::holds_alternative<CallFinished>(event.fact));
    must(call->intent || !std::holds_alternative<CallStarted>(event.fact));
    must(!call->answers.empty() || !std::holds_alternative<QuestionAnswered>(event.fact));
  }
}

void must_lie_beneath(const MemoryDisk& disk, const std::string& folder) {
  for (const auto& [path, bytes] : disk.files())
    must(path.starts_with(folder == "/" ? folder : folder + '/') && !path.contains("/../"));
}

// And what is in them was told before somebody's prompt.
void puts_files_in_its_workspace(const Bundle& bundle) {
  const Sessions sessions = sessions_in(bundle.events);
  const ManualClock clock;
  const MemoryDisk disk(clock);
  if (const auto put = put_files(disk, bundle.events); !put) return must(!put.error().message.empty());
  const auto workspace = disk.open(sessions.at(bundle.events.front().tree).workspace, IfAbsent::fail);
  must(workspace.has_value());
  must_lie_beneath(disk, (*workspace)->path());
  for (const auto& [path, bytes] : disk.files())
    must(std::ranges::any_of(sessions, [&](const auto& each) { return each.second.prompt.contains(bytes); }));
}

void keeps_git_in_its_worktrees(const Bundle& bundle) {
  const std::string above = "/state/worktrees";
  const ManualClock clock;
  const MemoryDisk disk(clock);
  const MemoryStore::Memory memory{.sessions = sessions_in(bundle.events)};
  const Places places(bundle.events);
  const ReplayedGit git(bundle.events, disk, places, memory);
  const auto state = disk.open("/state", IfAbsent::create);
  must(state.has_value());
  for (const auto& [id, session] : memory.sessions) {
    if (!is_session_id(id.value)) continue;  // those of now are the runtime's own
    const std::string worktree = join_path(above, id.value);
    (void)git.run({.argv = {"git", "worktree", "add", worktree}, .folder = state->get()});
    const auto folder = disk.open(worktree, IfAbsent::fail);
    must(folder.has_value());
    (void)git.run({.argv = {"git", "diff"}, .folder = folder->get()});
    (void)git.run({.argv = {"git", "worktree", "remove", worktree}, .folder = state->get()});
  }
  must_lie_beneath(disk, above);
}

bool is_paid(double dollars) { return std::isfinite(dollars) && dollars >= 0; }

void has_models(const Bundle& bundle) {
  for (const auto& [name, facts] : models_in(bundle)) {
    must(facts.window.value_or(1) > 0);
    if (!facts.price) continue;
    const auto& [input, output, cache_read, cache_write] = *facts.price;
    must(is_paid(input) && is_paid(output) && is_paid(cache_read.value_or(0)) &&
         is_paid(cache_write.value_or(0)));
    const json::object told = price_json(*facts.price);
    const auto again = price_in(told);
    must(again && price_json(*again) == told);
  }
}

void has_agents(const Bundle& bundle) {
  const Profiles profiles = agents_in(bundle);
  const Bundle agents{{{"agents", agents_json(profiles, bundle.events)}}, {}};
  must(agents_json(agents_in(agents), bundle.events) == agents.about.at("agents"));
  const auto command = profiles.find(kCommandAgent);
  must(command && to_json(**command) == to_json(**Profiles::built_in().find(kCommandAgent)));
  for (const Profile* each : profiles.offered()) must(each->driver.empty());
}

void has_rules(const Bundle& bundle) {
  for (const auto& [id, session] : sessions_in(bundle.events)) {
    const auto rules = Rules::from_json(session.permissions);
    must(rules ? Rules::from_json(rules->to_json()) == *rules : !rules.error().message.empty());
  }
}

// All of it at once: whatever the tree did, it comes to its end, and goes the same way or another.
void comes_to_an_end(const Bundle& bundle) {
  constexpr std::size_t kMostSteps = 1'000'000;
  const auto replayed = replay(bundle, kMostSteps);
  if (!replayed) return must(!replayed.error().message.empty());
  must(replayed->sessions == all_places(bundle.events).size());
}

constexpr std::array kProperties{is_read_as_written,
                                 is_the_same_as_itself,
                                 has_places,
                                 has_moments,
                                 has_an_outside,
                                 has_a_script,
                                 has_calls,
                                 puts_files_in_its_workspace,
                                 keeps_git_in_its_worktrees,
                                 has_models,
                                 has_agents,
                                 has_rules,
                                 comes_to_an_end};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto bundle = parse_bundle({reinterpret_cast<const char*>(bytes), size});
  if (!bundle) {
    must(!bundle.error().message.empty() && !bundle.error().advice.empty());
    return 0;
  }
  must(std::holds_alternative<SessionCreated>(bundle->events.front().fact));
  for (std::size_t i = 0; i < kProperties.size(); ++i)
    if (is_chosen(size, i, kProperties.size())) kProperties[i](*bundle);
  return 0;
}
