// Whichever allocation of a parser of foreign bytes fails, over the corpora of the fuzzers: it ends in one
// outcome (what it had to say, or std::bad_alloc, which a run takes as its end), leaks nothing, and the next
// reading is as good as any.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>

#include "app/bundle.h"
#include "base/display.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "delegation/profile_file.h"
#include "failing_memory.h"
#include "guard/rules.h"
#include "guard/shell.h"
#include "model/script.h"
#include "model/tongues.h"
#include "net/sse.h"
#include "net/web_url.h"
#include "support/paths.h"
#include "tools/catalog.h"
#include "tools/html_markdown.h"
#include "tools/notebook.h"
#include "tools/rg_output.h"
#include "tools/search_engine.h"
#include "tools/web_page.h"
#include "transcript/event.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 8 * 1024;  // of an input: each is read once for each of its allocations

// How it ended, in so few letters that saying so takes no memory.
using Parser = std::function<char(std::string_view)>;
template <class T>
char ended(const Result<T>& result) {
  return result ? '+' : '-';
}

char read_events(Tongue tongue, std::string_view bytes) {
  const auto decoder = dialect_of(tongue)->decoder();
  decoder->feed(bytes, [](const Delta&) {});
  return decoder->finish() ? '+' : '-';
}
char read_profile_as(ProfileFormat format, std::string_view bytes) {
  return ended(read_profile(format, bytes, "file"));
}
char read_record(std::string_view bytes) {
  const auto end = std::min(bytes.find('\n'), bytes.size());
  const auto body = parse_json_object(bytes.substr(std::min(end + 1, bytes.size())));
  return body ? ended(fact_from_json(bytes.substr(0, end), *body)) : '-';
}
char read_stream(std::string_view bytes) {
  std::size_t events = 0;
  const auto sink = [&events](const SseEvent&) { ++events; };
  SseDecoder decoder;
  decoder.feed(bytes, sink);
  decoder.finish(sink);
  return events > 0 ? '+' : '-';
}

// As the fuzzer takes them: the first byte chooses the tool.
char read_arguments(std::string_view bytes) {
  struct Known {
    std::shared_ptr<Tool> tool;
    JsonSchema schema;
  };
  static const std::vector<Known> tools = [] {
    std::vector<Known> known;
    for (auto& tool : builtin_tools()) {
      auto schema = JsonSchema::compile(parse_json(tool->text().schema).value());
      known.push_back({std::move(tool), *std::move(schema)});
    }
    return known;
  }();
  if (bytes.empty()) return '-';
  const Known& known = tools[static_cast<unsigned char>(bytes.front()) % tools.size()];
  const auto arguments = parse_json_object(bytes.substr(1));
  if (!arguments || !known.schema.mistakes_in(*arguments).empty()) return '-';
  (void)known.tool->shown(*arguments);
  (void)known.tool->subject(*arguments);
  (void)known.tool->path(*arguments);
  return '+';
}
char read_page(std::string_view bytes) {
  return page_of(bytes, [](std::string_view address) { return std::string(address); }).markdown.empty() ? '-'
                                                                                                        : '+';
}
char read_answer(std::string_view bytes) {
  static const WebUrl asked = parse_web_url("https://example.org/a/b").value();
  const auto type = bytes.substr(0, bytes.find('\n'));
  const char page = ended(page_text(asked, type, bytes.substr(std::min(type.size() + 1, bytes.size()))));
  (void)search_hits(SearchService::searxng, bytes);
  return page;
}
char read_notebook(std::string_view bytes) {
  return edit_notebook(bytes, {.mode = CellEdit::Mode::insert, .cell = "cell-0", .source = "x"}) ? '+' : '-';
}

struct Target {
  std::string corpus;
  Parser parse;
};

