// What a help shows is what a person types first: it works as it stands.
#include <gmock/gmock.h>

#include "app/command_tree.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class ExamplesTest : public DeputyTest {
 protected:
  // In a shell that finds deputy by its name.
  Ran typed(const std::string& line) {
    return deputy(Start{.words = {line},
                        .environment = {{"DEPUTY_MODEL", "rehearsal"}},
                        .through = {"/bin/sh", "-c", "PATH=\"${0%/*}:$PATH\"; eval \"$1\""}});
  }
  void expect_works(const CommandTree& command) {
    if (!command.example.empty()) {
      SCOPED_TRACE(command.example);
      const auto ran = typed(command.example.substr(0, command.example.find(" | ")));
      if (command.name == "chat") {
        EXPECT_THAT(ran.err, HasSubstr("needs a terminal"));
      } else if (command.name == "answer" || command.name == "nudge") {
        EXPECT_THAT(ran.err, HasSubstr("has ended"));
      } else if (command.name == "doctor") {  // its status is the machine's
        EXPECT_THAT(ran.out, HasSubstr("that is needed is"));
      } else {
        EXPECT_EQ(ran.status, 0) << ran.err;
      }
    }
    for (const auto& each : command.commands) expect_works(each);
  }
};

TEST_F(ExamplesTest, EveryHelpShowsALineThatWorks) {
  write(work() / "a.txt", "TODO: more\n");
  ASSERT_EQ(deputy({"demo"}).status, 0);
  expect_works(command_tree());
  EXPECT_THAT(contents(root() / "person/.bashrc"), HasSubstr("complete -o"));
}

}  // namespace
}  // namespace deputy
