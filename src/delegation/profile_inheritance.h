// What a child has of its own, what it inherits, and what it may (delegation.md, "Profiles, inheritance,
// limits"). Its profile owns the instructions, the tools and the profiles it may delegate to. Model, cap on
// output, kind, timeout and cap on steps are inherited where the profile says nothing, from the parent as it
// was resolved. Rights are an intersection: no child may do what its parent may not. Pure.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "transcript/profile.h"
#include "transcript/session.h"

namespace deputy {

// What the call that makes the child says itself.
struct CallWishes {
  ModelName made_by;               // the model that produced the call: the one that is inherited
  std::optional<ModelName> model;  // in place of the profile's
  std::optional<int> max_output_tokens;
  std::optional<int> max_turns;     // lowers the cap, never raises it
  std::optional<Duration> timeout;  // kNoTimeout for none
};

// The child's session but for who and where it is: id, uuid, tree, label, workspace, deadline and prompt are
// its tree's to give. The error is a profile that cannot be used.
Result<Session> inherited_session(const Session& parent, const Profile& profile, const CallWishes& call);

// How long work of a kind may take.
Duration time_for(WorkKind kind);

}  // namespace deputy
