// A mount namespace in which there is nothing but the system's programs, /dev/null and the folder that a
// program starts in. What is not there need not be forbidden: Landlock, which looks at the folders above each
// file that is opened, is not asked about reading then.
#pragma once

#include "sandbox/init/options.h"

namespace deputy::init {

// For a program that may read the folder it starts in, and nothing else, where it asks for it. The current
// directory, which must be that folder, is the same one afterwards, under another name. False where it is not
// asked for or cannot be had here: then everything is in sight as before.
bool enclose(const Options& options);

}  // namespace deputy::init
