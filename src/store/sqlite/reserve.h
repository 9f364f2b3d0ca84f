// Room on the disk that is kept for the moment when there is none left: given back then, so that the stop
// itself can still be recorded. $DEPUTY_HOME/reserve.
#pragma once

#include "base/disk.h"

namespace deputy {

inline constexpr std::size_t kReserveBytes = std::size_t{1} << 20;

// Where there is no room for it now there is none; a later start tries again.
void keep_reserve(const Folder& home);
void give_back_reserve(const Folder& home);

}  // namespace deputy
