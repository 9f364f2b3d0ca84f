// Failures of the environment as values. Result<T> is either a T or an Error that says what happened, why,
// and what a person can do about it. TRY unwraps a Result or returns its Error from the enclosing function;
// CO_TRY does the same in a coroutine. Exceptions are left for bugs.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace deputy {

enum class ErrorCode {
  invalid,  // the caller gave something that cannot be meant
  not_found,
  denied,  // permission, by the system or by a rule
  exists,
  exhausted,  // a limit or the disk is full
  cancelled,
  timeout,
  io,
  corrupt,
  busy,         // someone else holds it
  too_new,      // written by a newer version
  unavailable,  // this machine or peer cannot do it
  internal,
};

std::string_view name_of(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // what happened, and why
  std::string advice;   // what to do about it; may be empty

  static Error cancelled() { return {ErrorCode::cancelled, "cancelled", ""}; }
  bool operator==(const Error&) const = default;
};

// One line for people: the message, then the advice.
std::string to_text(const Error& error);

// An Error from errno, naming what was attempted and on what: "open /x" gives "cannot open /x: Permission
// denied".
Error error_from_errno(int number, std::string_view attempted);

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string advice = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(advice)});
}

}  // namespace deputy

#define DEPUTY_JOIN_(a, b) a##b
#define DEPUTY_JOIN(a, b) DEPUTY_JOIN_(a, b)
#define DEPUTY_PICK_3(a, b, chosen, ...) chosen

#define DEPUTY_TRY_VOID(ret, tmp, expression) \
  if (auto tmp = (expression); !tmp) ret std::unexpected(std::move(tmp).error())
#define DEPUTY_TRY_VALUE(ret, tmp, declaration, expression) \
  auto tmp = (expression);                                  \
  if (!tmp) ret std::unexpected(std::move(tmp).error());    \
  declaration = *std::move(tmp)

#define DEPUTY_TRY_1(expression) DEPUTY_TRY_VOID(return, DEPUTY_JOIN(try_, __LINE__), expression)
#define DEPUTY_TRY_2(declaration, expression) \
  DEPUTY_TRY_VALUE(return, DEPUTY_JOIN(try_, __LINE__), declaration, expression)
#define DEPUTY_CO_TRY_1(expression) DEPUTY_TRY_VOID(co_return, DEPUTY_JOIN(try_, __LINE__), expression)
#define DEPUTY_CO_TRY_2(declaration, expression) \
  DEPUTY_TRY_VALUE(co_return, DEPUTY_JOIN(try_, __LINE__), declaration, expression)

// TRY(expression);  or  TRY(auto value, expression);
#define TRY(...) DEPUTY_PICK_3(__VA_ARGS__, DEPUTY_TRY_2, DEPUTY_TRY_1)(__VA_ARGS__)
#define CO_TRY(...) DEPUTY_PICK_3(__VA_ARGS__, DEPUTY_CO_TRY_2, DEPUTY_CO_TRY_1)(__VA_ARGS__)
