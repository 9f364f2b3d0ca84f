#include "base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace deputy {
namespace {

ErrorCode code_of(int number) {
  switch (number) {
    case ENOENT:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::denied;
    case EEXIST:
      return ErrorCode::exists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::exhausted;
    default:
      return ErrorCode::io;
  }
}

std::string_view advice_for(int number) {
  switch (number) {
    case ENOENT:
      return "check the name";
    case EACCES:
    case EPERM:
      return "check who owns it and its permissions";
    case EROFS:
      return "it is on a read-only file system: choose another place";
    case ENOSPC:
      return "the disk is full: free some space";
    case EDQUOT:
      return "the disk quota is used up: free some space";
    case EFBIG:
      return "the file would become too large: start a new one or raise the limit (ulimit -f)";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit (ulimit -n)";
    case EAGAIN:
    case ENOMEM:
      return "the machine has no room for more: end some programs, and try again";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case ENOTDIR:
      return "a part of the name is a file, not a folder";
    case EISDIR:
      return "it is a folder: name a file";
    case ENOTEMPTY:
      return "empty the folder first";
    case EIO:
      return "the device reports a fault: check the disk";
    default:
      return "";
  }
}

}  // namespace

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::denied:
      return "denied";
    case ErrorCode::exists:
      return "exists";
    case ErrorCode::exhausted:
      return "exhausted";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::io:
      return "io";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::too_new:
      return "too_new";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string to_text(const Error& error) {
  std::string text =
      error.advice.empty() ? error.message : fmt::format("{} ({})", error.message, error.advice);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

Error error_from_errno(int number, std::string_view attempted) {
  const char* reason = strerrordesc_np(number);
  std::string message = reason != nullptr ? fmt::format("cannot {}: {}", attempted, reason)
                                          : fmt::format("cannot {}: error {}", attempted, number);
  return {code_of(number), std::move(message), std::string(advice_for(number))};
}

}  // namespace deputy
