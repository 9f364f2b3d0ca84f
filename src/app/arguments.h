// The command line as plain values. What cannot be meant is an Error that says what was typed, what is
// allowed and where to read on; nothing else is looked at, neither files nor the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/settings.h"
#include "base/result.h"
#include "guard/rules.h"

namespace deputy {

enum class OutputForm { text, json, stream_json };
enum class ColourChoice { automatic, always, never };

// Taken before or after the command.
struct CommonArguments {
  std::optional<std::string> model;
  std::optional<std::string> cwd;
  std::optional<std::string> home;
  std::optional<std::string> config;
  OutputForm output = OutputForm::text;
  std::vector<Rule> rules;
  bool approve_all = false;
  LimitSettings limits;  // those that were given
  ColourChoice colour = ColourChoice::automatic;
  bool plain = false;
  bool verbose = false;
};

struct RunArguments {
  std::optional<std::string> prompt;  // absent: it comes on stdin
};

struct BatchArguments {
  std::vector<std::string> tasks;   // LABEL=PROMPT
  std::optional<std::string> file;  // "-" is stdin
  std::vector<std::string> context;
  std::optional<std::int64_t> concurrency;
  std::optional<std::string> layout;
  std::optional<std::int64_t> max_output_tokens;
};

struct OneTaskArguments {
  std::string agent;
  std::optional<std::string> prompt;  // absent: it comes on stdin
  std::optional<Duration> timeout;    // kNoTimeout for none
  std::optional<std::string> resume;  // a session that has ended: it goes on with the prompt
  bool background = false;            // in a process of its own, once its id is known
};

enum class AgentsAction { list, show, check, init, trust };

struct AgentsArguments {
  AgentsAction action = AgentsAction::list;
  std::string name;         // of an agent or a preset; of a file to check, empty for all
  bool in_project = false;  // init: for this folder alone
  bool undo = false;        // trust
};

struct DemoArguments {};

enum class SessionView { list, show, tree, tail, transcript, notes, events, cancel, answer, nudge, prune };

struct SessionsArguments {
  SessionView view = SessionView::list;
  std::string id;
  std::string text;  // of an answer or a nudge
  bool live_only = false;
  std::optional<Duration> older_than;  // prune; without an id
  bool dry_run = false;
};

struct ResumeArguments {
  std::optional<std::string> id;
};

struct ModelsArguments {};

enum class NamesOf { sessions, agents, models };
struct CompleteArguments {
  NamesOf names = NamesOf::sessions;
};

struct DoctorArguments {
  std::optional<std::string> bundled;   // a session of the tree to make a bundle of
  std::optional<std::string> replayed;  // a bundle's file
};
struct ChatArguments {
  bool was_named = false;             // not `deputy` alone
  std::optional<std::string> resume;  // a session to begin with, as by /resume
};

// --help and --version: there is nothing to do but to show it.
struct TextArguments {
  std::string text;
  bool is_help = false;
};

struct Arguments {
  CommonArguments common;
  std::variant<ChatArguments, TextArguments, RunArguments, BatchArguments, OneTaskArguments, AgentsArguments,
               DemoArguments, SessionsArguments, ResumeArguments, ModelsArguments, CompleteArguments,
               DoctorArguments>
      command;
};

// `words` are what follows the program's name.
Result<Arguments> parse_arguments(std::span<const std::string> words);

// The form in which to tell of words that cannot be meant: the one that they ask for, as far as that can be
// read.
OutputForm output_wanted(std::span<const std::string> words);

}  // namespace deputy
