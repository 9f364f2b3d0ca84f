#include "store/sqlite/inbox_rows.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr EnumNames<LetterKind, 3> kLetterKinds{
    {{LetterKind::cancel, "cancel"}, {LetterKind::answer, "answer"}, {LetterKind::nudge, "nudge"}}};

std::int64_t checksum(std::string_view tree, std::string_view session, std::string_view kind,
                      std::string_view text, std::string_view question) {
  return crc32(fmt::format("{}/{}/{}/{}{}", tree, session, kind, text, question));
}

}  // namespace

Result<Letter> letter_of_row(const Statement& row) {
  const auto crc = row.maybe_integer(5);
  if (crc && *crc != checksum(row.text(1), row.text(2), row.text(3), row.text(4), row.text(6)))
    return fail(ErrorCode::corrupt, fmt::format("letter {} is damaged", row.integer(0)));
  const auto kind = value_in(kLetterKinds, row.text(3));
  if (!kind) return fail(ErrorCode::corrupt, "a letter of the unknown kind '" + row.text(3) + "'");
  return Letter{row.integer(0), SessionId(row.text(1)), SessionId(row.text(2)), *kind, row.text(4),
                row.text(6)};
}

Result<std::int64_t> post_letter(const Database& database, const Letter& letter) {
  TRY(auto insert,
      database.prepare(
          "INSERT INTO inbox (tree, session, kind, text, crc, question) VALUES (?,?,?,?,?,?) RETURNING id"));
  const std::string_view kind = name_in(kLetterKinds, letter.kind);
  insert.bind(letter.tree.value)
      .bind(letter.session.value)
      .bind(kind)
      .bind(letter.text)
      .bind(checksum(letter.tree.value, letter.session.value, kind, letter.text, letter.question))
      .bind(letter.question);
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
