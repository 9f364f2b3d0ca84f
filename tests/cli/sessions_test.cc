// What was kept can be looked at: the list, one session, its tree, what was said, the notes, the events.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>

#include <fstream>

#include "base/json.h"
#include "deputy_program.h"
#include "store/sqlite/migrate.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SessionsTest : public DeputyTest {
 protected:
  SessionsTest() {
    const auto model = script(R"({"v":1,"sessions":[{"match":{"agent":"reader"},"replies":[
      {"text":"looking","calls":[{"name":"Note","arguments":{"content":"a \u001b[31mred note"}}]},
      {"text":"it is fine"}]}]})");
    const auto ran = deputy({"delegate", "--model", model, "--task", "one=look here", "--task",
                             "two=look there", "--output", "json"});
    const auto result = parse_json_object(ran.out);
    EXPECT_TRUE(result) << ran.err;
    if (!result) return;
    root_id_ = string_or(*result, "session_id", "");
    const auto tree = parse_json_object(deputy({"sessions", "tree", root_id_, "--output", "json"}).out);
    EXPECT_TRUE(tree);
    if (!tree) return;
    for (const auto& child : *array_at(*tree, "children"))
      children_.push_back(string_or(child.as_object(), "id", ""));
  }
  std::string root_id_;
  std::vector<std::string> children_;
};

TEST_F(SessionsTest, TheListShowsRootsWithWhatTheyWereFor) {
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr(root_id_), HasSubstr("completed"),
                    HasSubstr("[one] look here; [two] look there"), Not(HasSubstr(children_.front()))));
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "");
}

TEST_F(SessionsTest, TheListShowsWhatATaskAndARunWereFor) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  ASSERT_EQ(deputy({"task", "explore", "how does it start?", "--model", model}).status, 0);
  ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  EXPECT_THAT(deputy({"sessions", "ls"}).out,
              AllOf(HasSubstr("  [explore] how does it start?\n"), HasSubstr("  say hello\n")));
}

TEST_F(SessionsTest, AnEndedChildIsListedOnlyWhereItsIdWasGivenOut) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  const auto only_child = [this] {
    const auto rows = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    const auto* children = rows ? array_at(rows->as_array().front().as_object(), "children") : nullptr;
    return children && children->size() == 1 ? std::string(children->front().as_string()) : "no child";
  };
  ASSERT_EQ(deputy({"task", "explore", "how does it start?", "--model", model}).status, 0);
  EXPECT_THAT(deputy({"sessions", "ls"}).out, HasSubstr(only_child()));
  ASSERT_EQ(deputy({"delegate", "--task", "one=look", "--model", model}).status, 0);
  EXPECT_THAT(deputy({"sessions", "ls"}).out, Not(HasSubstr(only_child())));
  EXPECT_THAT(deputy({"sessions", "tree", "newest"}).out, HasSubstr(only_child()));
}

TEST_F(SessionsTest, ATreeShowsChildrenInOrder) {
  const auto out = deputy({"sessions", "tree", root_id_}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("[delegate]"), HasSubstr("  [one]"), HasSubstr("in="), HasSubstr("$")));
  EXPECT_LT(out.find("[one]"), out.find("[two]"));
}

TEST_F(SessionsTest, DetailsOfOne) {
  EXPECT_THAT(deputy({"sessions", "show", children_.at(0)}).out,
              AllOf(HasSubstr("agent       reader"), HasSubstr("parent      " + root_id_),
                    HasSubstr("look here"), HasSubstr("it is fine"), HasSubstr("/subagent/one-")));
}

TEST_F(SessionsTest, TheTranscriptReadsWellAndHidesNothing) {
  EXPECT_THAT(
      deputy({"sessions", "transcript", children_.at(0)}).out,
      AllOf(HasSubstr("--- parent\nlook here\n"), HasSubstr("> Note"),
            HasSubstr("--- result of Note\nNoted."), HasSubstr("it is fine"), Not(HasSubstr("\x1b"))));
}

