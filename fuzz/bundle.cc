// A support bundle comes from a stranger: any bytes give either an Error with words, or one whole tree that
// reads the same when it is written again, is the same as itself, and can be taken apart for a replay.
#include "app/bundle.h"

#include "app/replay_comparison.h"
#include "app/replay_outside.h"
#include "app/replay_script.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto bundle = parse_bundle({reinterpret_cast<const char*>(bytes), size});
  if (!bundle) {
    must(!bundle.error().message.empty() && !bundle.error().advice.empty());
    return 0;
  }
  must(std::holds_alternative<SessionCreated>(bundle->events.front().fact));
  const Redactor none;
  const std::string text = bundle_text(*bundle, none);
  const auto again = parse_bundle(text);
  must(again.has_value() && again->events.size() == bundle->events.size());
  must(bundle_text(*again, none) == text);
  must(compared(bundle->events, again->events).differences.empty());
  (void)outside_in(bundle->events, deaths_in(bundle->events));
  (void)script_of(requests_in(bundle->events));
  return 0;
}
