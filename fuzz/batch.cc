// A batch as it stands in the file that a person names: what is taken has tasks that can be asked, and is
// taken again when it is written out; what is not is told in text.
#include "app/batch_input.h"
#include "base/text.h"
#include "delegation/delegate_tool.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto batch = batch_from_file({reinterpret_cast<const char*>(bytes), size}, {});
  if (!batch) {
    must(!batch.error().message.empty() && is_utf8(batch.error().message) && !batch.error().advice.empty());
    return 0;
  }
  const auto tasks = read_delegate_arguments(*batch).tasks;
  must(!tasks.empty());
  for (const auto& task : tasks) must(check_prompt(task.brief.prompt, "it").has_value());
  const auto again = batch_from_file(to_json_text(*batch), {});
  must(again && read_delegate_arguments(*again).tasks.size() == tasks.size());
  return 0;
}
