#include "precompiled_session.h"
#include "runtime/runtime.h"
