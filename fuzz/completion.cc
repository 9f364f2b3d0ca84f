// A child's report as its model writes it: what the tool's own schema lets pass becomes a Completion that
// says no more than it was given.
#include "agent/completion.h"

#include <cstdint>
#include <cstdlib>

#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/completion_tool.h"

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

JsonSchema schema_of_reports() {
  const auto tool = CompletionTool::make("");
  must(tool.has_value());
  const auto text = parse_json((*tool)->text().schema);
  must(text.has_value());
  auto schema = JsonSchema::compile(*text);
  must(schema.has_value());
  return *std::move(schema);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const JsonSchema schema = schema_of_reports();
  const auto arguments = parse_json_object({reinterpret_cast<const char*>(bytes), size});
  if (!arguments || !schema.mistakes_in(*arguments).empty()) return 0;
  const Completion completion = completion_of(*arguments);
  must(completion.status != Status::cancelled);
  must(is_utf8(completion.summary) && is_utf8(completion.body));
  must(!completion.is_data || parse_json(completion.body).has_value());
  return 0;
}
