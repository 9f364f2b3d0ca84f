// Where the system keeps what a confined program runs.
#pragma once

namespace deputy::init {

// Programs and libraries. On most systems all but the first lead into it.
inline constexpr const char* kPrograms[] = {"/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin"};
inline constexpr const char* kLibraryIndex = "/etc/ld.so.cache";

}  // namespace deputy::init
