#include "app/welcome.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string page(const ModelName& model, ModelWasNamed named = ModelWasNamed::no) {
  std::string text;
  for (const auto& line : welcome_lines(model, model_offer({}, MapEnvironment{}), "/work", named))
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

}  // namespace
}  // namespace deputy
