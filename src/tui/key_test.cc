#include "tui/key.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KeyReader, TakesTextAndKeysApart) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("hé日\x1b[A\r"),
              ElementsAre(Key{KeyName::text, "hé日"}, Key{KeyName::up}, Key{KeyName::enter}));
  EXPECT_THAT(reader.feed("\x03\x1b[1;5C\x1b\r\n\x7f"),
              ElementsAre(Key{KeyName::control, "c"}, Key{KeyName::word_right}, Key{KeyName::line_break},
                          Key{KeyName::line_break}, Key{KeyName::backspace}));
}

TEST(KeyReader, WaitsForTheRestOfASequence) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(reader.is_waiting());
  EXPECT_THAT(reader.feed("["), IsEmpty());
  EXPECT_THAT(reader.feed("B"), ElementsAre(Key{KeyName::down}));
  EXPECT_THAT(reader.feed("\xe6\x97"), IsEmpty());
  EXPECT_THAT(reader.feed("\xa5"), ElementsAre(Key{KeyName::text, "日"}));
  EXPECT_FALSE(reader.is_waiting());
}

TEST(KeyReader, AnEscapeAloneIsAKeyWhenNothingFollows) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b"), IsEmpty());
  EXPECT_THAT(reader.settle(), ElementsAre(Key{KeyName::escape}));
  EXPECT_THAT(reader.feed("A"), ElementsAre(Key{KeyName::text, "A"}));
}

TEST(KeyReader, APasteIsOneKeyWhateverIsInIt) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b[200~one\rtwo\r\nth"), IsEmpty());
  EXPECT_FALSE(reader.is_waiting()) << "a long paste is no broken sequence";
  EXPECT_THAT(reader.feed("ree\x03\x1b[A\x1b[201~x"),
              ElementsAre(Key{KeyName::paste, "one\ntwo\nthree[A"}, Key{KeyName::text, "x"}));
}

TEST(KeyReader, DropsWhatIsNoKeyAndNoText) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b[99;99~\x1b[?1;2c\xff\xc2\x9bz"), ElementsAre(Key{KeyName::text, "z"}));
}

}  // namespace
}  // namespace deputy
