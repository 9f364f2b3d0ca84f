// Rings when something is written in the state folder: a letter is, as everything that is kept.
#pragma once

#include <memory>
#include <string>

#include "async/loop.h"
#include "runtime/bell.h"

namespace deputy {

// Nothing where the system does not tell.
std::unique_ptr<Bell> home_bell(SystemLoop& loop, const std::string& home);

}  // namespace deputy
