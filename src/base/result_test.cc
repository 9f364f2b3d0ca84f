#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace deputy {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  TRY(const int halved, half(number));
  TRY(half(halved));
  return halved / 2;
}

TEST(Result, TryUnwrapsValuesAndPassesErrorsOn) {
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(3).error().code, ErrorCode::invalid);
}

TEST(Error, ReadsAsOneLine) {
  EXPECT_EQ(to_text(Error{ErrorCode::io, "it broke", ""}), "it broke");
  EXPECT_EQ(to_text(Error{ErrorCode::io, "it\nbroke", "mend it"}), "it broke (mend it)");
}

TEST(Error, FromErrnoSaysWhatWasAttemptedAndWhatToDo) {
  const Error error = error_from_errno(EACCES, "open /x");
  EXPECT_EQ(error.message, "cannot open /x: Permission denied");
  EXPECT_FALSE(error.advice.empty());
  EXPECT_EQ(error_from_errno(ENOSPC, "write /x").advice, "the disk is full: free some space");
  for (const int number : {EAGAIN, ENOMEM, EMFILE, ENFILE})
    EXPECT_FALSE(error_from_errno(number, "start x").advice.empty()) << number;
}

TEST(Error, FromErrnoSortsReasonsByWhatACallerCanDo) {
  EXPECT_EQ(error_from_errno(ENOENT, "x").code, ErrorCode::not_found);
  for (const int number : {EACCES, EPERM, EROFS})
    EXPECT_EQ(error_from_errno(number, "x").code, ErrorCode::denied);
  for (const int number : {ENOSPC, EDQUOT, EFBIG})
    EXPECT_EQ(error_from_errno(number, "x").code, ErrorCode::exhausted);
  EXPECT_EQ(error_from_errno(EEXIST, "x").code, ErrorCode::exists);
  EXPECT_EQ(error_from_errno(EIO, "x").code, ErrorCode::io);
}

TEST(Error, FromAnUnknownErrnoStillNamesIt) {
  EXPECT_EQ(error_from_errno(99999, "open /x").message, "cannot open /x: error 99999");
}

TEST(ErrorCode, EachHasItsOwnName) {
  EXPECT_EQ(name_of(ErrorCode::not_found), "not_found");
  EXPECT_EQ(name_of(ErrorCode::too_new), "too_new");
  EXPECT_EQ(name_of(ErrorCode::internal), "internal");
}

}  // namespace
}  // namespace deputy