TEST_F(SessionsTest, TheTranscriptAsJsonIsTheSealedFile) {
  const auto shown = parse_json(deputy({"sessions", "transcript", children_.at(0), "--output", "json"}).out);
  ASSERT_TRUE(shown);
  for (const auto& name : files_below(home() / "subagent")) {
    if (!name.starts_with("one-") || !name.ends_with(".json")) continue;
    const auto sealed = parse_json(contents(home() / "subagent" / name));
    ASSERT_TRUE(sealed);
    EXPECT_EQ(*shown, *sealed);
  }
}

TEST_F(SessionsTest, NotesOfATreeNameTheirSessions) {
  EXPECT_THAT(deputy({"sessions", "notes", root_id_}).out,
              AllOf(HasSubstr("[one] " + children_.at(0) + "\na ␛[31mred note\n"), HasSubstr("[two]")));
  EXPECT_THAT(deputy({"sessions", "notes", children_.at(1)}).out, Not(HasSubstr("[one]")));
}

TEST_F(SessionsTest, ExportedEventsAreThoseThatWereStreamed) {
  const auto out = deputy({"sessions", "export", children_.at(0)}).out;  // of its whole tree
  EXPECT_THAT(out, AllOf(HasSubstr("\"event\":\"note\""), HasSubstr("\"label\":\"two\""),
                         HasSubstr("\"event\":\"session.completed\"")));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(parse_json_object(line)) << line;
}

TEST_F(SessionsTest, AnIdMayBeShortenedAndAWrongOneNamesTheNearest) {
  EXPECT_EQ(deputy({"sessions", "show", root_id_.substr(0, root_id_.size() - 1)}).status, 0);
  std::string wrong = root_id_;
  std::swap(wrong[wrong.size() - 1], wrong[wrong.size() - 2]);
  if (wrong == root_id_) wrong.back() = wrong.back() == 'a' ? 'b' : 'a';
  const auto ran = deputy({"sessions", "show", wrong});
  EXPECT_EQ(ran.status, 2) << "it was typed wrongly, as an agent's name would be";
  EXPECT_THAT(ran.err, HasSubstr("did you mean"));
}

// With a disk that lost something.
class DamagedSessionsTest : public SessionsTest {
 protected:
  std::int64_t ask(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((home() / "deputy.db").c_str(), &database), SQLITE_OK);
    std::int64_t number = 0;
    const auto take = [](void* to, int, char** columns, char**) {
      *static_cast<std::int64_t*>(to) = std::stoll(columns[0] ? columns[0] : "0");
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), take, &number, nullptr), SQLITE_OK) << sql;
    sqlite3_close(database);
    return number;
  }
  // The first page of a table or an index, of which half was never written.
  void tear(const std::string& name) const {
    tear_page(ask("SELECT rootpage FROM sqlite_schema WHERE name='" + name + "'"));
  }
  void tear_page(std::int64_t page, std::int64_t from = 0) const {
    std::fstream file(home() / "deputy.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 4096 + from);
    file << std::string(2048, '\0');
    ASSERT_TRUE(file) << page;
  }
  void kill_while_it_waits() {
    const auto model = script(R"({"v":1,"sessions":[{"replies":[
        {"calls":[{"name":"List","arguments":{}}]},{"text":"at last","first_byte_ms":86400000}]}]})");
    const auto running = start({"run", "wait", "--output", "stream-json", "--model", model});
    running->read_until(R"("call":0,"result":"ok")");
    running->send(SIGKILL);
    (void)running->wait();
    ask("PRAGMA wal_checkpoint(TRUNCATE)");  // so that its pages lie in the file
  }
  static std::vector<std::string> lines_without(const std::string& text, const std::string& left_out) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (!line.contains("\"session_id\":\"" + left_out)) lines.push_back(line);
    return lines;
  }
};

