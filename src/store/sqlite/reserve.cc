#include "store/sqlite/reserve.h"

#include <string>

namespace deputy {
namespace {

constexpr std::string_view kName = "reserve";

}  // namespace

void keep_reserve(const Folder& home) {
  const auto kept = home.status(kName);
  if (kept && kept->size == kReserveBytes) return;
  (void)home.replace(kName, std::string(kReserveBytes, 'r'));
}

void give_back_reserve(const Folder& home) { (void)home.remove(kName); }

}  // namespace deputy
