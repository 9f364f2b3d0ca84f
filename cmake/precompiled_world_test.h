#include "precompiled_session_test.h"
#include "support/dialogue_world.h"
