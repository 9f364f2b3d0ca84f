#include "tools/content_kind.h"

#include <array>

namespace deputy {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  std::string_view kind;
};

constexpr auto kSignatures = std::to_array<Signature>({
    {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"GIF87a"sv, "a GIF image"},
    {"GIF89a"sv, "a GIF image"},
    {"II*\0"sv, "a TIFF image"},
    {"MM\0*"sv, "a TIFF image"},
    {"%PDF-"sv, "a PDF document"},
    {"\x7f"
     "ELF"sv,
     "a compiled program"},
    {"PK\x03\x04"sv, "a ZIP archive"},
    {"\x1f\x8b"sv, "a gzip archive"},
    {"\xfd"
     "7zXZ\0"sv,
     "an xz archive"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    {"SQLite format 3\0"sv, "an SQLite database"},
    {"\xff\xfe"sv, "UTF-16 text"},
    {"\xfe\xff"sv, "UTF-16 text"},
});

}  // namespace

std::optional<std::string_view> kind_unless_text(std::string_view beginning) {
  for (const auto& [bytes, kind] : kSignatures) {
    if (beginning.starts_with(bytes)) return kind;
  }
  if (beginning.starts_with("RIFF") && beginning.size() >= 12 && beginning.substr(8).starts_with("WEBP"))
    return "a WebP image";
  if (beginning.starts_with("BM") && beginning.contains('\0')) return "a BMP image";
  if (beginning.contains('\0')) return "a binary file";
  return std::nullopt;
}

}  // namespace deputy
