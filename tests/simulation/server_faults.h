// What a model's server does wrong, by the ids of the corpus of faults (tests/faults/cases), as a tree meets
// it: one exchange a request, the last from then on.
#pragma once

#include <string_view>
#include <vector>

#include "net/sim_network.h"

namespace deputy {

struct ServerFault {
  std::string_view id;
  std::vector<SimExchange> says;
};
const std::vector<ServerFault>& server_faults();

}  // namespace deputy
