#include "precompiled_session.h"
#include "precompiled_test.h"
