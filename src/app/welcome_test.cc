#include "app/welcome.h"

#include <gmock/gmock.h>

#include "app/failure.h"
#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string page(const ModelName& model, ModelWasNamed named = ModelWasNamed::no, std::size_t columns = 200,
                 const std::string& home = "") {
  const AsTyped typed_here = [&home](std::string_view text) { return as_typed(text, "deputy", home); };
  std::string text;
  for (const auto& line :
       welcome_lines(model, model_offer({}, MapEnvironment{}), "/work", named, typed_here, columns))
    text += plain_text(line) + "\n";
  return text;
}

TEST(Welcome, WithNoModelItSaysWhatWasLookedForAndWhatToDo) {
  EXPECT_THAT(
      page(ModelName("rehearsal")),
      AllOf(HasSubstr("No model is set up here yet."), HasSubstr("ANTHROPIC_API_KEY, OPENAI_API_KEY"),
            HasSubstr("ollama"), HasSubstr("no language model"), HasSubstr("export ANTHROPIC_API_KEY=")));
}

TEST(Welcome, WithAModelItIsShort) {
  EXPECT_THAT(page(ModelName("anthropic/x")),
              AllOf(HasSubstr("anthropic/x"), HasSubstr("/help"), Not(HasSubstr("ANTHROPIC_API_KEY"))));
}

TEST(Welcome, WhoNamedTheRehearsalModelKnows) {
  EXPECT_THAT(page(ModelName("rehearsal"), ModelWasNamed::yes), Not(HasSubstr("No model")));
}

TEST(Welcome, FitsTheScreenAndIsBrokenBetweenWordsAndInItsColumn) {
  for (const std::size_t columns : {79U, 39U}) {
    const std::string text = page(ModelName("rehearsal"), ModelWasNamed::no, columns);
    for (const auto line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
  }
  EXPECT_THAT(page(ModelName("rehearsal"), ModelWasNamed::no, 79),
              AllOf(HasSubstr("by fixed rules, with the\nreal tools, and is no language model."),
                    testing::ContainsRegex("\n  a key {19}export ANTHROPIC_API_KEY=[^\n]*\n {26}[A-Z]")));
}

// The longest is 37 columns wide by itself, and 41 where it stands below its name.
TEST(Welcome, ACommandLineIsWholeAsItIsTypedHereWhereverARowHasRoomForIt) {
  constexpr std::string_view kLongest = "`deputy chat --model compatible/NAME`";
  for (const std::size_t columns : {200U, 79U, 60U, 41U, 40U, 39U, 37U}) {
    EXPECT_THAT(page(ModelName("rehearsal"), ModelWasNamed::no, columns),
                AllOf(HasSubstr(kLongest), HasSubstr("`deputy doctor`"), HasSubstr("`deputy models`")))
        << columns;
  }
  EXPECT_THAT(page(ModelName("rehearsal"), ModelWasNamed::no, 36), Not(HasSubstr(kLongest)));
  const std::string elsewhere = page(ModelName("rehearsal"), ModelWasNamed::no, 39, "/srv/work/of/us");
  EXPECT_THAT(elsewhere, HasSubstr("\n`deputy doctor --home /srv/work/of/us`\n    says it\n"));
}

std::string offered(int count, ReadIn where = ReadIn::chat) {
  std::vector<Session> roots(static_cast<std::size_t>(count));
  for (auto& root : roots) {
    root.id = SessionId("sess_1_aaaaaa");
    root.prompt = "look\ninto \x1b it";
  }
  std::string text;
  for (const auto& line : unfinished_lines(roots, where, 79)) text += plain_text(line) + "\n";
  return text;
}

TEST(Welcome, OffersWhatWasLeftUnfinished) {
  EXPECT_EQ(offered(0), "");
  EXPECT_THAT(offered(1), AllOf(HasSubstr("/resume"), HasSubstr("sess_1_aaaaaa"), HasSubstr("look into"),
                                Not(HasSubstr("\x1b")), Not(HasSubstr("more"))));
  EXPECT_THAT(offered(3), Not(HasSubstr("more")));
  EXPECT_THAT(offered(4), HasSubstr("and 1 more"));
  EXPECT_THAT(offered(4, ReadIn::shell),
              AllOf(HasSubstr("`deputy resume ID`"), HasSubstr("sessions ls --live")));
}

}  // namespace
}  // namespace deputy
