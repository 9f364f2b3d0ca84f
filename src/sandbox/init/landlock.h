// Landlock: the kernel's rule for which files a process and its descendants may reach. Here: read and execute
// the system, read beneath one directory, write nothing, no TCP, no signals and no abstract sockets out, as
// far as the kernel's version (ABI) goes.
#pragma once

namespace deputy::init {

// 0 where there is none.
int landlock_abi();

// Confines this process for good; `start` may be -1. False, with errno, when that failed; then nothing is
// confined.
bool restrict_files(int abi, int start);

}  // namespace deputy::init
