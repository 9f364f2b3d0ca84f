#include "support/sim_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "base/environment.h"

namespace deputy {

void SimWorld::write_file(std::string_view path, std::string_view text) {
  const auto folder = disk.open(Life::kWorkspace, IfAbsent::create);
  ASSERT_TRUE(folder) << folder.error().message;
  ASSERT_TRUE((*folder)->replace(path, text));
}

std::vector<Session> SimWorld::sessions() const {
  std::vector<Session> all;
  for (const auto& event : memory->journal) {
    if (std::holds_alternative<SessionCreated>(event.fact))
      all.push_back(memory->sessions.at(event.run.session));
  }
  return all;
}

const Session* SimWorld::session_labelled(std::string_view label) const {
  for (const auto& [id, session] : memory->sessions) {
    if (session.label == label) return &session;
  }
  return nullptr;
}

int SimWorld::terminal_records(const SessionId& id) const {
  return static_cast<int>(std::ranges::count_if(memory->journal, [&id](const Event& event) {
    return event.run.session == id && std::holds_alternative<RunEnded>(event.fact);
  }));
}

std::string SimWorld::transcript(std::string_view label) const {
  const Session* session = session_labelled(label);
  if (!session) return {};
  const auto files = disk.files();
  const auto found = files.find("/home/subagent/" + TranscriptFiles::stem_of(*session) + ".transcript.json");
  return found == files.end() ? std::string() : found->second;
}

namespace {

ToolSettings tool_settings(const Life::Options& options) {
  ToolSettings settings;
  settings.further = options.tools;
  if (options.has_web) settings.search = SearchSettings{SearchService::searxng, "https://search.example", ""};
  return settings;
}

}  // namespace

Life::Life(SimWorld& world, Options options)
    : loop_(options.seed),
      processes_(loop_),
      network_(loop_),
      random_(options.seed),
      ends_in_order_(options.ends_in_order),
      memory_(world.memory),
      recorded_before_(world.memory->journal.size()) {
  auto folder = world.disk.open("/home/subagent", IfAbsent::create);
  std::unique_ptr<Store> kept =
      options.store ? options.store(loop_)
                    : std::make_unique<MemoryStore>(loop_, world.memory,
                                                    std::make_unique<TranscriptFiles>(*std::move(folder)));
  auto store = std::make_unique<CrashingStore>(std::move(kept), options.crash, [this] { processes_.die(); });
  store_ = store.get();
  Models models;
  auto scripted = ScriptedProvider::parse(
      world.script, loop_, [&world](std::string_view line) { world.model_calls.emplace_back(line); });
  EXPECT_TRUE(scripted) << scripted.error().message;
  if (scripted) models.add(*std::move(scripted));
  models.add_driver(std::make_unique<CommandProvider>());
  if (options.model) models.add(options.model(loop_));
  Profiles profiles = Profiles::built_in();
  for (auto& profile : options.profiles) profiles.add(std::move(profile));
  runtime_ = std::make_unique<Runtime>(Runtime::Parts{.loop = loop_,
                                                      .pool = options.pool ? *options.pool : pool_,
                                                      .disk = world.disk,
                                                      .processes = processes_,
                                                      .random = random_,
                                                      .store = std::move(store),
                                                      .models = std::move(models),
                                                      .profiles = std::move(profiles),
                                                      .network = options.has_web ? &network_ : nullptr,
                                                      .state = *world.disk.open("/home", IfAbsent::create)},
                                       Runtime::Options{.limits = options.limits,
                                                        .attendance = options.attendance,
                                                        .tools = tool_settings(options),
                                                        .hidden = {"/home"},
                                                        .reports = options.reports,
                                                        .context = options.context,
                                                        .inbox_every = options.inbox_every,
                                                        .bell = options.bell});
  runtime_->subscribe([this](const Event&, const EventOrigin&) {
    if (const auto found = after_.find(++published_); found != after_.end()) found->second(*runtime_);
  });
}

Life::~Life() = default;

RootBrief Life::brief(std::string prompt) const {
  return {.agent = "main",
          .brief = {.label = "root", .prompt = std::move(prompt)},
          .model = ModelName("scripted/test"),
          .workspace = std::string(kWorkspace)};
}

void Life::after_event(int n, std::function<void(Runtime&)> then) { after_[n] = std::move(then); }

Result<Report> Life::start(RootBrief root) {
  runtime_->start(std::move(root), [this](Result<Report> report) { result_ = std::move(report); });
  return finish();
}

Result<Report> Life::resume(const SessionId& root, std::optional<TreeLimits> terms) {
  runtime_->resume(root, [this](Result<Report> report) { result_ = std::move(report); }, terms);
  return finish();
}

Result<Report> Life::say(const SessionId& root, NextInput input) {
  runtime_->say(root, std::move(input), [this](Result<Report> report) { result_ = std::move(report); });
  return finish();
}

Result<Report> Life::finish() {
  loop_.run_until_idle();
  if (ends_in_order_ && !store_->crashed()) store_->end();
  if (!result_)
    return fail(ErrorCode::internal, "the tree neither ended nor failed: somebody waits for ever");
  return *std::move(result_);
}

std::uint64_t simulation_seeds(std::uint64_t otherwise) {
  const auto text = SystemEnvironment().get("DEPUTY_SIM_SEEDS");
  std::uint64_t seeds = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), seeds);
  return std::max<std::uint64_t>(seeds, 1);
}

}  // namespace deputy
