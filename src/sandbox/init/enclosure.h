// A mount namespace in which there is nothing but the system's programs, three settings, /dev/null and the
// folder that a program starts in, each at its own path. What is not there need not be forbidden: Landlock,
// which looks at the folders above each file that is opened, is not asked about reading then. It would judge
// by where a file is now: here a folder that the program has open goes on being read when somebody moves it
// away.
#pragma once

#include "sandbox/init/options.h"

namespace deputy::init {

// For a program that may read the folder it starts in, and nothing else, where it asks for it. The current
// directory must be that folder. False where it is not asked for, cannot be had here, or would show another
// folder (one mounted over it) or not the program (a link leads out to it). Then everything is in sight as
// before.
bool enclose(const Options& options);

}  // namespace deputy::init
