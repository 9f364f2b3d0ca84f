#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/bundle.h"
#include "app/doctor_check.h"
#include "app/replay_person.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A tree of the person's own agent, and its bundle in a folder of its own.
class DoctorBundle : public testing::Test {
 protected:
  DoctorBundle() {
    std::filesystem::create_directories(agents_);
    std::filesystem::current_path(folder_.path());
    Session session;
    session.id = session.tree = SessionId("sess_1800000000_aaaaaa");
    session.agent = "scout";
    session.model = ModelName("rehearsal");
    session.workspace = folder_.path();
    session.workspace_mode = WorkspaceMode::read_only;  // as a file has it that says nothing
    const auto store = program_.open_store();
    EXPECT_TRUE((*store)->claim(session.tree));
    Event created{.tree = session.tree, .run = {session.id, 1}, .fact = SessionCreated{session}};
    EXPECT_TRUE(run(program_.loop, (*store)->record({std::move(created)})));
  }
  ~DoctorBundle() override { std::filesystem::current_path("/"); }

  void write_scout(std::string_view head, std::string_view told) const {
    std::ofstream(agents_ / "scout.md") << "---\ndescription: goes ahead\n" << head << "---\n" << told;
  }
  void set_up(std::string_view settings) const {
    std::ofstream(folder_.file("config/deputy/config.toml")) << settings;
  }
  // What is said beside it.
  std::string make() { return make_with(program_); }
  static std::string make_with(Program& program) {
    testing::internal::CaptureStderr();
    const auto made = make_bundle(program, "newest", {});
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(made) << made.error().error.message;
    return said;
  }
  std::string bundle() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  TempFolder folder_;
  const std::filesystem::path agents_ = folder_.file("config/deputy/agents");
  const std::string file_ = folder_.file("deputy-bundle-sess_1800000000_aaaaaa.jsonl");
  MapEnvironment environment_{
      {{"HOME", folder_.path()}, {"XDG_CONFIG_HOME", folder_.file("config")}, {"MINE", "0123-4567-89ab"}}};
  Program program_{{.home = folder_.file("state")}, environment_, "deputy"};
};

TEST_F(DoctorBundle, HoldsNoPasswordThatStandsInAnAgentsFile) {
  write_scout("", "clone https://bot:hunter2hunter2@git.example/x\n");
  EXPECT_THAT(make(), AllOf(HasSubstr("the agents that are not built in"), HasSubstr("1 secrets in it"),
                            Not(HasSubstr("not as they were"))));
  EXPECT_THAT(bundle(), AllOf(HasSubstr("clone https://bot:[redacted]@git.example/x"),
                              Not(HasSubstr("hunter2hunter2")), Not(HasSubstr("changed_agents"))));
}

TEST_F(DoctorBundle, TellsOfAgentsThatAreNotAsTheyWere) {
  write_scout("workspace: scratch\n", "You scout.\n");
  EXPECT_THAT(make(), HasSubstr("not as they were when the tree ran: scout"));
  EXPECT_THAT(bundle(), HasSubstr(R"("changed_agents":["scout"])"));
}

TEST_F(DoctorBundle, TellsOfAgentsWhoseFilesAreGone) {
  EXPECT_THAT(make(), HasSubstr("not as they were when the tree ran: scout"));
  EXPECT_THAT(bundle(), HasSubstr(R"("changed_agents":["scout"])"));
}

TEST_F(DoctorBundle, TellsWhetherThereIsASearchServiceAndNotItsKey) {
  write_scout("", "Search with 0123-4567-89ab.\n");
  make();
  EXPECT_EQ(has_search(*parse_bundle(bundle())), false);
  EXPECT_THAT(bundle(), HasSubstr("0123-4567-89ab"));
  std::filesystem::remove(file_);
  set_up("[search]\nservice = \"brave\"\nkey_env = \"MINE\"\n");
  Program with_search{{.home = folder_.file("state")}, environment_, "deputy"};
  make_with(with_search);
  EXPECT_EQ(has_search(*parse_bundle(bundle())), true);
  EXPECT_THAT(bundle(), AllOf(HasSubstr("Search with [redacted]."), Not(HasSubstr("0123-4567-89ab"))));
}

TEST_F(DoctorBundle, SaysThatItHasNoAgentsAndWhy) {
  write_scout("", "You scout.\n");
  set_up("this is no setting");
  EXPECT_THAT(make(), AllOf(HasSubstr("the agents are left out of the bundle: "), HasSubstr("config.toml"),
                            Not(HasSubstr("the agents that are not built in"))));
  EXPECT_THAT(bundle(), AllOf(HasSubstr(R"("agents_left_out":")"), Not(HasSubstr("You scout."))));
}

}  // namespace
}  // namespace deputy
