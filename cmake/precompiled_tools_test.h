#include "precompiled_test.h"
#include "precompiled_tools.h"
