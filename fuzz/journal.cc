// Journal records as a damaged database might hold them: the first line is the kind, the rest the body.
// Whatever reads must write back to something that reads the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "transcript/codec.h"
#include "transcript/event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deputy;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto body = parse_json_object(input.substr(end + 1));
  if (!body) return 0;
  (void)wait_from_json(*body);  // a column of its own beside the records
  const auto fact = fact_from_json(input.substr(0, end), *body);
  if (!fact) return 0;
  const auto again = fact_from_json(kind_of(*fact), fact_to_json(*fact));
  if (!again || fact_to_json(*again) != fact_to_json(*fact)) std::abort();
  return 0;
}
