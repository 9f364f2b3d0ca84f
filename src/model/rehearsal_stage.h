// A folder in memory and tools that answer from it in the words of the real ones, for tests of the rehearsal
// model: it plays a conversation to its end and checks that every place a report cites exists.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "model/rehearsal.h"

namespace deputy {

class Stage {
 public:
  explicit Stage(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  std::map<std::string, std::string> broken;  // tool → the error it answers with
  std::vector<ToolOffer> tools = {offer("Glob", "pattern path"),
                                  offer("Grep", "pattern output_mode case_insensitive head_limit"),
                                  offer("Read", "file_path offset limit"), offer("Note", "content")};
  std::vector<Message> messages;

  static ToolOffer offer(std::string name, std::string_view arguments) {
    json::object properties;
    for (const std::string_view argument : split(arguments, ' ')) properties[argument] = json::object{};
    return {std::move(name), "", to_json_text(json::object{{"properties", std::move(properties)}})};
  }

  void offer_only(std::set<std::string> names) {
    std::erase_if(tools, [&names](const ToolOffer& tool) { return !names.contains(tool.name); });
  }

  void say(std::string text, Source source = Source::parent) {
    Message message;
    message.source = source;
    message.text = std::move(text);
    messages.push_back(std::move(message));
  }

  // One reply, and the results of its calls.
  Message step() {
    const Message reply = rehearsed(tools, messages);
    messages.push_back(reply);
    if (reply.calls.empty()) return reply;
    Message results;
    results.role = Role::tool;
    for (const Call& call : reply.calls) results.results.push_back(answer(call));
    messages.push_back(std::move(results));
    return reply;
  }

  // To the end: the report.
  std::string play(std::string prompt) {
    say(std::move(prompt));
    for (int i = 0; i < 10; ++i) {
      const Message reply = step();
      if (reply.calls.empty()) return reply.text;
    }
    return "it never ends";
  }

  // "Glob List | Read | Note": the tools called, a reply each.
  std::string course() const {
    std::string course;
    for (const Message& message : messages) {
      if (message.calls.empty()) continue;
      if (!course.empty()) course += " |";
      for (const Call& call : message.calls) course += (course.empty() ? "" : " ") + call.name;
    }
    return course;
  }

  // Each "- path:line — …" stands where it says.
  void expect_cites_exist(std::string_view report, std::size_t at_least) const {
    std::size_t cites = 0;
    for (const std::string_view line : lines_of(report)) {
      if (!line.starts_with("- ")) continue;
      ++cites;
      const std::string_view cite = line.substr(2, line.find(" — ") - 2);
      const std::size_t colon = cite.rfind(':');
      const auto file = files_.find(std::string(cite.substr(0, colon)));
      ASSERT_NE(file, files_.end()) << line;
      const auto number = std::stoul(std::string(cite.substr(colon + 1)));
      EXPECT_GE(number, 1U) << line;
      EXPECT_LE(number, lines_of(file->second).size()) << line;
    }
    EXPECT_GE(cites, at_least) << report;
  }

 private:
  ToolResult answer(const Call& call) const {
    if (const auto error = broken.find(call.name); error != broken.end())
      return {call.id, ToolStatus::error, error->second};
    const auto arguments = parse_json_object(call.arguments);
    EXPECT_TRUE(arguments) << call.arguments;
    std::string content = "Noted.";
    if (call.name == "Glob") content = glob(string_or(*arguments, "pattern", ""));
    if (call.name == "Grep") content = grep(*arguments);
    if (call.name == "List") content = list();
    if (call.name == "Read") return read(call.id, *arguments);
    if (call.name == "Delegate") content = delegate(*arguments);
    return {call.id, ToolStatus::ok, std::move(content)};
  }

  std::string glob(std::string_view pattern) const {
    const std::string_view name = pattern.substr(pattern.rfind('/') + 1);
    std::string rows;
    std::size_t count = 0;
    for (const auto& [path, text] : files_) {
      if (name != "*" && path != name && !path.ends_with("/" + std::string(name))) continue;
      rows += path + "\n";
      ++count;
    }
    if (count == 0) return "No files match " + std::string(pattern) + " in the workspace.\n";
    return "[" + std::to_string(count) + " files]\n" + rows;
  }

  std::string grep(const json::object& arguments) const {
    std::string pattern = string_or(arguments, "pattern", "");
    const bool counts = string_or(arguments, "output_mode", "") == "count";
    std::size_t at = 0;
    while ((at = pattern.find("\\b")) != std::string::npos) pattern.erase(at, 2);
    std::erase(pattern, '\\');
    std::string rows;
    std::size_t matches = 0;
    std::set<std::string> in;
    for (const auto& [path, text] : files_) {
      const auto lines = lines_of(text);
      if (counts && !lines.empty()) rows += path + ":" + std::to_string(lines.size()) + "\n";
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool hit = counts || std::ranges::any_of(split(pattern, '|'), [&](std::string_view word) {
                           return lowered(lines[i]).contains(lowered(word));
                         });
        if (!hit) continue;
        ++matches;
        in.insert(path);
        if (!counts) rows += path + ":" + std::to_string(i + 1) + ":" + std::string(lines[i]) + "\n";
      }
    }
    if (matches == 0)
      return "No matches for " + pattern + " in the workspace. Hidden and ignored files were not searched.\n";
    return "[" + std::to_string(matches) + " matching lines in " + std::to_string(in.size()) + " files]\n" +
           rows;
  }

  std::string list() const {
    std::set<std::string> rows;
    for (const auto& [path, text] : files_) {
      const std::size_t slash = path.find('/');
      rows.insert(slash == std::string::npos ? path + "  " + std::to_string(text.size()) + " bytes"
                                             : path.substr(0, slash + 1));
    }
    std::string text = files_.empty() ? "[.: empty]\n" : "[.: some]\n";
    for (const std::string& row : rows) text += row + "\n";
    return text;
  }

  ToolResult read(const std::string& id, const json::object& arguments) const {
    const std::string path = string_or(arguments, "file_path", "");
    const auto file = files_.find(path);
    if (file == files_.end()) return {id, ToolStatus::error, path + " does not exist."};
    if (file->second.contains('\0'))
      return {id, ToolStatus::error, path + " is a binary file of 3 bytes, not text."};
    const auto lines = lines_of(file->second);
    const auto from = static_cast<std::size_t>(integer_or(arguments, "offset", 1));
    const auto most = static_cast<std::size_t>(integer_or(arguments, "limit", 2000));
    std::string content;
    for (std::size_t i = from; i <= lines.size() && i < from + most; ++i) {
      content += "     " + std::to_string(i) + "\t" + std::string(lines[i - 1]) + "\n";
    }
    return {id, ToolStatus::ok, content.empty() ? "[" + path + " is empty]" : content};
  }

  std::string delegate(const json::object& arguments) const {
    std::string text = "## Subagents complete: 3/3\n";
    for (const json::value& task : *array_at(arguments, "tasks")) {
      Stage child(files_);
      const std::string report = child.play(string_or(task.get_object(), "prompt", ""));
      text += "\n### [" + string_or(task.get_object(), "label", "") + "] ✓\n**Usage**: in=1 out=1\n\n" +
              report + "\n";
    }
    return text;
  }

  std::map<std::string, std::string> files_;
};

}  // namespace deputy
