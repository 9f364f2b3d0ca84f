#include "app/prune_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/session_lookup.h"
#include "app/session_text.h"
#include "base/text.h"
#include "store/sqlite/leftovers.h"
#include "store/sqlite/prune.h"

namespace deputy {
namespace {

constexpr std::size_t kGoalCharacters = 48;

struct Gone {
  EndedTree tree;
  Pruning::Size size;
};

struct Kept {
  SessionId tree;
  Error why;  // names it
};

struct Pruned {
  std::optional<Error> damage;  // of the database
  std::vector<Gone> trees;
  std::vector<Kept> kept;  // trees that are old enough
  std::optional<Error> failure;
  std::uint64_t database_before = 0;
  std::uint64_t database_after = 0;

  Pruning::Size total() const {
    Pruning::Size sum;
    for (const auto& [tree, size] : trees) {
      sum.sessions += size.sessions;
      sum.files += size.files;
      sum.bytes += size.bytes;
    }
    return sum;
  }
};

std::uint64_t database_bytes(const Folder& home) {
  std::uint64_t bytes = 0;
  for (const auto* name : {"deputy.db", "deputy.db-wal"}) {
    if (const auto status = home.status(name)) bytes += status->size;
  }
  return bytes;
}

OrFailure<EndedTree> tree_typed(const Store& store, const SessionsArguments& arguments) {
  if (arguments.older_than)
    return misused("a session and --older-than were given", "give the one or the other");
  TRY(auto session, session_typed(store, arguments.id));
  if (session.parent) {
    return misused(fmt::format("{} is a child: a tree is removed as a whole", session.id.value),
                   fmt::format("run `deputy sessions prune {}`", session.tree.value));
  }
  const WallTime at = session.last_event_at;
  return EndedTree{std::move(session), at};
}

OrFailure<std::vector<EndedTree>> chosen(Program& program, const Store& store,
                                         const SessionsArguments& arguments) {
  if (!arguments.id.empty()) {
    TRY(auto tree, tree_typed(store, arguments));
    return std::vector{std::move(tree)};
  }
  TRY(const auto sessions, store.sessions({.most = kAllSessions}));
  const auto age =
      std::chrono::duration_cast<WallTime::duration>(arguments.older_than.value_or(Duration(kKeptFor)));
  return ended_before(program.loop.clock().wall() - age, sessions);
}

bool is_about_the_tree(const Error& error) {
  return error.code == ErrorCode::busy || error.code == ErrorCode::invalid ||
         error.code == ErrorCode::not_found || error.code == ErrorCode::corrupt;
}

// Damage is told of the database; what matters here is which tree it hurts, and that the rest can be read.
Kept kept_for(const SessionId& tree, Error why) {
  if (!why.message.contains(tree.value)) why.message = fmt::format("{}: {}", tree.value, why.message);
  if (why.code == ErrorCode::corrupt)
    why.advice = fmt::format("`deputy sessions export {}` prints what can be read of it", tree.value);
  return {tree, std::move(why)};
}

Result<Pruned> prune(const Folder& home, const std::vector<EndedTree>& trees, bool is_rehearsal) {
  TRY(auto pruning, Pruning::open(home));
  Pruned pruned{.damage = pruning.damage(), .database_before = database_bytes(home)};
  for (const EndedTree& tree : trees) {
    auto size = is_rehearsal ? pruning.size_of(tree.root.id) : pruning.remove(tree.root.id);
    if (size) {
      pruned.trees.push_back({tree, *size});
      if (is_rehearsal) continue;
      if (auto written = pruning.write_back(); !written) {
        pruned.failure = std::move(written).error();
        break;
      }
    } else if (is_about_the_tree(size.error())) {
      pruned.kept.push_back(kept_for(tree.root.id, std::move(size).error()));
    } else {
      pruned.failure = std::move(size).error();
      break;
    }
  }
  if (!is_rehearsal && !pruned.failure) {
    if (auto given = pruning.give_back_space(); !given) {
      pruned.failure = Error{given.error().code,
                             fmt::format("what was removed is gone, but {} is as large as before: {}",
                                         join_path(home.path(), "deputy.db"), given.error().message),
                             "run `deputy sessions prune` again when there is room for a copy of it"};
    }
  }
  pruned.database_after = database_bytes(home);
  return pruned;
}

json::object to_json(const Program& program, const Pruned& pruned, bool is_rehearsal) {
  json::array trees;
  for (const auto& [tree, size] : pruned.trees) {
    trees.emplace_back(json::object{{"id", tree.root.id.value},
                                    {"label", tree.root.label},
                                    {"ended_at", to_iso8601(tree.ended_at)},
                                    {"sessions", size.sessions},
                                    {"files", size.files},
                                    {"bytes", size.bytes}});
  }
  json::array kept;
  for (const auto& [tree, why] : pruned.kept) {
    json::object entry = program.told(why);
    entry["id"] = tree.value;
    kept.emplace_back(std::move(entry));
  }
  const auto total = pruned.total();
  json::object document{{"dry_run", is_rehearsal},
                        {"trees", std::move(trees)},
                        {"kept", std::move(kept)},
                        {"sessions", total.sessions},
                        {"files", total.files},
                        {"bytes", total.bytes},
                        {"database_bytes_before", pruned.database_before},
                        {"database_bytes_after", pruned.database_after}};
  if (pruned.failure) document["error"] = program.told(*pruned.failure);
  return document;
}

std::string bytes_text(std::uint64_t bytes) { return short_count(bytes) + "B"; }

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void show(Program& program, const Pruned& pruned, bool is_rehearsal) {
  for (const auto& [tree, size] : pruned.trees) {
    program.out.write_line(fmt::format(
        "{}  {}  {}, {}  {}", tree.root.id.value, to_iso8601(tree.ended_at).substr(0, 10),
        counted(size.sessions, "session"), bytes_text(size.bytes), goal_of(tree.root, kGoalCharacters)));
  }
  const auto total = pruned.total();
  std::string sum = fmt::format("{}, {}, {}, {} {}", counted(pruned.trees.size(), "tree"),
                                counted(total.sessions, "session"), counted(total.files, "file"),
                                bytes_text(total.bytes), is_rehearsal ? "would be removed" : "removed");
  if (pruned.database_after < pruned.database_before) {
    sum += fmt::format("; the database went from {} to {}", bytes_text(pruned.database_before),
                       bytes_text(pruned.database_after));
  }
  program.out.write_line(sum);
}

}  // namespace

std::vector<EndedTree> ended_before(WallTime before, const std::vector<Session>& sessions) {
  struct Seen {
    const Session* root = nullptr;
    bool has_ended = true;
    WallTime last{};
  };
  std::map<SessionId, Seen> seen;
  for (const Session& session : sessions) {
    Seen& tree = seen[session.tree];
    if (!session.parent) tree.root = &session;
    tree.has_ended = tree.has_ended && is_terminal(session.state);
    tree.last = std::max(tree.last, session.last_event_at);
  }
  std::vector<EndedTree> ended;
  for (const auto& [id, tree] : seen) {
    if (tree.root && tree.has_ended && tree.last <= before) ended.push_back({*tree.root, tree.last});
  }
  std::ranges::sort(ended, {}, [](const EndedTree& tree) { return std::tuple(tree.ended_at, tree.root.id); });
  return ended;
}

Ended prune_sessions(Program& program, const Store& store, const SessionsArguments& arguments) {
  TRY(const auto trees, chosen(program, store, arguments));
  TRY(const auto home, program.open_home());
  TRY(const auto pruned, prune(*home, trees, arguments.dry_run));
  if (!arguments.id.empty() && !pruned.kept.empty()) return std::unexpected(pruned.kept.front().why);
  if (program.common.output != OutputForm::text) {
    program.print(to_json(program, pruned, arguments.dry_run));
  } else {
    show(program, pruned, arguments.dry_run);
  }
  if (pruned.damage && !program.damage_passed()) program.tell(*pruned.damage);
  bool is_hurt = false;
  for (const auto& [tree, why] : pruned.kept) {
    program.tell({why.code, "kept: " + why.message, why.advice});
    is_hurt = is_hurt || why.code == ErrorCode::corrupt;
  }
  if (pruned.failure) program.tell(*pruned.failure);
  return pruned.failure ? ExitStatus::failed : is_hurt ? ExitStatus::partial : ExitStatus::completed;
}

}  // namespace deputy
