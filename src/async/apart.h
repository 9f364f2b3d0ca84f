// What is handed to a call by value has a place in the frame of the coroutine that makes the call, for as
// long as that lives, also when the call is long over. Made apart it has none: for a task that waits for
// long.
#pragma once

namespace deputy {

template <class Make>
[[gnu::noinline]] auto apart(const Make& make) {
  return make();
}

}  // namespace deputy
