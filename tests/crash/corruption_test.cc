// A database and a log with a flipped bit, a torn page, or an end cut off: what is read is as it was, or it
// is said to be damaged and was hit; and nothing is written before a copy of what was there has been made.
#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "disk_world.h"
#include "page_map.h"
#include "store/sqlite/database.h"
#include "store/sqlite/select.h"

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

bool has_contents(const fs::path& path, std::string_view bytes) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16384> piece{};
  for (;;) {
    file.read(piece.data(), piece.size());
    const std::string_view read(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (!bytes.starts_with(read)) return false;
    bytes.remove_prefix(read.size());
    if (read.size() < piece.size()) return bytes.empty();
  }
}

using Lines = std::vector<std::string>;

// Which they are, without what they say.
Lines places_of_events(const std::vector<Event>& events) {
  Lines lines;
  for (const Event& event : events) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {}", event.seq, event.at.time_since_epoch().count(),
                                event.run.session.value, event.run.number, event.step, event.call,
                                kind_of(event.fact)));
  }
  return lines;
}

Lines lines_of_events(const std::vector<Event>& events) {
  Lines lines = places_of_events(events);
  for (std::size_t i = 0; i < events.size(); ++i) lines[i] += to_json_text(fact_to_json(events[i].fact));
  return lines;
}

std::string line_of_sessions(std::vector<Session> sessions) {
  std::string all;
  for (const Session& session : sessions)
    all += fmt::format("{} {} {} {} {}\n", session.id.value, session.label, name_of(session.state),
                       session.result, session.usage.output);
  return all;
}

bool begins(const Lines& whole, const Lines& with) {
  return with.size() <= whole.size() && std::equal(with.begin(), with.end(), whole.begin());
}

std::string first_other(const Lines& lines, const Lines& expected) {
  const auto [line, other] = std::ranges::mismatch(lines, expected);
  return fmt::format("{} instead of {}", line == lines.end() ? "nothing" : *line,
                     other == expected.end() ? "nothing" : *other);
}

// What lies where, so that a damage is known to hurt no more than what it hit.
class Corruption : public testing::Test {
 protected:
  struct Tree {
    SessionId id;
    Lines places;  // what its events say is compared session by session
    std::string sessions;
    std::map<SessionId, Lines> of_session;
  };
  struct Damage {
    Image image;
    std::string where;
    std::set<std::uint32_t> pages;  // of the database, that were hit and that no log has anew
    bool is_in_log = false;
  };
  struct Counts {
    int harmless = 0;
    int refused = 0;    // not opened at all
    int only_read = 0;  // nothing can be written any more
    int named = 0;      // some trees were
    int lost = 0;       // the newest records were, and that was said
    int sessions = 0;   // that were hurt
  };