TEST_F(DamagedSessionsTest, ADamagedRecordIsNamedAndAllOtherSessionsOfTheTreeAreExportedAsTheyWere) {
  const auto whole = deputy({"sessions", "export", root_id_}).out;
  const auto others = lines_without(whole, children_.at(0));
  ASSERT_LT(others.size(), lines_without(whole, "none").size());
  ask("UPDATE journal SET crc=crc+1 WHERE kind='note' AND session='" + children_.at(0) + "'");
  for (const auto& id : {root_id_, children_.at(0), children_.at(1)}) {
    const auto ran = deputy({"sessions", "export", id});
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(lines_without(ran.out, "none"), others);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("(session " + children_.at(0) + ") is damaged"),
                               Not(HasSubstr("(session " + children_.at(1)))));
  }
}

TEST_F(DamagedSessionsTest, WhatAnIndexDoesNotFindIsStillListedAndExported) {
  const auto listed = deputy({"sessions", "ls"}).out;
  const auto exported = deputy({"sessions", "export", root_id_}).out;
  for (const char* index : {"sqlite_autoindex_journal_1", "journal_of_session", "sqlite_autoindex_sessions_1",
                            "sessions_of_tree", "sessions"}) {
    const auto kept = contents(home() / "deputy.db");
    tear(index);
    const auto list = deputy({"sessions", "ls"});
    EXPECT_EQ(list.out, listed) << index;
    const auto events = deputy({"sessions", "export", root_id_});
    EXPECT_EQ(events.out, exported) << index;
    EXPECT_EQ(events.status, 0) << index;
    const auto shown = deputy({"sessions", "transcript", children_.at(0)});
    EXPECT_EQ(shown.status, 0) << index;
    EXPECT_THAT(list.err + events.err + shown.err,
                AllOf(HasSubstr("deputy.db is damaged"), HasSubstr("home/damaged/")))
        << index;
    write(home() / "deputy.db", kept);
  }
}

TEST_F(DamagedSessionsTest, WhereItCannotBeCopiedThatIsSaidAndNothingIsPruned) {
  const auto listed = deputy({"sessions", "ls"}).out;
  tear("sessions");
  const auto torn = contents(home() / "deputy.db");
  write(home() / "damaged", "in the way");
  const auto list = deputy({"sessions", "ls"});
  EXPECT_EQ(list.out, listed);
  EXPECT_THAT(list.err, AllOf(HasSubstr("is damaged"), HasSubstr("could not be copied")));
  const auto refused = deputy({"sessions", "prune"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("damaged"));
  EXPECT_EQ(contents(home() / "deputy.db"), torn);

  fs::remove(home() / "damaged");
  const auto pruned = deputy({"sessions", "prune"});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_THAT(pruned.err, HasSubstr("a copy of what was found is in"));
  EXPECT_EQ(contents(home() / "deputy.db"), torn) << "nothing was old enough to go";
}

// Nor do two damages that look alike to SQLite have one copy.
TEST_F(DamagedSessionsTest, EachDamageHasItsOwnCopyAlsoWhenTheFileWasWrittenToBetween) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  const auto copied = [this](const Ran& ran) {
    const auto at = ran.err.find((home() / "damaged").string());
    EXPECT_NE(at, std::string::npos) << ran.err;
    return contents(fs::path(ran.err.substr(at, ran.err.find_first_of(";\n", at) - at)) / "deputy.db");
  };
  const auto whole = contents(home() / "deputy.db");
  tear("sessions");
  EXPECT_EQ(copied(deputy({"sessions", "ls"})), contents(home() / "deputy.db"));
  write(home() / "deputy.db", whole);
  for (const auto& child : children_) {
    ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
    ask("UPDATE sessions SET crc=crc+1 WHERE id='" + child + "'");
    EXPECT_EQ(copied(deputy({"sessions", "ls"})), contents(home() / "deputy.db")) << child;
    ask("UPDATE sessions SET crc=crc-1 WHERE id='" + child + "'");
  }
  for (int times = 0; times < 20; ++times)
    ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  const auto leaf = [this](int number) {
    return ask(
        fmt::format("SELECT pageno FROM dbstat WHERE name='sessions' AND pagetype='leaf' ORDER BY pageno "
                    "LIMIT 1 OFFSET {}",
                    number));
  };
  for (const auto page : {leaf(0), leaf(1)}) {
    ASSERT_GT(page, 0);
    tear_page(page);
    EXPECT_EQ(copied(deputy({"sessions", "ls"})), contents(home() / "deputy.db")) << page;
    ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  }
  tear("sqlite_sequence");
  EXPECT_EQ(copied(deputy({"sessions", "ls"})), contents(home() / "deputy.db"));
}

