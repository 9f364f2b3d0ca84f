#include "precompiled_app.h"
#include "precompiled_test.h"
