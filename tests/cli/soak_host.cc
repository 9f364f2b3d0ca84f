#include "soak_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "app/connections.h"
#include "app/model_choice.h"
#include "soak_play.h"
#include "support/held.h"
#include "support/real_world.h"

namespace deputy {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr int kTreesBefore = 5;  // until caches are full
// Behind the end of a tree the store's writer holds what it committed for a tenth of a second.
constexpr std::chrono::milliseconds kUntilATreeIsGone{200};
const ModelName kModel("anthropic/claude-haiku-4-5");

// Says a line a tree: whether it came to its end, the time, and what is held when it is gone.
class Host {
 public:
  Host(const std::string& url, Time until, int to)
      : until_(until),
        to_(to),
        world_([this, &url](SystemLoop& loop, const Disk& disk) { return models(url, loop, disk); },
               {.delegations = kUnlimited<int>,
                .live_children = kUnlimited<int>,
                .live_sessions = kUnlimited<int>}) {}

  // Before the loop that both stand on.
  ~Host() {
    world_.runtime.reset();
    connections_.reset();
  }
  Host(const Host&) = delete;

  void run() {
    world_.loop.post([this] { run_tree(); });
    world_.loop.run();
  }

 private:
  Models models(const std::string& url, SystemLoop& loop, const Disk& disk) {
    connections_ = std::make_unique<Connections>(loop);
    const MapEnvironment environment(
        {{"ANTHROPIC_BASE_URL", url}, {"ANTHROPIC_API_KEY", "soak-key-of-no-account"}});
    auto found = models_for(kModel, model_offer({}, environment), *connections_, loop, disk);
    if (!found) ::_exit(3);
    return *std::move(found);
  }
  void run_tree() {
    if (std::chrono::steady_clock::now() >= until_) return world_.loop.stop();
    RootBrief root = world_.brief();
    root.model = kModel;
    root.brief.prompt = fmt::format("{} {}.", kRootTask, ++trees_);
    world_.runtime->start(std::move(root), [this](const Result<Report>& report) {
      const bool is_complete =
          report && report->status == Status::completed && report->body == std::string(kAllIsDone);
      world_.loop.timers().call_at(world_.loop.clock().now() + kUntilATreeIsGone,
                                   [this, is_complete] { look(is_complete); });
    });
  }
  void look(bool is_complete) {
    for (int child = 0; child < kChildren; ++child) (void)world_.workspace->remove(file_of(child));
    const Held held = Held::now();
    const double hours =
        std::chrono::duration<double, std::ratio<3600>>(std::chrono::steady_clock::now() - begun_).count();
    const std::string line =
        fmt::format("{} {} {} {}\n", is_complete ? 1 : 0, hours, held.bytes, held.descriptors);
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(4);
    run_tree();
  }

  const Time begun_ = std::chrono::steady_clock::now();
  const Time until_;
  const int to_;
  int trees_ = 0;
  std::unique_ptr<Connections> connections_;  // which the models of the world stand on
  RealWorld world_;
};

}  // namespace

SoakHost::SoakHost(const std::string& url, Time until, std::chrono::seconds grace) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
    const auto left = std::chrono::ceil<std::chrono::seconds>(until - std::chrono::steady_clock::now());
    ::alarm(static_cast<unsigned>((std::max(left, std::chrono::seconds(0)) + grace).count()));
    Host(url, until, ends[1]).run();
    ::_exit(0);
  }
  ::close(ends[1]);
  said_ = ends[0];
}

SoakHost::~SoakHost() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (said_ >= 0) ::close(said_);
}

HostLife SoakHost::wait() {
  HostLife life;
  if (std::FILE* lines = ::fdopen(said_, "r")) {
    said_ = -1;
    HeldByHost held;
    int is_complete = 0;
    while (std::fscanf(lines, "%d %lf %ld %td", &is_complete, &held.hours, &held.bytes, &held.descriptors) ==
           4) {
      ++life.trees;
      life.incomplete += 1 - is_complete;
      if (life.trees > kTreesBefore) life.held.push_back(held);
    }
    std::fclose(lines);
  }
  int status = -1;
  life.ended_in_order = pid_ > 0 && ::waitpid(pid_, &status, 0) == pid_ && status == 0;
  pid_ = -1;
  return life;
}

}  // namespace deputy
