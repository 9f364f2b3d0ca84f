// Who was there when a recorded tree ran, and what they had set up. Pure.
#pragma once

#include <optional>
#include <span>

#include "app/bundle.h"
#include "runtime/runtime.h"

namespace deputy {

// As the questions to the person were answered while one program ran; one that stood open to its end, or
// until whoever asked was stopped, was the person's to answer.
Attendance attendance_in(std::span<const Event> events);
// Whether they had a search service: nothing where the bundle does not say so.
std::optional<bool> has_search(const Bundle& bundle);

}  // namespace deputy
