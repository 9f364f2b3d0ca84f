// What this machine can do for the sandbox, tried out rather than asked for.
#pragma once

#include "sandbox/init/options.h"

namespace deputy::init {

// One line of JSON on the standard output: {"level":1,"landlock_abi":7,"seccomp":true,"userns":true}. The
// level is what a program would get here with these options.
void print_probe(const Options& options);

}  // namespace deputy::init
