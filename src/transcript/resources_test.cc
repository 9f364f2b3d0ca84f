#include "transcript/resources.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

using namespace std::chrono_literals;

Event event_of(std::string_view session, Fact fact) {
  return {.run = {SessionId(std::string(session)), 1}, .fact = std::move(fact)};
}

TEST(Resources, AreCountedForEachSessionByItself) {
  const auto used = resources_of({event_of("a", CallFinished{}), event_of("a", ProcessEnded{"make", 2s, 100}),
                                  event_of("b", CallFinished{}), event_of("a", CallFinished{}),
                                  event_of("a", ProcessEnded{"rg", 500ms, 300}),
                                  event_of("a", ProcessEnded{"true", 1ms, 200})});
  EXPECT_EQ(used.at(SessionId("a")), (Resources{.calls = 2, .processes = 3, .cpu = 2501ms, .memory = 300}));
  EXPECT_EQ(used.at(SessionId("b")), (Resources{.calls = 1}));
  EXPECT_EQ(to_json_text(to_json(used.at(SessionId("a")))),
            R"({"calls":2,"processes":3,"cpu_ms":2501,"memory":300})");
}

}  // namespace
}  // namespace deputy
