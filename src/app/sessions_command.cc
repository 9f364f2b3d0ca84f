#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/commands.h"
#include "app/letters.h"
#include "app/prune_command.h"
#include "app/session_lookup.h"
#include "app/session_text.h"
#include "app/tail_command.h"
#include "app/transcript_text.h"
#include "base/text.h"
#include "store/transcript_files.h"
#include "transcript/codec.h"

namespace deputy {
namespace {

Result<std::vector<Session>> tree_of(const Store& store, const Session& session) {
  TRY(auto sessions, store.sessions({.tree = session.tree, .most = kAllSessions}));
  return as_seen(store, std::move(sessions));
}

// Each root, and the ids of its children.
json::array listed_json(const std::vector<ListedTree>& trees) {
  json::array document;
  for (const auto& [root, sessions] : trees) {
    json::object row = to_full_json(root);
    auto& children = row["children"].emplace_array();
    for (const auto& child : children_of(root.id, sessions)) children.emplace_back(child.id.value);
    document.emplace_back(std::move(row));
  }
  return document;
}

// Tree by tree, each from its root down.
Ended list_live(Program& program, const Store& store) {
  TRY(auto sessions, store.sessions({.unfinished_only = true, .most = kAllSessions}));
  const WallTime now = program.loop.clock().wall();
  sessions = with_nearest_deadlines(as_seen(store, std::move(sessions)), now);
  std::ranges::sort(sessions, {}, [](const Session& session) {
    return std::tuple(session.tree, session.depth, session.created_at, session.id);
  });
  if (program.common.output != OutputForm::text) {
    json::array document;
    for (const auto& session : sessions) document.emplace_back(to_live_json(session, now));
    program.print(document);
    return ExitStatus::completed;
  }
  if (sessions.empty()) {
    program.err.write_line(fmt::format("deputy: nothing is unfinished; `{}` lists what has ended",
                                       program.command_line("sessions ls")));
  } else {
    program.out.write(live_text(sessions, now, program.looks.out, row_width(program.out.descriptor())));
    tell_questions(program, store, sessions);
  }
  return ExitStatus::completed;
}

Ended list(Program& program, const Store& store, const SessionsArguments& arguments) {
  if (arguments.live_only) return list_live(program, store);
  TRY(auto roots, store.sessions({.roots_only = true}));
  roots = as_seen(store, std::move(roots));
  const bool as_json = program.common.output != OutputForm::text;
  if (roots.empty() && !as_json && program.loss()) {
    program.err.write_line(fmt::format("deputy: no session can be read; `{}` says what is wrong",
                                       program.command_line("doctor")));
    return ExitStatus::partial;
  }
  if (roots.empty() && !as_json) {
    program.err.write_line(fmt::format("deputy: no sessions yet; try `{}`", program.command_line("demo")));
    return ExitStatus::completed;
  }
  std::vector<ListedTree> trees;
  ExitStatus ended = ExitStatus::completed;
  for (const auto& root : roots) {
    auto sessions = tree_of(store, root);
    if (!sessions) {
      program.tell(sessions.error());
      sessions = std::vector{root};  // of this tree no more can be read
      ended = ExitStatus::partial;
    }
    trees.push_back({root, *std::move(sessions)});
  }
  if (as_json) {
    program.print(listed_json(trees));
  } else {
    program.out.write(list_text(trees, program.looks.out, row_width(program.out.descriptor())));
  }
  return ended;
}

std::string transcript_file(const Program& program, const Session& session) {
  const auto home = program.open_home();
  if (!home) return {};
  const auto stem = join_path("subagent", TranscriptFiles::stem_of(session));
  for (const auto* ending : {".transcript.json", ".transcript.jsonl"}) {
    if ((*home)->status(stem + ending)) return join_path((*home)->path(), stem + ending);
  }
  return {};  // pruned
}

// All of the tree. Where it is damaged, of those of its sessions that are not; the others are named.
struct Readable {
  std::vector<Event> events;
  std::vector<Error> damaged;
};
Result<Readable> readable_events(const Store& store, const SessionId& tree,
                                 const std::vector<Session>& sessions) {
  Readable found;
  auto whole = store.events_of_tree(tree);
  if (whole) return Readable{*std::move(whole), {}};
  if (whole.error().code != ErrorCode::corrupt) return std::unexpected(whole.error());
  for (const auto& session : sessions) {
    auto alone = store.events_of_session(session.id);
    if (alone) {
      std::ranges::move(*alone, std::back_inserter(found.events));
    } else {
      found.damaged.push_back(alone.error());
    }
  }
  if (found.damaged.empty()) found.damaged.push_back(whole.error());
  std::ranges::sort(found.events, {}, &Event::seq);
  return found;
}

ExitStatus tell_damaged(Program& program, const std::vector<Error>& damaged) {
  for (const auto& each : damaged) program.tell(each);
  return damaged.empty() ? ExitStatus::completed : ExitStatus::partial;
}

// Beside what could be read, for a program that does not read stderr.
json::object with_damage(const Program& program, json::object document, const std::vector<Error>& damaged) {
  for (const auto& each : damaged) {
    auto& errors = document["errors"];
    if (!errors.is_array()) errors.emplace_array();
    errors.get_array().emplace_back(program.told(each));
  }
  return document;
}

// What it used is known from its events alone: one that is damaged is shown without.
Ended show(Program& program, const Store& store, const Session& session) {
  const auto events = store.events_of_session(session.id);
  if (!events && events.error().code != ErrorCode::corrupt) return std::unexpected(events.error());
  std::vector<Error> damaged;
  if (!events) damaged.push_back(events.error());
  const Resources used = events ? resources_of(*events)[session.id] : Resources{};
  if (program.common.output != OutputForm::text) {
    json::object document = to_full_json(session);
    document["resources"] = to_json(used);
    program.print(with_damage(program, std::move(document), damaged));
    return tell_damaged(program, damaged);
  }
  TRY(const auto sessions, tree_of(store, session));
  program.out.write(
      details_text(session, sessions, program.loop.clock().wall(), transcript_file(program, session), used));
  tell_questions(program, store, {session}, QuestionForm::whole);
  return tell_damaged(program, damaged);
}

json::object nested_json(const Session& session, const std::vector<Session>& sessions,
                         std::map<SessionId, Resources>& resources) {
  json::object node = to_full_json(session);
  node["resources"] = to_json(resources[session.id]);
  node["usage_with_children"] = to_json(usage_with_children(session, sessions));
  auto& children = node["children"].emplace_array();
  for (const auto& child : children_of(session.id, sessions))
    children.emplace_back(nested_json(child, sessions, resources));
  return node;
}

Ended tree(Program& program, const Store& store, const Session& session) {
  TRY(const auto sessions, tree_of(store, session));
  TRY(const auto found, readable_events(store, session.tree, sessions));
  auto resources = resources_of(found.events);
  if (program.common.output == OutputForm::text) {
    program.out.write(tree_text(session, sessions, program.loop.clock().wall(), program.looks.out, resources,
                                row_width(program.out.descriptor())));
    tell_questions(program, store, sessions);
  } else {
    program.print(with_damage(program, nested_json(session, sessions, resources), found.damaged));
  }
  return tell_damaged(program, found.damaged);
}

Ended transcript(Program& program, const Store& store, const Session& session) {
  TRY(const auto events, store.events_of_session(session.id));
  if (program.common.output == OutputForm::text) {
    program.out.write(transcript_text(session, events));
  } else {
    program.print(transcript_json(session, events));
  }
  return ExitStatus::completed;
}

// Of the session and all below it, each under its name.
Result<void> add_notes(const Store& store, const Session& session, const std::vector<Session>& sessions,
                       json::array& found) {
  TRY(const auto events, store.events_of_session(session.id));
  const auto notes = notes_of(events);
  if (!notes.empty()) {
    json::object entry{{"session_id", session.id.value}, {"label", session.label}};
    entry["notes"] = json::array(notes.begin(), notes.end());
    found.emplace_back(std::move(entry));
  }
  for (const auto& child : children_of(session.id, sessions)) TRY(add_notes(store, child, sessions, found));
  return {};
}

Ended notes(Program& program, const Store& store, const Session& session) {
  TRY(const auto sessions, tree_of(store, session));
  json::array found;
  TRY(add_notes(store, session, sessions, found));
  if (program.common.output != OutputForm::text) {
    program.print(found);
    return ExitStatus::completed;
  }
  if (found.empty())
    program.err.write_line(
        fmt::format("deputy: no notes were taken; `{}` has all that was said",
                    program.command_line(fmt::format("sessions transcript {}", session.id.value))));
  for (const auto& each : found) {
    const auto& entry = each.as_object();
    program.out.write_line(fmt::format("[{}] {}", made_visible(on_one_line(string_or(entry, "label", ""))),
                                       string_or(entry, "session_id", "")));
    for (const auto& note : entry.at("notes").as_array()) {
      program.out.write_line(made_visible(std::string_view(note.as_string())));
    }
  }
  return ExitStatus::completed;
}

Ended export_events(Program& program, const Store& store, const Session& session) {
  TRY(const auto sessions, tree_of(store, session));
  TRY(const auto found, readable_events(store, session.tree, sessions));
  std::map<SessionId, EventOrigin> origins;
  for (const auto& each : sessions)
    origins[each.id] = {each.parent.value_or(SessionId{}), each.label, each.agent};
  for (const auto& event : found.events) {
    for (const auto& line : to_lines(event, origins[event.run.session])) {
      program.out.write_line(program.redactor.redact_json(line));
    }
  }
  return tell_damaged(program, found.damaged);
}

bool writes(SessionView view) {
  return view == SessionView::cancel || view == SessionView::answer || view == SessionView::nudge ||
         view == SessionView::prune;
}

Ended view(Program& program, Store& store, const SessionsArguments& arguments) {
  if (arguments.view == SessionView::list) return list(program, store, arguments);
  if (arguments.view == SessionView::prune) return prune_sessions(program, store, arguments);
  TRY(auto session, session_typed(store, arguments.id));
  session = as_seen(store, std::move(session));
  switch (arguments.view) {
    case SessionView::list:
    case SessionView::show:
      return show(program, store, session);
    case SessionView::tree:
      return tree(program, store, session);
    case SessionView::tail:
      return tail_session(program, store, session);
    case SessionView::transcript:
      return transcript(program, store, session);
    case SessionView::notes:
      return notes(program, store, session);
    case SessionView::cancel:
      return cancel_session(program, store, session);
    case SessionView::answer:
      return leave_letter(program, store, session, LetterKind::answer, arguments.text);
    case SessionView::nudge:
      return leave_letter(program, store, session, LetterKind::nudge, arguments.text);
    case SessionView::events:
    case SessionView::prune:
      break;
  }
  return export_events(program, store, session);
}

}  // namespace

Ended sessions_command(Program& program, const SessionsArguments& arguments) {
  const auto use = writes(arguments.view) ? Program::StoreUse::write : Program::StoreUse::read;
  TRY(const auto store, program.open_store(use));
  return view(program, *store, arguments);
}

}  // namespace deputy
