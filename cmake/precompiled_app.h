#include "app/program.h"
#include "precompiled_tools.h"
#include "runtime/runtime.h"
