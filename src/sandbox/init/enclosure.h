// A mount namespace in which there is nothing but the system's programs, /dev/null and the folder that a
// program starts in. What is not there need not be forbidden: Landlock, which looks at the folders above each
// file that is opened, is not asked about reading then.
#pragma once

#include "sandbox/init/options.h"

namespace deputy::init {

// For a program that may read one folder and write nothing, where it asks for it. In the current directory,
// which must be that folder; afterwards it is the same one, under another name. False where it is not asked
// for, or cannot be had here: then nothing is out of sight.
bool enclose(const Options& options);

}  // namespace deputy::init
