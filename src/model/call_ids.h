// The ids of a conversation's calls: a result finds its call by one, so no two may be the same, whatever a
// server sends.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transcript/message.h"

namespace deputy::api {

// An id for a call that came without one, or with another's: short, as it goes out twice with every later
// request.
std::string id_made_from(std::string_view seed);

// A call of the reply whose id another has, in it or in what was said before, gets one of its own, also in
// `wire`: with it go reasoning and signatures.
void give_own_ids(Message& reply, std::span<const Message> before);

// Gives those calls in `wire` the ids that the reply's have; the others go back as they came, also without
// one. A wire that does not have the same calls is given up.
void put_ids_into_wire(Message& reply, std::span<const std::size_t> renamed);

}  // namespace deputy::api
