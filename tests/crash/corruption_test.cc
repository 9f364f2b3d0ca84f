// A database and a log with a flipped bit, a torn page, or an end cut off: what is read is as it was, or it
// is said to be damaged, and nothing is written before a copy of what was there has been made and compared.
#include <gmock/gmock.h>

#include <fstream>

#include "disk_world.h"
#include "faulty_disk.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr int kTrees = 4;
constexpr int kChildren = 2;
constexpr std::array kFiles{"deputy.db", "deputy.db-wal", "deputy.mark"};

using Image = std::map<std::string, std::string>;  // files by name

std::string contents(const fs::path& path) {
  std::error_code absent;
  const auto size = fs::file_size(path, absent);
  std::string bytes(absent ? 0 : size, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::vector<std::string> lines_of_events(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {}", event.seq, event.at.time_since_epoch().count(),
                                event.run.session.value, event.run.number, event.step, event.call,
                                kind_of(event.fact), to_json_text(fact_to_json(event.fact))));
  }
  return lines;
}

std::string line_of_sessions(std::vector<Session> sessions) {
  std::string all;
  for (const Session& session : sessions)
    all += fmt::format("{} {} {} {} {}\n", session.id.value, session.label, name_of(session.state),
                       session.result, session.usage.output);
  return all;
}

class Corruption : public testing::Test {
 protected:
  struct Tree {
    SessionId id;
    std::vector<std::string> events;
    std::string sessions;
    std::map<SessionId, std::vector<std::string>> of_session;
  };
  struct Counts {
    int harmless = 0;
    int refused = 0;  // not opened at all
    int named = 0;    // some trees were
    int lost = 0;     // the newest records were, and that was said
    int trees = 0;    // that were hurt, where the database opened
  };

