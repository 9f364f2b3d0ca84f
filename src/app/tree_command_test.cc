#include "app/tree_command.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "store/memory_store.h"

namespace deputy {
namespace {

// A provider with one model that costs something.
class Shop final : public Provider {
 public:
  static inline const ModelName kFree{"shop/free"};
  static inline const ModelName kDear{"shop/dear"};

  std::string_view name() const override { return "shop"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName& model) const override {
    return model == kDear ? Price{.input = 1000, .output = 1000} : Price{};
  }
  Task<Reply> ask(Request, DeltaSink, StopToken) override { co_return Reply{}; }
};

TEST(CheckRoom, PricesTheModelThatTheSessionGoesOnWith) {
  SimLoop loop(1);
  auto memory = std::make_shared<MemoryStore::Memory>();
  const MemoryStore store(loop, memory);
  Session root;
  root.id = root.tree = SessionId("sess_1_root");
  root.model = Shop::kFree;
  memory->sessions[root.id] = root;
  const auto start_run = [&](int number, ModelName model) {
    Event event;
    event.tree = root.id;
    event.run = {root.id, number};
    event.fact = RunStarted{.model = std::move(model)};
    memory->journal.push_back(std::move(event));
  };
  Models models;
  models.add(std::make_unique<Shop>());
  const auto has_room = [&] {
    const TreeLimits limits{.cost_micros = 1000};
    const bool can_be_told_more = check_room(store, models, root, root, "go on", limits).has_value();
    EXPECT_EQ(check_room_to_go_on(store, models, root, limits).has_value(), can_be_told_more);
    return can_be_told_more;
  };
  start_run(1, {});
  EXPECT_TRUE(has_room()) << "control: the one that it was started with";
  start_run(2, Shop::kDear);
  EXPECT_FALSE(has_room());
  start_run(3, Shop::kFree);
  EXPECT_TRUE(has_room());
}

}  // namespace
}  // namespace deputy
