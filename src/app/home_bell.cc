#include "app/home_bell.h"

#include <utility>

#include "async/descriptor.h"
#include "base/disk_watch.h"

namespace deputy {
namespace {

class HomeBell final : public Bell {
 public:
  HomeBell(SystemLoop& loop, std::unique_ptr<DiskWatch> watch) : loop_(loop), watch_(std::move(watch)) {}

  Task<> wait(StopToken stop) override {
    co_await wait_readable(loop_, watch_->descriptor(), std::move(stop));
    watch_->forget();
  }

 private:
  SystemLoop& loop_;
  std::unique_ptr<DiskWatch> watch_;
};

}  // namespace

std::unique_ptr<Bell> home_bell(SystemLoop& loop, const std::string& home) {
  auto watch = DiskWatch::on(home);
  if (!watch) return nullptr;
  return std::make_unique<HomeBell>(loop, std::move(watch));
}

}  // namespace deputy
