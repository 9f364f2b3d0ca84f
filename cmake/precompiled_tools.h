#include "precompiled_session.h"
#include "tools/toolbox.h"
