// Where things are: the state folder, the folder to work in, the program itself. Only names are decided here.
#pragma once

#include <string>
#include <string_view>

#include "app/arguments.h"
#include "base/disk.h"
#include "base/environment.h"

namespace deputy {

// --home, DEPUTY_HOME, $XDG_STATE_HOME/deputy, ~/.local/state/deputy: the first that is set. `current` is
// where a relative name starts.
Result<std::string> state_folder(const CommonArguments& common, const Environment& environment,
                                 std::string_view current);

// An absolute path, with no "." in it and no slash at its end.
Result<std::string> absolute_path(std::string_view path, std::string_view current);

// A file that the person named, whole; more than `most` bytes is an Error.
Result<std::string> read_named_file(const Disk& disk, std::string_view path, std::size_t most);

// deputy-init, which lies beside this program.
std::string init_path();

// A word as a shell would have to be given it.
std::string shell_quoted(std::string_view word);

}  // namespace deputy
