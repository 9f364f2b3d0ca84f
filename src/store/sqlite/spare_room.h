// Room on the disk that is kept for the moment when there is none left: given back then, so that the stop
// itself can still be recorded. $DEPUTY_HOME/spare-room.
#pragma once

#include "base/disk.h"

namespace deputy {

inline constexpr std::size_t kSpareRoomBytes = std::size_t{1} << 20;

// Where there is no room for it now there is none; a later start tries again.
void keep_spare_room(const Folder& home);
void give_back_spare_room(const Folder& home);

}  // namespace deputy
