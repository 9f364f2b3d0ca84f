// Names of hosts in the one form that is looked up: lower case, no trailing dot, labels that are not ASCII as
// Punycode (RFC 3492) of their folded and composed form. So every spelling of a name meets the same rule, and
// one that only looks like another does not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deputy {

// Nothing for what cannot be the name of a host: also URLs, ports, brackets.
std::optional<std::string> ascii_host(std::string_view host);

// Whether it ends as only an address does (a number in any base): such a name has no subdomains.
bool is_numeric_host(std::string_view ascii_host);

}  // namespace deputy
