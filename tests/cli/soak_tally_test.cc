#include "soak_tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "soak_play.h"

namespace deputy {
namespace {

std::vector<std::string> events_of_a_sound_tree() {
  std::vector<std::string> lines(kChildren + 1, R"({"event":"completed","status":"ok"})");
  for (int child = 0; child < kChildren; ++child) {
    for (int step = 0; step < kSteps; ++step)
      lines.push_back(fmt::format(R"({{"event":"note","content":"{}"}})", note_of(child, step)));
  }
  return lines;
}
std::pair<int, int> lost_and_duplicated(const std::vector<std::string>& lines) {
  const Tally tally = tally_of(fmt::format("{}\n", fmt::join(lines, "\n")));
  return {tally.lost, tally.duplicated};
}

TEST(TallyOfATree, FindsWhatIsLostAndWhatIsThereTwice) {
  const auto sound = events_of_a_sound_tree();
  EXPECT_EQ(lost_and_duplicated(sound), std::pair(0, 0));
  for (const std::size_t which : {std::size_t{0}, sound.size() - 1}) {  // an end, and a note
    auto lacking = sound;
    lacking.erase(lacking.begin() + static_cast<std::ptrdiff_t>(which));
    EXPECT_EQ(lost_and_duplicated(lacking), std::pair(1, 0));
    auto twice = sound;
    twice.push_back(sound[which]);
    EXPECT_EQ(lost_and_duplicated(twice), std::pair(0, 1));
  }
  EXPECT_EQ(lost_and_duplicated({}), std::pair(kChildren * kSteps + kChildren + 1, 0));
}

TEST(TallyOfATree, KnowsWhichFilesAChildWasToldToHaveWritten) {
  const auto made = [](std::string_view result) {
    return tally_of(
               fmt::format(
                   R"({{"event":"tool_call","session_id":"a","step":1,"call":1,"args":"printf x >> {0}"}})"
                   "\n"
                   R"({{"event":"session.progress","session_id":"a","step":1,"call":0,"result":"ok"}})"
                   "\n"
                   R"({{"event":"session.progress","session_id":"a","step":1,"call":1,"result":"{1}"}})"
                   "\n",
                   file_of(7), result))
        .made;
  };
  EXPECT_EQ(made("ok"), std::set{file_of(7)});
  EXPECT_TRUE(made("error").empty()) << "it was told that nobody knows";
}

}  // namespace
}  // namespace deputy
