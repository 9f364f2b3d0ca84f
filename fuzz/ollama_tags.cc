// What a server says its models are: whatever it says, the names can be shown and asked for.
#include <cstdlib>

#include "app/model_choice.h"
#include "base/text.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(bytes), size);
  for (const auto& name : ollama_model_names(body)) {
    const auto offer = model_offer({}, MapEnvironment());
    const auto model = named_model("ollama/" + name, offer, "/");
    if (!model || model->value != "ollama/" + name || !is_utf8(name)) std::abort();
  }
  return 0;
}
