// A world in which a test brings profiles of its own and sees what each session was told it is.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/sim_world.h"

namespace deputy {

// Answers from the world's script, and remembers what each session was told it is.
class Listening final : public Provider {
 public:
  Listening(std::unique_ptr<Provider> inner, std::map<std::string, RequestPrefix>& heard)
      : inner_(std::move(inner)), heard_(heard) {}
  std::string_view name() const override { return "listening"; }
  std::string encode(const Message& message) const override { return inner_->encode(message); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    heard_.insert_or_assign(request.agent, *request.prefix);
    return inner_->ask(std::move(request), std::move(deltas), std::move(stop));
  }
  std::int64_t window(const ModelName& model) const override { return inner_->window(model); }
  std::optional<Price> price(const ModelName& model) const override { return inner_->price(model); }

 private:
  std::unique_ptr<Provider> inner_;
  std::map<std::string, RequestPrefix>& heard_;
};

class ProfilesOnATree : public testing::Test {
 protected:
  // `replies` are JSON objects {"match":…,"replies":[…]}, the first that fits is taken.
  void script(std::string_view sessions) {
    world.script = R"({"v":1,"sessions":[)" + std::string(sessions) + "]}";
    world.write_file("a.txt", "one\n");
  }
  static std::string root_calls(std::string_view agent, std::string_view more = "") {
    return R"({"match":{"depth":0},"replies":[{"calls":[{"name":"task","arguments":{"agent":")" +
           std::string(agent) + R"(","prompt":"work")" + std::string(more) + R"(}}]},{"text":"done"}]})";
  }
  static std::string agent_says(std::string_view agent, std::string_view replies = R"({"text":"found it"})") {
    return R"(,{"match":{"agent":")" + std::string(agent) + R"("},"replies":[)" + std::string(replies) + "]}";
  }
  void add(Profile profile) {
    if (profile.tools.empty()) profile.tools = {"Read", "Note"};
    profiles.push_back(std::move(profile));
  }
  Result<Report> go(std::vector<Rule> rules = {}) {
    Life life(world, {.model = [this](Loop& loop) -> std::unique_ptr<Provider> {
                        return std::make_unique<Listening>(*ScriptedProvider::parse(world.script, loop),
                                                           heard);
                      },
                      .profiles = profiles});
    RootBrief brief = life.brief("go");
    brief.model = ModelName("listening/first");
    brief.rules = Rules(std::move(rules));
    brief.network = true;
    return life.start(std::move(brief));
  }
  const Session& child(std::string_view agent) const {
    for (const auto& [id, session] : world.memory->sessions) {
      if (session.agent == agent) return session;
    }
    ADD_FAILURE() << "there was no " << agent;
    static const Session none;
    return none;
  }
  // What the session's model was told by its first call.
  std::string told(std::string_view agent, int index = 0) const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && event.step == 0 && event.call == index &&
          world.memory->sessions.at(event.run.session).agent == agent)
        return finished->result.content;
    }
    return {};
  }
  std::vector<std::string> tools_of(const std::string& agent) {
    std::vector<std::string> names;
    for (const auto& tool : heard[agent].tools) names.push_back(tool.name);
    return names;
  }
  std::string task_text(const std::string& agent) {
    for (const auto& tool : heard[agent].tools) {
      if (tool.name == "task") return tool.description;
    }
    return {};
  }

  SimWorld world;
  std::vector<Profile> profiles;  // besides the built-in ones; of two with one name the last counts
  std::map<std::string, RequestPrefix> heard;
};

}  // namespace deputy