TEST_F(DamagedSessionsTest, AKnownDamageIsNotCopiedAgainWhenTheFileWasWrittenToSince) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  ask("UPDATE sessions SET crc=crc+1 WHERE id='" + root_id_ + "'");
  for (int times = 0; times < 3; ++times) {
    EXPECT_THAT(deputy({"sessions", "ls"}).err, HasSubstr("a copy of what was found is in"));
    EXPECT_EQ(deputy({"doctor"}).status, 1);
    ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(home() / "damaged"), fs::directory_iterator()), 1);
}

TEST_F(DamagedSessionsTest, ATreeIsNotGoneOnWithWhereItCannotBeCopied) {
  kill_while_it_waits();
  const auto records = ask("SELECT count(*) FROM journal");
  write(home() / "damaged", "in the way");
  const auto whole = contents(home() / "deputy.db");
  tear_page(ask("SELECT rootpage FROM sqlite_schema WHERE name='sessions_of_tree'"), 2048);
  auto ran = deputy({"resume"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("damaged"), HasSubstr("could not be copied")));
  write(home() / "deputy.db", whole);
  ask("UPDATE sessions SET crc=crc+1 WHERE state='running'");
  ran = deputy({"resume"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("is damaged, and could not be copied"));
  EXPECT_EQ(ask("SELECT count(*) FROM journal"), records);
}

TEST_F(DamagedSessionsTest, WhatIsUnfinishedIsSeenWhateverItsIndexSays) {
  kill_while_it_waits();
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("wait"));
  tear_page(ask("SELECT rootpage FROM sqlite_schema WHERE name='sessions_by_state'"), 2048);
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("wait"));
}

TEST_F(DamagedSessionsTest, WhatCanOnlyBeReadIsAlsoWhereItCannotBeCopied) {
  const auto listed = deputy({"sessions", "ls"}).out;
  tear("sqlite_sequence");
  write(home() / "damaged", "in the way");
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.out, listed);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("deputy.db is damaged"), HasSubstr("could not be copied")));
}

TEST_F(DamagedSessionsTest, AProgramReadsWhatIsDamagedBesideWhatIsNot) {
  for (const std::string view : {"show", "tree"}) {
    const auto whole = parse_json_object(deputy({"sessions", view, children_.at(0), "--output", "json"}).out);
    ASSERT_TRUE(whole) << view;
    EXPECT_FALSE(whole->contains("errors")) << view;
  }
  ask("UPDATE journal SET crc=crc+1 WHERE kind='note' AND session='" + children_.at(0) + "'");
  for (const std::string view : {"show", "tree"}) {
    const auto ran = deputy({"sessions", view, children_.at(0), "--output", "json"});
    EXPECT_EQ(ran.status, 3) << view;
    const auto document = parse_json_object(ran.out);
    ASSERT_TRUE(document) << ran.out << ran.err;
    EXPECT_EQ(string_or(*document, "id", ""), children_.at(0));
    const auto* errors = array_at(*document, "errors");
    ASSERT_TRUE(errors && errors->size() == 1u) << ran.out;
    EXPECT_EQ(string_or(errors->front().as_object(), "code", ""), "corrupt");
    EXPECT_NE(string_or(errors->front().as_object(), "hint", ""), "");
  }
}

