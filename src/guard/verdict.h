// What a rule says of something that is about to happen.
#pragma once

#include <string>

namespace deputy {

enum class Decision { allow, ask, deny };  // in order of strictness

struct Verdict {
  Decision decision = Decision::allow;
  std::string reason;  // for the model and the person, where it is not allow

  static Verdict allow() { return {}; }
  static Verdict ask(std::string why) { return {Decision::ask, std::move(why)}; }
  static Verdict deny(std::string why) { return {Decision::deny, std::move(why)}; }
};

}  // namespace deputy
