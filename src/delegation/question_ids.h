// A question is known by the call that asks it, so it has the same name after a restart.
#pragma once

#include <string>
#include <string_view>

#include "transcript/event.h"
#include "transcript/ids.h"

namespace deputy {

std::string question_id_of(const CallId& call);
// The session that asks; empty where it is no such id.
SessionId asker_of(std::string_view question_id);
// Whether it is answered by this, or will not be any more: the call that asked has ended. So does one that is
// refused at a resume, which does not ask again.
bool settles(const Event& event, std::string_view question_id);

}  // namespace deputy