TEST_F(DamagedSessionsTest, ATreeThatCannotBePrunedIsNamedOnce) {
  ask("UPDATE journal SET crc=crc+1 WHERE kind='note' AND session='" + children_.at(0) + "'");
  for (const std::string form : {"text", "json"}) {
    const auto ran = deputy({"sessions", "prune", "--older-than", "0s", "--output", form});
    EXPECT_EQ(ran.status, 3) << ran.err;
    const auto at = ran.err.find("deputy: kept: ");
    ASSERT_NE(at, std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(root_id_, at), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find("kept: ", at + 10), std::string::npos) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("`deputy sessions export " + root_id_ + "`"));
    if (form == "text") continue;
    const auto document = parse_json_object(ran.out);
    ASSERT_TRUE(document) << ran.out;
    const auto* kept = array_at(*document, "kept");
    ASSERT_TRUE(kept && kept->size() == 1u) << ran.out;
    EXPECT_EQ(string_or(kept->front().as_object(), "id", ""), root_id_);
    EXPECT_EQ(string_or(kept->front().as_object(), "code", ""), "corrupt");
    EXPECT_THAT(string_or(kept->front().as_object(), "hint", ""), HasSubstr("sessions export"));
  }
  const auto one = deputy({"sessions", "prune", root_id_});
  EXPECT_EQ(one.status, 1);
  EXPECT_THAT(one.err, AllOf(HasSubstr(root_id_), HasSubstr("damaged")));
}

TEST_F(DamagedSessionsTest, ADoctorDoesNotCallItFine) {
  EXPECT_THAT(deputy({"doctor"}).out, HasSubstr("✓ state folder"));
  tear("journal_of_session");
  auto ran = deputy({"doctor"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("deputy.db is damaged"), HasSubstr("can still be read"),
                             Not(HasSubstr("make it writable"))));
  const auto pruned = deputy({"sessions", "prune"});
  EXPECT_THAT(pruned.err, AllOf(HasSubstr("deputy.db is damaged"), HasSubstr("it is not made smaller")));
  tear("sessions");
  EXPECT_THAT(deputy({"resume"}).err, HasSubstr("deputy.db is damaged")) << "also where it does nothing";
  tear("sqlite_sequence");
  ran = deputy({"doctor"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("✗ state folder"), HasSubstr("nothing more is written to it")));
}

TEST_F(DamagedSessionsTest, OneThatIsCutShortIsNotShownAsAnEmptyOne) {
  fs::resize_file(home() / "deputy.db", fs::file_size(home() / "deputy.db") / 2);
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("not as long as it says"), Not(HasSubstr("no sessions yet"))));
}

TEST_F(DamagedSessionsTest, OneOfTheVersionBeforeIsReadAsItIsAndNotChanged) {
  const auto listed = deputy({"sessions", "ls"}).out;
  const auto exported = deputy({"sessions", "export", root_id_}).out;
  ask(fmt::format("PRAGMA user_version={}", newest_schema() - 1));
  tear("journal_of_session");
  const auto torn = contents(home() / "deputy.db");
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.out, listed);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("is damaged"), HasSubstr("nothing more is written to it")));
  EXPECT_EQ(deputy({"sessions", "export", root_id_}).out, exported);
  EXPECT_EQ(deputy({"demo"}).status, 1);
  EXPECT_EQ(contents(home() / "deputy.db"), torn);
  EXPECT_EQ(contents(fs::directory_iterator(home() / "damaged")->path() / "deputy.db"), torn);
}

TEST_F(DamagedSessionsTest, ATreeWhoseSessionsCannotBeReadIsNamedInTheListAndTheOthersAreThere) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  const auto listed = deputy({"sessions", "ls"}).out;
  ask("UPDATE journal SET crc=crc+1 WHERE kind='note' AND session='" + children_.at(0) + "'");
  ask("UPDATE sessions SET crc=crc+1 WHERE id='" + children_.at(0) + "'");
  const auto ran = deputy({"sessions", "ls"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("say hello"), HasSubstr(root_id_)));
  EXPECT_THAT(ran.err, HasSubstr("(session " + children_.at(0) + ") is damaged"));
}