  Corruption() {
    DiskWorld world(kChildren);
    {
      auto life = *world.life(1);
      for (int i = 0; i < kTrees; ++i) EXPECT_TRUE(life->start(life->brief("go")));
      const Store& store = life->runtime().store();
      for (const auto& root : *store.sessions({.roots_only = true})) {
        const auto sessions = *store.sessions({.tree = root.id});
        Tree tree{root.id, lines_of_events(*store.events_of_tree(root.id)), line_of_sessions(sessions), {}};
        for (const auto& each : sessions)
          tree.of_session[each.id] = lines_of_events(*store.events_of_session(each.id));
        trees_.push_back(std::move(tree));
      }
      with_log_ = image_of(world.home.path());
    }
    without_log_ = image_of(world.home.path());
    EXPECT_GT(with_log_.at("deputy.db-wal").size(), 50'000u);
    EXPECT_FALSE(without_log_.contains("deputy.db-wal"));
  }

  static Image image_of(const fs::path& home) {
    Image image;
    for (const char* name : kFiles)
      if (fs::exists(home / name)) image[name] = contents(home / name);
    return image;
  }
  void put(const Image& image) const {
    for (const char* name : {"deputy.db", "deputy.db-wal", "deputy.db-shm", "deputy.mark", "deputy.lock"})
      fs::remove(home_.file(name));
    fs::remove_all(home_.file("damaged"));
    for (const auto& [name, bytes] : image)
      std::ofstream(home_.file(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  Result<std::unique_ptr<SqliteStore>> open() {
    auto folder = SystemDisk().open(home_.path(), IfAbsent::fail);
    return SqliteStore::open(loop_, **folder, std::make_unique<InlineWriter>(loop_));
  }

  static void damage(std::string& bytes, std::mt19937_64& chance) {
    const std::size_t at = chance() % bytes.size();
    switch (chance() % 3) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (chance() % 8)));
        break;
      case 1: {  // half of a page is of another time
        const std::size_t half = at / 2048 * 2048;
        for (std::size_t i = half; i < std::min(half + 2048, bytes.size()); ++i)
          bytes[i] = static_cast<char>(chance() % 2 ? chance() : 0);
        break;
      }
      default:
        bytes.resize(at);
    }
  }

  // What came of one damaged image.
  void look(const Image& image, const std::string& where, Counts& counts) {
    put(image);
    const FaultyDisk quick;
    auto store = open();
    if (!store) {
      ++counts.refused;
      EXPECT_FALSE(store.error().message.empty()) << where;
      EXPECT_FALSE(store.error().advice.empty()) << where << ": " << store.error().message;
      for (const auto& [name, bytes] : image) EXPECT_EQ(contents(home_.file(name)) == bytes, true) << where;
      return;
    }
    const bool can_write = (*store)->can_write();
    const bool is_lost = can_write && (*store)->loss();
    if ((*store)->loss()) expect_copied(image, where);
    int hurt = 0;
    for (const Tree& tree : trees_) hurt += is_hurt(**store, tree, is_lost, where);
    counts.trees += hurt;
    if (is_lost) (*store)->forget_loss();
    store->reset();
    const auto again = open();
    EXPECT_TRUE(again) << where << ": not opened again: " << (again ? "" : to_text(again.error()));
    EXPECT_EQ(again && (*again)->loss(), !can_write) << where << ": told until it is forgotten or mended";
    if (is_lost) {
      ++counts.lost;
    } else if (hurt > 0) {
      ++counts.named;
    } else {
      ++counts.harmless;
    }
  }

  void expect_copied(const Image& image, const std::string& where) const {
    int copies = 0;
    std::error_code absent;
    for (const auto& folder : fs::directory_iterator(home_.file("damaged"), absent)) {
      ++copies;
      for (const char* name : {"deputy.db", "deputy.db-wal"}) {
        if (image.contains(name))
          EXPECT_EQ(contents(folder.path() / name) == image.at(name), true)
              << where << ": the copy of " << name;
      }
    }
    EXPECT_GT(copies, 0) << where << ": nothing was copied";
  }

  // Never other than it was without a word.
  bool is_hurt(SqliteStore& store, const Tree& tree, bool is_lost, const std::string& where) const {
    const auto events = store.events_of_tree(tree.id);
    const auto sessions = store.sessions({.tree = tree.id});
    const auto claimed = store.claim(tree.id);
    bool hurt = !events || !sessions || !claimed;
    if (events) {
      const auto lines = lines_of_events(*events);
      const bool is_beginning =
          lines.size() <= tree.events.size() && std::equal(lines.begin(), lines.end(), tree.events.begin());
      EXPECT_TRUE(lines == tree.events || (is_lost && is_beginning)) << where << ": silently other events";
      hurt = hurt || lines != tree.events;
    } else {
      EXPECT_EQ(events.error().code, ErrorCode::corrupt) << where << ": " << events.error().message;
    }
    if (sessions && !is_lost && events) {
      EXPECT_EQ(line_of_sessions(*sessions), tree.sessions) << where << ": silently other sessions";
    }
    if (!events) EXPECT_FALSE(claimed) << where << ": a damaged tree was taken up";
    if (!claimed && claimed.error().code == ErrorCode::corrupt) {
      EXPECT_TRUE(fs::exists(home_.file("damaged"))) << where;
      EXPECT_THAT(claimed.error().advice,
                  testing::HasSubstr(store.can_write() ? "a copy of what was found is in" : "to start anew"))
          << where;
    }
    for (const auto& [id, expected] : tree.of_session) {
      const auto alone = store.events_of_session(id);
      if (!alone) {
        EXPECT_EQ(alone.error().code, ErrorCode::corrupt) << where << ": " << alone.error().message;
      } else if (!is_lost) {
        EXPECT_EQ(lines_of_events(*alone), expected) << where << ": silently another session";
      }
    }
    return hurt;
  }

  void corrupt(int times, std::uint64_t seed) {
    std::mt19937_64 chance(seed);
    Counts counts;
    for (int i = 0; i < times && !HasFailure(); ++i) {
      Image image = i % 2 ? with_log_ : without_log_;
      const bool in_log = i % 4 == 3;
      damage(image.at(in_log ? "deputy.db-wal" : "deputy.db"), chance);
      look(image, fmt::format("corruption {} of the {}", i, in_log ? "log" : "database"), counts);
    }
    const int opened = times - counts.refused;
    fmt::print(
        "figures: {} corruptions: {} harmless, {} refused and untouched, {} with damaged trees named, {} "
        "with lost "
        "newest records named; of {} trees that could be asked for, {} were hurt; 0 silently other\n",
        times, counts.harmless, counts.refused, counts.named, counts.lost, opened * kTrees, counts.trees);
    EXPECT_GT(counts.harmless, 0);
    EXPECT_GT(counts.named, 0);
    EXPECT_GT(counts.lost, 0);
  }

  TempFolder home_;
  SimLoop loop_{1};
  std::vector<Tree> trees_;
  Image with_log_;
  Image without_log_;
};

TEST_F(Corruption, IsHarmlessOrNamed) { corrupt(60, 1); }

TEST_F(Corruption, OfNothingChangesNothing) {
  Counts counts;
  for (const Image& image : {with_log_, without_log_}) look(image, "untouched", counts);
  EXPECT_EQ(counts.harmless, 2);
}

class CorruptionExhaustive : public Corruption {};

// In two halves, which run beside each other.
TEST_F(CorruptionExhaustive, IsHarmlessOrNamedFiveThousandTimes) { corrupt(5'000, 1); }

TEST_F(CorruptionExhaustive, IsHarmlessOrNamedFiveThousandTimesMore) { corrupt(5'000, 2); }

}  // namespace
}  // namespace deputy