  Corruption() {
    DiskWorld world(kChildren);
    const auto run_trees = [](Life& life) {
      for (int i = 0; i < kTrees / 2; ++i) EXPECT_TRUE(life.start(life.brief("go")));
    };
    run_trees(**world.life(1));
    {
      auto life = *world.life(2);
      run_trees(*life);
      const Store& store = life->runtime().store();
      for (const auto& root : *store.sessions({.roots_only = true})) {
        const auto sessions = *store.sessions({.tree = root.id});
        Tree tree{root.id, places_of_events(*store.events_of_tree(root.id)), line_of_sessions(sessions), {}};
        for (const auto& each : sessions)
          tree.of_session[each.id] = lines_of_events(*store.events_of_session(each.id));
        trees_.push_back(std::move(tree));
      }
      with_log_ = image_of(world.home.path());
    }
    without_log_ = image_of(world.home.path());
    EXPECT_EQ(trees_.size(), std::size_t{kTrees});
    EXPECT_GT(with_log_.at("deputy.db").size(), 50'000u);
    EXPECT_GT(with_log_.at("deputy.db-wal").size(), 50'000u);
    EXPECT_FALSE(without_log_.contains("deputy.db-wal"));
    const auto raw = *Database::open(world.home.file("deputy.db"), Database::Mode::read_only);
    records_ = *select(raw, "SELECT seq, session, body FROM journal ORDER BY seq", "",
                       [](const Statement& row) -> Result<Record> {
                         return Record{row.integer(0), SessionId(row.text(1)), row.text(2)};
                       });
    map_ = PageMap(without_log_.at("deputy.db"),
                   *raw.integer("SELECT rootpage FROM sqlite_schema WHERE name='journal'"));
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

  // Yields the bytes that were hit, from and to.
  static std::pair<std::size_t, std::size_t> damage(std::string& bytes, std::mt19937_64& chance) {
    const std::size_t at = chance() % bytes.size();
    const std::size_t all = bytes.size();
    switch (chance() % 3) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (chance() % 8)));
        return {at, at + 1};
      case 1: {  // half of a page is of another time
        const std::size_t half = at / 2048 * 2048;
        const std::size_t end = std::min(half + 2048, bytes.size());
        for (std::size_t i = half; i < end; ++i) bytes[i] = static_cast<char>(chance() % 2 ? chance() : 0);
        return {half, end};
      }
      default:
        bytes.resize(at);
        return {at, all};
    }
  }
  Damage damaged(bool has_log, bool in_log, std::mt19937_64& chance, std::string where) const {
    Damage made{.image = has_log ? with_log_ : without_log_, .where = std::move(where), .is_in_log = in_log};
    std::string& bytes = made.image.at(in_log ? "deputy.db-wal" : "deputy.db");
    const auto all = bytes.size();
    const auto [from, to] = damage(bytes, chance);
    made.where += fmt::format(" ({} to {} of {}, {} are left)", from, to, all, bytes.size());
    if (in_log) return made;
    for (std::size_t at = from / kPage; at <= (to - 1) / kPage; ++at)
      made.pages.insert(static_cast<std::uint32_t>(at + 1));
    if (has_log)
      for (const auto page : pages_in_log(with_log_.at("deputy.db-wal"))) made.pages.erase(page);
    return made;
  }

  // Which sessions it may hurt: those with a record on a page that was hit; all of them where that page leads
  // to others, or where rows and indexes are hit together with records.
  bool may_hurt(const Damage& made, const SessionId& session) const {
    std::size_t of_journal = 0;
    bool may = made.pages.contains(1);
    for (const auto page : made.pages) {
      if (map_.leading.contains(page)) return true;
      const auto found = map_.records.find(page);
      if (found == map_.records.end()) continue;
      ++of_journal;
      for (const auto seq : found->second)
        may = may || records_.at(static_cast<std::size_t>(seq - 1)).session == session;
    }
    return may || (of_journal != 0 && of_journal != made.pages.size());
  }

  // What came of it.
  void look(const Damage& made, Counts& counts) {
    const std::string& where = made.where;
    put(made.image);
    auto store = open();
    if (!store) {
      ++counts.refused;
      EXPECT_TRUE(made.image.at("deputy.db").empty() || made.pages.contains(1))
          << where << ": " << to_text(store.error());
      EXPECT_FALSE(store.error().advice.empty()) << where << ": " << store.error().message;
      expect_untouched(made);
      return;
    }
    const bool can_write = (*store)->can_write();
    const bool is_lost = can_write && (*store)->loss();
    EXPECT_TRUE(!is_lost || made.is_in_log) << where << ": lost, and the log was whole";
    std::set<SessionId> hurt;
    for (const Tree& tree : trees_) read(**store, tree, is_lost, made, hurt);
    if ((*store)->loss() || !hurt.empty()) expect_copied(made);
    if (!is_lost) expect_untouched(made);
    counts.sessions += static_cast<int>(hurt.size());
    const int refused = claim_all(**store, hurt, made);
    if (is_lost) (*store)->forget_loss();
    store->reset();
    const auto again = open();
    EXPECT_TRUE(again) << where << ": not opened again: " << (again ? "" : to_text(again.error()));
    EXPECT_EQ(again && (*again)->loss(), !can_write) << where << ": told until it is forgotten or mended";
    if (is_lost) {
      ++counts.lost;
    } else if (!can_write) {
      ++counts.only_read;
    } else if (!hurt.empty() || refused > 0) {
      ++counts.named;
    } else {
      ++counts.harmless;
    }
  }

