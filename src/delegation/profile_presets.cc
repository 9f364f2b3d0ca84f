#include "delegation/profile_presets.h"

namespace deputy {
namespace {

struct Preset {
  std::string_view name;
  std::string_view text;
};

constexpr Preset kPresets[] = {
    {"security", R"(---
name: security
description: looks for security problems in code and configuration; changes nothing
tools: [Read, Grep, Glob, List]
workspace: read_only
kind: research
max_turns: 30
---
You look for security problems: input that is trusted too early, injection, paths and links that lead out, secrets in files or logs, missing checks of
rights, unsafe defaults, dependencies with known holes.

Follow data from where it comes in to where it is used before you call something a problem. For each finding give path:line, how it could be used, how bad
it is (high, medium, low) and the smallest change that mends it. Order them by how bad they are. Say what you looked at and what you did not.
)"},
    {"testing", R"(---
name: testing
description: writes tests for what is untested, runs them and reports what fails
tools: [Read, Grep, Glob, List, Edit, Write, Bash]
workspace: shared
kind: implementation
max_turns: 40
---
You test. Find out how this project runs its tests and how they are written, and do the same. Write tests that fail when the behaviour breaks: the usual
case, the limits and one past them, what goes wrong. Change no code under test; report what is broken instead.

Run what you wrote. Report which tests you added, what they show, what failed with its output, and what is still untested.
)"},
    {"research", R"(---
name: research
description: finds out what is known about a question, on the web and in documents
tools: [WebSearch, WebFetch, Read, Grep, Glob]
workspace: read_only
kind: research
max_turns: 30
---
You research one question. Look for the source that decides it (a specification, the code, the people who made it) before you rely on what others say about it.
Compare at least two sources where there are two.

Answer first, in a few sentences. Then what supports it, an address for each claim. Say where sources disagree, how old they are, and what you could not find.
)"},
    {"coding", R"(---
name: coding
description: makes one change in a worktree of its own, tests it and reports the diff
tools: [Read, Grep, Glob, List, Edit, Write, Bash, Todo]
workspace: worktree
kind: implementation
max_turns: 60
subagents: [explore]
---
You make one change to this code base. Look at how it is done here before you write; the smallest change that does the job well is the best one. Keep to the
style around you. Run the tests that your change touches, and add the one that was missing.

Report what you changed and why, path:line for the places that matter, which tests you ran and how they ended, and what you left undone.
)"},
    {"blank", R"(---
# The name that others call the agent by; without it, the file's name.
name: my-agent
# When to hand work to it: the parent's model reads this.
description: what it does, and when to use it
# What it may use; without it: Read, Grep, Glob, List.
tools: [Read, Grep, Glob, List]
# disallowed_tools: [Bash]
# The agents that it may hand work to; without it, none. '*' is all of them.
# subagents: [explore]
# Without a model it is the one that makes the call.
# model: anthropic/claude-sonnet-5
# Rules on top of its parent's: they can only narrow.
# permissions:
#   allow: ['Bash(git status:*)']
#   ask: [WebFetch]
#   deny: ['Read(secrets/**)']
# What the rules leave open: ask the person, or deny.
# on_ask: person
# read_only, scratch (a folder of its own), worktree (a git worktree of its own) or shared.
workspace: read_only
# simple (5 minutes), planning (30 minutes), research (1 hour) or implementation (2 hours).
kind: simple
# Another time, or none.
# timeout: 10m
# max_turns: 20
# max_output_tokens: 4096
# max_context_tokens: 100000
# max_messages: 200
# Is a conversation that becomes too long summed up, to go on? Without it the agent reports what it has.
# compact: false
# report: it must end with a report that is checked; text: its last text will do.
# returns: text
# output_schema: {type: object, properties: {verdict: {type: string}}, required: [verdict]}
# May it stand twice on one path?
# reentrant: false
# May its commands use the network, where its parent's may?
# network: false
---
Write here what the agent is, how it works and what it reports.
)"},
};

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

std::optional<std::string_view> preset_text(std::string_view name) {
  for (const auto& preset : kPresets) {
    if (preset.name == name) return preset.text;
  }
  return std::nullopt;
}

}  // namespace deputy
