// Whatever stands in /proc/self/cgroup and /proc/self/mountinfo, the places found are absolute and name no
// folder above the mount.
#include "must.h"
#include "sandbox/control_group.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto middle = text.find('\f');
  const auto places =
      find_group_places(text.substr(0, middle), middle == text.npos ? "" : text.substr(middle + 1));
  if (places.unified) must(places.unified->starts_with(places.unified_top));
  for (const auto& place : {places.unified, places.memory, places.pids})
    must(!place || !place->contains('\n'));
  return 0;
}
