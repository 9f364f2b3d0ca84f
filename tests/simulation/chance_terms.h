// What chance grants to a tree: limits, rules, who is there to answer, and the files of its workspace.
#pragma once

#include "chance_play.h"
#include "support/sim_world.h"

namespace deputy {

TreeLimits limits_by(Chance& chance);
Attendance attendance_by(Chance chance);
Rules rules_by(Chance& chance);
void put_files(SimWorld& world);

}  // namespace deputy
