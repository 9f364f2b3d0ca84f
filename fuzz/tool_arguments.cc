// A call as a model writes it: the first byte chooses the tool, the rest are its arguments. What the tool's
// own schema lets pass can be shown, judged by the rules and asked about; what it does not is told in lines
// of text.
#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/ask_tool.h"  // has what every_tool.h needs linked
#include "every_tool.h"
#include "must.h"

using namespace deputy;

namespace {

struct Known {
  std::shared_ptr<Tool> tool;
  JsonSchema schema;
};

std::vector<Known> known_tools() {
  std::vector<Known> known;
  for (auto& tool : every_tool()) {
    const auto text = parse_json(tool->text().schema);
    must(text.has_value());
    auto schema = JsonSchema::compile(*text);
    must(schema.has_value());
    known.push_back({std::move(tool), *std::move(schema)});
  }
  return known;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<Known> tools = known_tools();
  if (size == 0) return 0;
  const Known& known = tools[bytes[0] % tools.size()];
  const auto arguments = parse_json_object({reinterpret_cast<const char*>(bytes) + 1, size - 1});
  if (!arguments) return 0;
  const auto mistakes = known.schema.mistakes_in(*arguments);
  for (const std::string& line : mistakes) must(!line.empty() && !line.contains('\n') && is_utf8(line));
  if (!mistakes.empty()) return 0;
  must(is_utf8(made_visible(known.tool->shown(*arguments))));
  must(is_utf8(made_visible(known.tool->in_full(*arguments))));
  (void)known.tool->subject(*arguments);
  (void)known.tool->path(*arguments);
  return 0;
}
