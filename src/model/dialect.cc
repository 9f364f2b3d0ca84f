#include "model/dialect.h"

namespace deputy {

std::string_view bare_name(const ModelName& model) {
  const std::string_view whole = model.value;
  const std::size_t slash = whole.find('/');
  return slash == std::string_view::npos ? whole : whole.substr(slash + 1);
}

}  // namespace deputy
