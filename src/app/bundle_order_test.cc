#include "app/bundle_order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "app/bundle.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kUuid = "01234567-89ab-4cde-8f01-23456789abcd";

SessionId id_of(std::size_t number) { return SessionId(fmt::format("sess_1800000000_{:06}", number)); }

// A tree that grows event by event.
struct GrowingTree {
  Event& add(Fact fact, const SessionId& session = id_of(0)) {
    events.push_back({.seq = events.size() + 1, .run = {session, 1}, .fact = std::move(fact)});
    return events.back();
  }
  // Below the session of this number; the first has nobody above it.
  Session& add_session(std::size_t parent = 0) {
    Session session;
    session.id = id_of(sessions);
    session.tree = id_of(0);
    if (sessions++ > 0) {
      session.parent = id_of(parent);
      session.delegation = DelegationKey{.call = {.run = {*session.parent, 1}}};
    }
    return *std::get<SessionCreated>(add(SessionCreated{session}, session.id).fact).session;
  }
  void add_word(std::string id, Source source = Source::person) {
    add(Nudged{std::move(id), source, "go on"});
  }

  std::vector<Event> events;
  std::size_t sessions = 0;
};

// What it says of the first event that it does not take.
Error refusal_of(const std::vector<Event>& events) {
  BundleOrder order;
  for (const Event& event : events)
    if (const auto taken = order.take(event); !taken) return taken.error();
  return {};
}

Error refusal_of(const auto& change) {
  GrowingTree tree;
  tree.add_session();
  change(tree);
  return refusal_of(tree.events);
}

TEST(OrderOfABundle, HasSessionsThatAreNamedAsDeputyNamesThem) {
  for (const char* id :
       {"", "a", "sess_1_root", "sess_1800000000_aaaaaaa", "sess_1800000000_", "../../etc"}) {
    const Error refusal = refusal_of([id](GrowingTree& tree) {
      tree.events.clear();
      tree.add_session().id = SessionId(id);
      tree.events.back().run.session = SessionId(id);
    });
    EXPECT_EQ(refusal.code, ErrorCode::corrupt);
    EXPECT_EQ(refusal.message, "it creates a session whose id is none of deputy's") << id;
  }
}

TEST(OrderOfABundle, HasUuidsThatAreSomeOrNone) {
  const auto refusal = [](std::string_view uuid) {
    return refusal_of([uuid](GrowingTree& tree) { tree.add_session().uuid = Uuid(std::string(uuid)); })
        .message;
  };
  for (const std::string_view uuid : {std::string_view(), kUuid}) EXPECT_EQ(refusal(uuid), "") << uuid;
  for (const std::string_view uuid :
       {"u", "e", "0123456789ab4cde8f0123456789abcd", "01234567-89AB-4cde-8f01-23456789abcd",
        "01234567-89ab-4cde-8f01-23456789abcd0", "01234567-89ab-4cde-8f01-23456789abc",
        "\"text\":", "g1234567-89ab-4cde-8f01-23456789abcd", "01234567089ab-4cde-8f01-23456789abcd"})
    EXPECT_EQ(refusal(uuid), "it creates a session whose uuid is none") << uuid;
}

TEST(OrderOfABundle, HasWordsOfThePersonThatAreNamedAsDeputyNamesThem) {
  const auto refusal = [](std::string_view id, Source source) {
    return refusal_of([&](GrowingTree& tree) { tree.add_word(std::string(id), source); }).message;
  };
  for (const std::string_view id :
       {kUuid, std::string_view("letter_1"), std::string_view("letter_9223372036854775807")})
    EXPECT_EQ(refusal(id, Source::person), "") << id;
  for (const std::string_view id :
       {"", "1", "go", "letter_", "letter_x", "letter_1 ", "letter_12345678901234567890"})
    EXPECT_EQ(refusal(id, Source::person), "the id of its message is none of deputy's") << id;
  EXPECT_EQ(refusal("lost_bash_3_1", Source::runtime), "") << "nothing of a replay is named by it";
}

TEST(OrderOfABundle, HasALimitOfDepth) {
  GrowingTree tree;
  for (int depth = 0; depth <= kMostBundledDepth; ++depth) tree.add_session(tree.sessions - 1);
  EXPECT_EQ(refusal_of(tree.events).message, "");
  tree.add_session();
  EXPECT_EQ(refusal_of(tree.events).message, "") << "beside them";
  tree.add_session(kMostBundledDepth);
  EXPECT_EQ(refusal_of(tree.events).code, ErrorCode::exhausted);
  EXPECT_EQ(refusal_of(tree.events).message, "its sessions nest deeper than 64");
}

TEST(OrderOfABundle, HasALimitOfSessions) {
  GrowingTree tree;
  for (std::size_t i = 0; i < kMostBundledSessions; ++i) tree.add_session();
  EXPECT_EQ(refusal_of(tree.events).message, "");
  tree.add_session();
  EXPECT_EQ(refusal_of(tree.events).code, ErrorCode::exhausted);
  EXPECT_EQ(refusal_of(tree.events).message, "it has more than 20,000 sessions");
}

TEST(OrderOfABundle, HasALimitOfProgramsThatTakeItUp) {
  GrowingTree tree;
  tree.add_session();
  for (int i = 0; i < kMostTakenUp; ++i) tree.add(TakenUp{});
  EXPECT_EQ(refusal_of(tree.events).message, "");
  tree.add(TakenUp{});
  EXPECT_EQ(refusal_of(tree.events).code, ErrorCode::exhausted);
  EXPECT_EQ(refusal_of(tree.events).message, "it was taken up more than 1,000 times");
}

// The file is whole: it is no use to ask for it again.
TEST(ABundle, OfALargerTreeThanCanBeReplayedIsRefusedInWords) {
  GrowingTree tree;
  tree.add_session();
  for (int i = 0; i < kMostTakenUp; ++i) tree.add(TakenUp{});
  EXPECT_TRUE(parse_bundle(bundle_text({{}, tree.events}, {})));
  tree.add(TakenUp{});
  const auto read = parse_bundle(bundle_text({{}, tree.events}, {}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::exhausted);
  EXPECT_EQ(
      read.error().message,
      "the bundle's tree is larger than any that can be replayed: it was taken up more than 1,000 times "
      "(line 1003)");
  EXPECT_THAT(read.error().advice, HasSubstr("deputy sessions transcript ID"));
}

TEST(ABundle, WithNamesThatNoDeputyGivesIsRefusedWithTheLine) {
  GrowingTree tree;
  tree.add_session();
  tree.add_word("e");
  const auto read = parse_bundle(bundle_text({{}, tree.events}, {}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "the bundle is broken in line 3: the id of its message is none of deputy's");
}

}  // namespace
}  // namespace deputy
