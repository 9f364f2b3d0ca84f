// A script comes from a person's file: any bytes give either a script whose sessions can be asked for, or an
// Error with words.
#include "model/script.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const auto script = deputy::parse_script({reinterpret_cast<const char*>(bytes), size});
  if (!script) {
    if (script.error().message.empty()) std::abort();
    return 0;
  }
  if (script->sessions.empty()) std::abort();
  for (const deputy::ScriptedSession& session : script->sessions) {
    const auto index = deputy::session_for(*script, session.label.value_or(""), session.agent.value_or(""),
                                           session.depth.value_or(0));
    if (!index) std::abort();
    for (const deputy::ScriptedReply& reply : session.replies) {
      if (reply.first_byte < deputy::Duration::zero()) std::abort();
      for (const deputy::Call& call : reply.calls) {
        if (call.name.empty()) std::abort();
      }
    }
  }
  return 0;
}
