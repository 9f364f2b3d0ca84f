// The ids of a conversation's calls: a result finds its call by one, so no two may be the same, whatever a
// server sends.
#pragma once

#include <span>

#include "transcript/message.h"

namespace deputy::api {

// A call of the reply whose id another has, in it or in what was said before, gets one of its own; `wire`,
// which has the old one, is given up then.
void give_own_ids(Message& reply, std::span<const Message> before);

}  // namespace deputy::api
