// What a session's model is told it is: the profile's instructions; guidance on delegating, where it has a
// tool for that; and for a child what it is, its limits, its scratchpad and how to report. The same bytes for
// every session with the same profile, tools and limits, so that siblings share their prompt cache. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/tool.h"
#include "transcript/profile.h"
#include "transcript/session.h"

namespace deputy {

std::string system_prompt(const Profile& profile, const Session& session, const std::vector<ToolText>& tools);

}  // namespace deputy
