#include "store/sqlite/spare_room.h"

#include <string>

namespace deputy {
namespace {

constexpr std::string_view kName = "spare-room";

}  // namespace

void keep_spare_room(const Folder& home) {
  const auto kept = home.status(kName);
  if (kept && kept->size == kSpareRoomBytes) return;
  (void)home.replace(kName, std::string(kSpareRoomBytes, 'r'));
}

void give_back_spare_room(const Folder& home) { (void)home.remove(kName); }

}  // namespace deputy
