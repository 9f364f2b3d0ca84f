// A support bundle comes from a stranger: any bytes give either an Error with words, or one whole tree whose
// events read the same when they are written again, are the same as themselves, and can be taken apart for a
// replay.
#include "app/bundle.h"

#include "app/replay_comparison.h"
#include "app/replay_outside.h"
#include "app/replay_script.h"
#include "must.h"

using namespace deputy;

namespace {

// Without what is told about it, which is for people: a fraction there may come back as its neighbour, since
// the JSON library reads numbers to within their last bit.
std::string text_of_events(Bundle bundle) {
  bundle.about.clear();
  return bundle_text(bundle, Redactor());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto bundle = parse_bundle({reinterpret_cast<const char*>(bytes), size});
  if (!bundle) {
    must(!bundle.error().message.empty() && !bundle.error().advice.empty());
    return 0;
  }
  must(std::holds_alternative<SessionCreated>(bundle->events.front().fact));
  const auto written = parse_bundle(bundle_text(*bundle, Redactor()));  // what looks like a key is out of it
  must(written.has_value() && written->events.size() == bundle->events.size());
  const auto again = parse_bundle(bundle_text(*written, Redactor()));
  must(again.has_value() && text_of_events(*again) == text_of_events(*written));
  must(compared(written->events, again->events).differences.empty());
  (void)outside_in(bundle->events);
  (void)script_of(requests_in(bundle->events));
  const Bundle agents{{{"agents", agents_json(agents_in(*bundle), bundle->events)}}, {}};
  must(agents_json(agents_in(agents), bundle->events) == agents.about.at("agents"));
  return 0;
}