  void expect_untouched(const Damage& made) const {
    for (const auto& [name, bytes] : made.image)
      EXPECT_TRUE(has_contents(home_.file(name), bytes)) << made.where << ": " << name << " was changed";
  }
  void expect_copied(const Damage& made) const {
    int copies = 0;
    std::error_code absent;
    for (const auto& folder : fs::directory_iterator(home_.file("damaged"), absent)) {
      ++copies;
      for (const char* name : {"deputy.db", "deputy.db-wal"}) {
        if (made.image.contains(name))
          EXPECT_TRUE(has_contents(folder.path() / name, made.image.at(name)))
              << made.where << ": the copy of " << name;
      }
    }
    EXPECT_EQ(copies, 1) << made.where << ": copies";
  }

  // Never other than it was without a word, and nothing hurt that was not hit.
  void read(const SqliteStore& store, const Tree& tree, bool is_lost, const Damage& made,
            std::set<SessionId>& hurt) const {
    const std::string& where = made.where;
    bool may_be_hurt = false;
    for (const auto& [id, expected] : tree.of_session) {
      const bool may = may_hurt(made, id);
      may_be_hurt = may_be_hurt || may;
      const auto alone = store.events_of_session(id);
      if (!alone) {
        hurt.insert(id);
        EXPECT_EQ(alone.error().code, ErrorCode::corrupt) << where << ": " << alone.error().message;
        EXPECT_TRUE(may) << where << ": " << id.value << " was not hit: " << alone.error().message;
      } else {
        const auto lines = lines_of_events(*alone);
        EXPECT_TRUE(lines == expected || (is_lost && begins(expected, lines)))
            << where << ": silently another session: " << first_other(lines, expected);
      }
    }
    const auto events = store.events_of_tree(tree.id);
    const auto sessions = store.sessions({.tree = tree.id});
    if (!may_be_hurt) {
      EXPECT_TRUE(events) << where << ": " << to_text(events.error());
      EXPECT_TRUE(sessions) << where << ": " << to_text(sessions.error());
    }
    if (events) {
      const auto places = places_of_events(*events);
      EXPECT_TRUE(places == tree.places || (is_lost && begins(tree.places, places)))
          << where << ": silently other events: " << first_other(places, tree.places);
    } else {
      EXPECT_EQ(events.error().code, ErrorCode::corrupt) << where << ": " << events.error().message;
    }
    if (sessions && events && !is_lost) {
      EXPECT_EQ(line_of_sessions(*sessions), tree.sessions) << where << ": silently other sessions";
    }
  }

  // How many trees are not taken up. Those that are hurt come first, while nothing has been written.
  int claim_all(SqliteStore& store, const std::set<SessionId>& hurt, const Damage& made) {
    std::vector<std::reference_wrapper<const Tree>> trees(trees_.begin(), trees_.end());
    const auto is_hurt = [&hurt](const Tree& tree) {
      return std::ranges::any_of(tree.of_session,
                                 [&](const auto& each) { return hurt.contains(each.first); });
    };
    std::ranges::partition(trees, is_hurt);
    int refused = 0;
    for (const Tree& tree : trees) {
      const auto claimed = store.claim(tree.id);
      EXPECT_FALSE(claimed && is_hurt(tree)) << made.where << ": a damaged tree was taken up";
      if (claimed) continue;
      ++refused;
      EXPECT_EQ(claimed.error().code, ErrorCode::corrupt) << made.where << ": " << claimed.error().message;
      EXPECT_TRUE(fs::exists(home_.file("damaged"))) << made.where;
      EXPECT_THAT(claimed.error().advice,
                  testing::HasSubstr(store.can_write() ? "a copy of what was found is in" : "to start anew"))
          << made.where;
    }
    return refused;
  }

  void corrupt(int times, std::uint64_t seed) {
    std::mt19937_64 chance(seed);
    Counts counts;
    for (int i = 0; i < times && !HasFailure(); ++i) {
      const bool in_log = i % 4 == 3;
      look(damaged(i % 2 != 0, in_log, chance,
                   fmt::format("corruption {} of the {}", i, in_log ? "log" : "database")),
           counts);
    }
    std::size_t of_tree = 0;
    for (const Tree& tree : trees_) of_tree += tree.of_session.size();
    fmt::print(
        "figures: {} corruptions: {} harmless, {} refused and untouched (the first page), {} only to be "
        "read, "
        "{} with damaged trees named, {} with lost newest records named; of {} sessions that could be asked "
        "for, {} were hurt, none that was not hit; 0 silently other\n",
        times, counts.harmless, counts.refused, counts.only_read, counts.named, counts.lost,
        static_cast<std::size_t>(times - counts.refused) * of_tree, counts.sessions);
    EXPECT_GT(counts.harmless, 0);
    EXPECT_GT(counts.named, 0);
    EXPECT_GT(counts.only_read, 0);
    EXPECT_GT(counts.lost, 0);
    EXPECT_LT(counts.refused, times / 10);
  }

