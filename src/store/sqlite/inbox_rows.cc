#include "store/sqlite/inbox_rows.h"

#include "base/enum_names.h"

namespace deputy {
namespace {

constexpr EnumNames<LetterKind, 3> kLetterKinds{
    {{LetterKind::cancel, "cancel"}, {LetterKind::answer, "answer"}, {LetterKind::nudge, "nudge"}}};

}  // namespace

Result<Letter> letter_of_row(const Statement& row) {
  const auto kind = value_in(kLetterKinds, row.text(3));
  if (!kind) return fail(ErrorCode::corrupt, "a letter of the unknown kind '" + row.text(3) + "'");
  return Letter{row.integer(0), SessionId(row.text(1)), SessionId(row.text(2)), *kind, row.text(4)};
}

Result<std::int64_t> post_letter(const Database& database, const Letter& letter) {
  TRY(auto insert,
      database.prepare("INSERT INTO inbox (tree, session, kind, text) VALUES (?,?,?,?) RETURNING id"));
  insert.bind(letter.tree.value)
      .bind(letter.session.value)
      .bind(name_in(kLetterKinds, letter.kind))
      .bind(letter.text);
  TRY(const bool has_row, insert.step());
  if (!has_row) return fail(ErrorCode::internal, "a letter was given no number");
  const auto id = insert.integer(0);
  TRY(insert.step());  // to its end, which makes it durable
  return id;
}

Result<void> discard_letter(const Database& database, std::int64_t letter) {
  TRY(auto remove, database.prepare("DELETE FROM inbox WHERE id=?"));
  remove.bind(letter);
  return remove.run();
}

}  // namespace deputy
