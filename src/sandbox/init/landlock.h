// Landlock: the kernel's rule for which files a process and its descendants may reach. It reads and executes
// the system, reads or writes beneath what was granted, and has no TCP without the network, no signals and no
// abstract sockets out, as far as the kernel's version (ABI) goes. An isolated process sees in its own mount
// namespace only what it may read: there the rule is about writing.
#pragma once

#include "sandbox/init/options.h"

namespace deputy::init {

// 0 where there is none.
int landlock_abi();

// Whether it is asked to tell who may truncate a file. Not where nothing may be written: whoever opens a file
// would be looked up in all folders above it, though the nearest grant has settled that it may be read.
bool guards_truncation(int abi, const Options& options);

// Confines this process for good. An enclosed one (enclosure.h) may read whatever it sees. False, with errno,
// when that failed; then nothing is confined.
bool restrict_files(int abi, const Options& options, bool enclosed);

}  // namespace deputy::init