  // One bit of what a record says.
  void flip_records(int times, std::uint64_t seed) {
    std::mt19937_64 chance(seed);
    const std::string& database = without_log_.at("deputy.db");
    int flipped = 0;
    while (flipped < times && !HasFailure()) {
      const Record& record = records_[chance() % records_.size()];
      const auto at = database.find(record.body);
      if (at == std::string::npos || database.find(record.body, at + 1) != std::string::npos) continue;
      Damage made{.image = without_log_, .where = fmt::format("record {}, flip {}", record.seq, flipped++)};
      char& byte = made.image.at("deputy.db")[at + (chance() % record.body.size())];
      byte = static_cast<char>(byte ^ (1 << (chance() % 8)));
      expect_one_hurt(made, record.session);
    }
    fmt::print("figures: {} flips in records, each hurt its session and no other\n", flipped);
  }
  void expect_one_hurt(const Damage& made, const SessionId& session) {
    put(made.image);
    const auto store = *open();
    for (const Tree& tree : trees_) {
      const bool is_its = tree.of_session.contains(session);
      for (const auto& [id, expected] : tree.of_session) {
        const auto alone = store->events_of_session(id);
        ASSERT_EQ(alone.has_value(), id != session) << made.where;
        if (alone) EXPECT_EQ(lines_of_events(*alone), expected) << made.where;
      }
      EXPECT_EQ(line_of_sessions(*store->sessions({.tree = tree.id})), tree.sessions) << made.where;
      EXPECT_EQ(store->events_of_tree(tree.id).has_value(), !is_its) << made.where;
    }
    expect_copied(made);
    expect_untouched(made);
    EXPECT_EQ(claim_all(*store, {session}, made), 1) << made.where;
  }

  struct Record {
    std::int64_t seq = 0;
    SessionId session;
    std::string body;
  };
  TempFolder home_{TempFolder::Where::in_memory};
  SimLoop loop_{1};
  std::vector<Tree> trees_;
  std::vector<Record> records_;
  PageMap map_;
  Image with_log_;
  Image without_log_;
};

TEST_F(Corruption, HurtsOnlyWhatItHitAndThatIsNamed) { corrupt(60, 1); }

TEST_F(Corruption, OfARecordHurtsItsSessionAlone) { flip_records(10, 1); }

TEST_F(Corruption, OfNothingChangesNothing) {
  Counts counts;
  for (const Image& image : {with_log_, without_log_}) look({.image = image, .where = "untouched"}, counts);
  EXPECT_EQ(counts.harmless, 2);
  EXPECT_FALSE(fs::exists(home_.file("damaged")));
}

// A journal in circles has no end.
TEST_F(Corruption, ThatLeadsBackIsReadToItsEnd) {
  Counts counts;
  ASSERT_FALSE(map_.ways.empty());
  for (const std::size_t way : map_.ways) {
    const auto page = static_cast<std::uint32_t>(way / kPage + 1);
    for (const std::uint32_t to : {page, map_.records.begin()->first, *map_.leading.begin()}) {
      Damage made{
          .image = without_log_, .where = fmt::format("page {} leads to {}", page, to), .pages = {page}};
      for (std::size_t byte = 0; byte < 4; ++byte)
        made.image.at("deputy.db")[way + byte] = static_cast<char>(to >> (24 - byte * 8));
      look(made, counts);
    }
  }
  EXPECT_GT(counts.named, 0);
  EXPECT_EQ(counts.refused, 0);
}

class CorruptionExhaustive : public Corruption {};

// In two halves, which run beside each other.
TEST_F(CorruptionExhaustive, HurtsOnlyWhatItHitFiveThousandTimes) {
  corrupt(4'500, 1);
  flip_records(500, 1);
}

TEST_F(CorruptionExhaustive, HurtsOnlyWhatItHitFiveThousandTimesMore) {
  corrupt(4'500, 2);
  flip_records(500, 2);
}

}  // namespace
}  // namespace deputy