TEST_F(DamagedSessionsTest, ATreeWithADamagedRecordIsShownWithoutWhatOnlyThatKnew) {
  ask("UPDATE journal SET crc=crc+1 WHERE kind='note' AND session='" + children_.at(0) + "'");
  for (const auto& words : {std::vector<std::string>{"sessions", "tree", root_id_},
                            std::vector<std::string>{"sessions", "show", children_.at(0)}}) {
    const auto ran = deputy({.words = words});
    EXPECT_EQ(ran.status, 3) << words[1];
    EXPECT_THAT(ran.out, HasSubstr(children_.at(0))) << words[1];
    EXPECT_THAT(ran.err, HasSubstr("(session " + children_.at(0) + ") is damaged")) << words[1];
  }
}

TEST_F(DamagedSessionsTest, WhereNoMoreCanBeWrittenAllIsStillRead) {
  const auto listed = deputy({"sessions", "ls"}).out;
  const auto exported = deputy({"sessions", "export", root_id_}).out;
  tear("sqlite_sequence");
  const auto torn = contents(home() / "deputy.db");
  for (int times = 0; times < 2; ++times) {
    const auto ran = deputy({"sessions", "ls"});
    EXPECT_EQ(ran.out, listed);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("is damaged"), HasSubstr("damaged/database")));
  }
  EXPECT_EQ(deputy({"sessions", "export", root_id_}).out, exported);
  const auto refused = deputy({"demo"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("to start anew"));
  EXPECT_EQ(contents(home() / "deputy.db"), torn);
  EXPECT_EQ(contents(fs::directory_iterator(home() / "damaged")->path() / "deputy.db"), torn);
}

class DamagedSessionsExhaustive : public DamagedSessionsTest {};

TEST_F(DamagedSessionsExhaustive, OnePageNeverHidesATreeAndOnlyOneThatLeadsToOthersHurtsSeveral) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  for (int tree = 0; tree < 3; ++tree) ASSERT_EQ(deputy({"run", "say hello", "--model", model}).status, 0);
  const auto whole = contents(home() / "deputy.db");
  const auto listed = deputy({"sessions", "ls"}).out;
  std::map<std::string, std::string> exported;  // by the tree's id
  const auto roots = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
  for (const auto& root : roots->as_array()) {
    const auto id = string_or(root.as_object(), "id", "");
    exported[id] = deputy({"sessions", "export", id}).out;
  }
  ASSERT_EQ(exported.size(), 4u);
  ASSERT_EQ(contents(home() / "deputy.db"), whole);
  const auto pages = static_cast<std::int64_t>(whole.size() / 4096);
  ASSERT_GT(pages, 20);
  int hurting_all = 0;
  for (std::int64_t half = 2; half < 2 * pages; ++half) {
    const auto page = half / 2 + 1;
    for (const char* left : {"deputy.db-wal", "deputy.db-shm", "damaged"}) fs::remove_all(home() / left);
    write(home() / "deputy.db", whole);
    tear_page(page, half % 2 * 2048);
    const auto torn = contents(home() / "deputy.db");
    EXPECT_EQ(deputy({"sessions", "ls"}).out, listed) << page;
    int hurt = 0;
    for (const auto& [id, expected] : exported) {
      const auto ran = deputy({"sessions", "export", id});
      if (ran.out == expected) continue;
      ++hurt;
      EXPECT_NE(ran.status, 0) << page;
      EXPECT_THAT(ran.err, HasSubstr("damaged")) << page;
      const bool is_given_up = ran.err.contains("nothing more is written to it");
      EXPECT_EQ(ran.err.contains("start anew"), is_given_up) << page << ": " << ran.err;
    }
    EXPECT_EQ(contents(home() / "deputy.db"), torn) << page;
    hurting_all += hurt == 4;
  }
  EXPECT_LE(hurting_all, 2) << "the one that leads to all records";
}

}  // namespace
}  // namespace deputy
