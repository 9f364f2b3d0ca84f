// Brings a database to the version this program knows, by numbered steps in one transaction. A newer database
// is refused and left as it is.
#pragma once

#include "store/sqlite/database.h"

namespace deputy {

Result<void> migrate(const Database& database);
int newest_schema();

}  // namespace deputy
