// What a person is shown before a call is approved. It is made from the parsed object that will run, never
// from the model's text: spacing is the program's own, every command of a chain begins a line, and whatever
// could not be seen is spelled out. Of a command that could be taken apart, the text shown reads back as
// exactly the same commands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "guard/shell.h"

namespace deputy {

std::string shown(std::span<const SimpleCommand> commands);
// Long runs of spaces and of line breaks counted. Of an opaque command the text itself: hidden characters
// spelled out, and said in the first line that it could not be taken apart.
std::string shown_command(std::string_view command);
// A host as it is looked up: "xn--pple-43d.com" for one that only looks like "apple.com". What is no host is
// spelled out.
std::string shown_host(std::string_view host);

}  // namespace deputy