// Without TOML (settings, agents of Codex): toml++ hands an error's text to a constructor that may not throw,
// so a process that has no memory for it while it starts ends there.
std::vector<Target> targets() {
  return {
      {"sse", read_stream},
      {"anthropic_events", [](auto bytes) { return read_events(Tongue::anthropic, bytes); }},
      {"openai_responses_events", [](auto bytes) { return read_events(Tongue::openai_responses, bytes); }},
      {"openai_chat_events", [](auto bytes) { return read_events(Tongue::openai_chat, bytes); }},
      {"gemini_events", [](auto bytes) { return read_events(Tongue::gemini, bytes); }},
      {"ollama_events", [](auto bytes) { return read_events(Tongue::ollama, bytes); }},
      {"json", [](auto bytes) { return ended(parse_json(bytes)); }},
      {"journal", read_record},
      {"profile_deputy", [](auto bytes) { return read_profile_as(ProfileFormat::deputy, bytes); }},
      {"profile_claude", [](auto bytes) { return read_profile_as(ProfileFormat::claude, bytes); }},
      {"profile_opencode", [](auto bytes) { return read_profile_as(ProfileFormat::opencode, bytes); }},
      {"profile_gemini", [](auto bytes) { return read_profile_as(ProfileFormat::gemini, bytes); }},
      {"rules",
       [](auto bytes) { return ended(parse_rule(Decision::deny, bytes.substr(0, bytes.find('\n')))); }},
      {"shell", [](auto bytes) { return (void)read_shell(bytes), '+'; }},
      {"url", [](auto bytes) { return ended(parse_web_url(bytes)); }},
      {"markdown", [](auto bytes) { return (void)markdown_lines(bytes, 80), '+'; }},
      {"screen", [](auto bytes) { return (void)for_screen(bytes), '+'; }},
      {"tool_arguments", read_arguments},
      {"html", read_page},
      {"web", read_answer},
      {"notebook", read_notebook},
      {"rg_output", [](auto bytes) { return (void)parse_rg_json(bytes), '+'; }},
      {"script", [](auto bytes) { return ended(parse_script(bytes)); }},
      {"bundle", [](auto bytes) { return ended(parse_bundle(bytes)); }},
  };
}

std::vector<std::string> corpus_of(const std::string& name) {
  std::vector<std::string> inputs;
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "fuzz/corpus" / name)) {
    if (entry.file_size() > kMostBytes) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

struct Tried {
  long inputs = 0;
  long allocations = 0;
  long thrown = 0;
};

void try_all(const Target& target, const std::string& input, long stride, Tried& tried) {
  target.parse(input);  // what is made once for all is made here
  long allocations = 0;
  char whole = 0;
  {
    const memory::Count count(0);
    whole = target.parse(input);
    allocations = memory::counted;
  }
  for (long failing = 1; failing <= allocations; failing += stride) {
    try {
      const memory::Count count(failing);
      target.parse(input);
    } catch (const std::bad_alloc&) {
      ++tried.thrown;
    }
    ++tried.allocations;
    ASSERT_EQ(target.parse(input), whole)
        << target.corpus << ", after allocation " << failing << " of " << allocations;
  }
  ++tried.inputs;
}

void expect_one_outcome(long stride) {
  Tried tried;
  for (const Target& target : targets()) {
    const auto inputs = corpus_of(target.corpus);
    ASSERT_FALSE(inputs.empty()) << target.corpus;
    for (const std::string& input : inputs) {
      try_all(target, input, stride, tried);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tried.thrown, tried.allocations / 2) << "hardly any has failed: this proves nothing";
  fmt::print("figures: {} parsers, {} inputs, {} allocations failed, {} of them thrown on\n",
             targets().size(), tried.inputs, tried.allocations, tried.thrown);
}

TEST(AParserWithoutMemory, EndsInOneOutcome) { expect_one_outcome(7); }
TEST(AParserWithoutMemoryExhaustive, EndsInOneOutcomeWhicheverAllocationFails) { expect_one_outcome(1); }

}  // namespace
}  // namespace deputy
