// What this machine can do for the sandbox, tried out rather than asked for.
#pragma once

namespace deputy::init {

// One line of JSON on the standard output: {"level":1,"landlock_abi":7,"seccomp":true,"userns":true}.
void print_probe();

}  // namespace deputy::init
