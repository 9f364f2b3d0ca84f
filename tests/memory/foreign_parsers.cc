#include "foreign_parsers.h"

#include "agent/completion.h"
#include "app/batch_input.h"
#include "app/bundle.h"
#include "app/history.h"
#include "app/model_choice.h"
#include "app/settings.h"
#include "app/settings_edit.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/display.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "base/pattern.h"
#include "base/redaction.h"
#include "base/text.h"
#include "delegation/completion_tool.h"
#include "delegation/delegate_tool.h"
#include "delegation/git.h"
#include "delegation/profile_file.h"
#include "delegation/question_ids.h"
#include "delegation/spawn_tool.h"
#include "delegation/task_tool.h"
#include "every_tool.h"
#include "failing_memory.h"
#include "guard/glob.h"
#include "guard/programs.h"
#include "guard/rules.h"
#include "guard/shell.h"
#include "model/rate_limit_headers.h"
#include "model/rehearsal.h"
#include "model/retry_after.h"
#include "model/script.h"
#include "model/token_quota.h"
#include "model/tongues.h"
#include "net/http2_session.h"
#include "net/ip_address.h"
#include "net/sse.h"
#include "net/web_url.h"
#include "sandbox/control_group.h"
#include "sandbox/init/process_stat.h"
#include "sandbox/status_record.h"
#include "tools/exact_edit.h"
#include "tools/git_config.h"
#include "tools/html_markdown.h"
#include "tools/line_window.h"
#include "tools/notebook.h"
#include "tools/repositories.h"
#include "tools/rg_output.h"
#include "tools/search_engine.h"
#include "tools/web_page.h"
#include "transcript/event.h"
#include "tui/key.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

constexpr WallTime kNow{std::chrono::seconds{1'800'000'000}};

char said(bool is_good) { return is_good ? '+' : '-'; }
template <class T>
char ended(const Result<T>& result) {
  return said(result.has_value());
}

char letter_of(Decision decision) { return "+?-"[static_cast<int>(decision)]; }
// Of something that is always taken: enough to tell one outcome from most others.
char sized(std::size_t size) { return static_cast<char>('a' + size % 26); }

// Two texts, as fuzzers take them.
struct Pair {
  std::string_view first;
  std::string_view second;
};
Pair parted(std::string_view bytes, char by = '\n') {
  const auto middle = std::min(bytes.find(by), bytes.size());
  return {bytes.substr(0, middle), bytes.substr(std::min(middle + 1, bytes.size()))};
}

JsonSchema schema_of(std::string_view text) { return JsonSchema::compile(parse_json(text).value()).value(); }

char read_events(Tongue tongue, std::string_view bytes) {
  const auto decoder = dialect_of(tongue)->decoder();
  decoder->feed(bytes, [](const Delta&) {});
  return said(decoder->finish().has_value());
}
char read_profile_as(ProfileFormat format, std::string_view bytes) {
  return ended(read_profile(format, bytes, "file"));
}
// As the fuzzer takes it: a rule, and the file that it is put into.
char edit_settings(std::string_view bytes) {
  if (bytes.empty()) return '-';
  const auto [written, settings] = parted(bytes.substr(1));
  const auto rule = parse_rule(Decision(static_cast<unsigned char>(bytes.front()) % 3), written);
  return rule ? ended(with_rule(settings, *rule)) : '!';
}
char read_record(std::string_view bytes) {
  const auto [kind, text] = parted(bytes);
  const auto body = parse_json_object(text);
  return body ? ended(fact_from_json(kind, *body)) : '-';
}
char read_stream(std::string_view bytes) {
  std::size_t events = 0;
  const auto sink = [&events](const SseEvent&) { ++events; };
  SseDecoder decoder;
  decoder.feed(bytes, sink);
  decoder.finish(sink);
  return said(events > 0);
}
char read_http2(std::string_view bytes) {
  struct Counted final : Http2Reader {
    std::size_t told = 0;
    void head(HttpResponse response) override { told += response.headers.size(); }
    void bytes(std::string_view piece) override { told += piece.size(); }
    void end(Http2End) override { ++told; }
  };
  Counted read;
  Http2Session session;
  session.start({{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}}, "", read);
  while (!session.next_to_send().value_or("").empty()) {
  }
  (void)session.take(bytes.substr(std::min<std::size_t>(2, bytes.size())));
  return sized(read.told);
}

// As the fuzzer takes them: the first byte chooses the tool.
char read_arguments(std::string_view bytes) {
  struct Known {
    std::shared_ptr<Tool> tool;
    JsonSchema schema;
  };
  static const std::vector<Known> tools = [] {
    std::vector<Known> known;
    for (auto& tool : every_tool()) {
      auto schema = schema_of(tool->text().schema);
      known.push_back({std::move(tool), std::move(schema)});
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
char read_delegation(std::string_view bytes) {
  static const JsonSchema batch = schema_of(DelegateTool::definition().schema);
  static const JsonSchema task = schema_of(TaskTool::schema());
  static const JsonSchema spawn = schema_of(SpawnTool::schema());
  static const JsonSchema answer = schema_of(AnswerTool::schema());
  if (bytes.empty()) return '-';
  const char kind = bytes.front();
  const JsonSchema& schema = kind == 't' ? task : kind == 's' ? spawn : kind == 'a' ? answer : batch;
  const auto arguments = parse_json_object(bytes.substr(1));
  if (!arguments || !schema.mistakes_in(*arguments).empty()) return '-';
  if (kind == 't') return ended(read_task_arguments(*arguments));
  if (kind == 's') return said(timeout_in(*arguments).has_value());
  if (kind == 'a') return said(!asker_of(string_or(*arguments, "question_id", "")).empty());
  return sized(read_delegate_arguments(*arguments).tasks.size());
}
char read_page(std::string_view bytes) {
  const auto page = page_of(bytes, [](std::string_view address) { return std::string(address); });
  return said(!page.markdown.empty());
}
char read_answer(std::string_view bytes) {
  static const WebUrl asked = parse_web_url("https://example.org/a/b").value();
  const auto [type, body] = parted(bytes);
  const char page = ended(page_text(asked, type, body));
  (void)search_hits(SearchService::searxng, bytes);
  return page;
}
char read_notebook(std::string_view bytes) {
  return said(bool(edit_notebook(bytes, {.mode = CellEdit::Mode::insert, .cell = "cell-0", .source = "x"})));
}

char read_completion(std::string_view bytes) {
  static const JsonSchema schema = schema_of(CompletionTool::make("").value()->text().schema);
  const auto arguments = parse_json_object(bytes);
  if (!arguments || !schema.mistakes_in(*arguments).empty()) return '-';
  (void)completion_of(*arguments);
  return '+';
}
char read_edit(std::string_view bytes) {
  const auto parts = split(bytes, '\0');
  if (parts.size() != 3 || parts[1].empty()) return '-';
  const ExactEdit edit{
      .old_text = std::string(parts[1]), .new_text = std::string(parts[2]), .which = ExactEdit::Which::all};
  return said(apply_edit(parts[0], edit, "file").has_value());
}
char read_lines(std::string_view bytes) {
  LineWindow window({.first = 1, .lines = 2000, .bytes = 64 * 1024});
  window.feed(bytes);
  window.finish();
  return sized(window.text().size());
}
char read_process(std::string_view bytes) {
  init::ProcessStat process{};
  return said(init::read_process_stat(std::string(bytes).c_str(), process));
}
char read_git_file(std::string_view bytes) {
  const auto [pointer, common] = parted(bytes, '\f');
  const ManualClock clock;
  const MemoryDisk disk(clock);
  const auto folder = disk.open("/work", IfAbsent::create);
  if (!folder || !(*folder)->make_folder("store/worktrees/one") ||
      !(*folder)->replace("store/worktrees/one/commondir", common) || !(*folder)->replace(".git", pointer))
    return '-';
  return said(!git_folders_of(**folder, ".git", EntryKind::file).names.empty());
}
char read_glob(std::string_view bytes) {
  const auto [pattern, path] = parted(bytes);
  const auto glob = Glob::compile(pattern);
  return said(glob && glob->matches(path));
}
char read_groups(std::string_view bytes) {
  const auto [own, mounts] = parted(bytes, '\f');
  return said(find_group_places(own, mounts).unified.has_value());
}
// Made where nothing fails: valijson leaks a part of a schema for which its list has no room.
char read_schema(std::string_view bytes) {
  const auto [schema, value] = parted(bytes);
  const auto parsed = parse_json(schema);
  const auto judged = parse_json(value);
  if (!parsed || !judged) return '-';
  const auto compiled = [&parsed] {
    const memory::Pause pause;
    return JsonSchema::compile(*parsed);
  }();
  return said(compiled && compiled->mistakes_in(*judged).empty());
}
char read_pattern(std::string_view bytes) {
  const auto [expression, text] = parted(bytes);
  const auto pattern = Pattern::compile(expression);
  return said(pattern && pattern->search(text) == Pattern::Match::yes);
}
char read_rate_limits(std::string_view bytes) {
  HttpHeaders headers;
  for (const std::string_view line : lines_of(bytes)) {
    const auto [name, value] = parted(line, ':');
    headers.push_back({std::string(name), std::string(value)});
  }
  (void)time_until_refilled(headers, kNow);
  (void)token_quota_in(headers);
  return said(parse_rate_limits(headers, kNow).tokens.has_value());
}
char redacted(std::string_view bytes) {
  static const Redactor redactor = [] {
    Redactor made;
    made.hide("hunter2-hunter2");
    return made;
  }();
  return said(redactor.redact(bytes) == bytes);
}
char rehearse(std::string_view bytes) {
  constexpr int kMostSteps = 8;
  static const std::vector<ToolOffer> tools = [] {
    std::vector<ToolOffer> made;
    for (const char* name : {"Glob", "Grep", "List", "Read", "Note", "Delegate"})
      made.push_back({name, "", R"({"properties":{"output_mode":{},"offset":{},"limit":{}}})"});
    return made;
  }();
  const auto parts = split(bytes, '\0');
  std::vector<Message> messages(1);
  messages[0].text = to_utf8(parts[0]);
  std::size_t next = 1;
  for (int step = 0; step < kMostSteps; ++step) {
    messages.push_back(rehearsed(tools, messages));
    if (messages.back().calls.empty()) return '+';
    Message results;
    results.role = Role::tool;
    for (const Call& call : messages.back().calls) {
      const std::string_view part = next < parts.size() ? parts[next++] : std::string_view();
      results.results.push_back({call.id, ToolStatus::ok, to_utf8(part)});
    }
    messages.push_back(std::move(results));
  }
  return '-';
}
char read_rules(std::string_view bytes) {
  if (bytes.starts_with('{')) {
    const auto stored = Rules::from_json(parted(bytes, '\f').first);
    return stored ? sized(stored->all().size()) : '!';
  }
  const auto [written, subject] = parted(bytes);
  const auto rule = parse_rule(Decision::deny, written);
  if (!rule) return '!';
  return letter_of(Rules({*rule}).judge(rule->tool, subject, Decision::ask).decision);
}
char read_bundle(std::string_view bytes) {
  const auto bundle = parse_bundle(bytes);
  return bundle ? sized(agents_in(*bundle).offered().size()) : '-';
}
// Judged, and asked for the files that an approval binds.
char read_command(std::string_view bytes) {
  static const Rules rules({{Decision::allow, "Bash", "a:*"}, {Decision::deny, "Bash", "rm:*"}});
  const Decision decision = rules.judge_command(bytes, Decision::ask).decision;
  const auto reading = read_shell(bytes);
  if (!reading) return letter_of(decision);
  std::size_t files = 0;
  for (const SimpleCommand& each : *reading)
    files += files_that_may_run(each).size() + scripts_that_may_run(each).size() +
             folders_that_may_be_entered(each).size();
  return sized(3 * files + static_cast<std::size_t>(decision));
}
char read_text(std::string_view bytes) {
  (void)shorten(made_visible(bytes), 16);
  (void)safe_file_name(on_one_line(bytes));
  return said(to_utf8(bytes) == bytes);
}
char read_times(std::string_view bytes) {
  (void)parse_wait(bytes);
  (void)retry_after({{"retry-after", std::string(bytes)}}, kNow);
  return said(from_iso8601(bytes).has_value() || parse_duration(bytes).has_value());
}

}  // namespace

std::vector<ForeignParser> foreign_parsers() {
  return {
      {"sse", read_stream},
      {"http2", read_http2},
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
      {"profile_codex", [](auto bytes) { return read_profile_as(ProfileFormat::codex, bytes); }},
      {"profile_gemini", [](auto bytes) { return read_profile_as(ProfileFormat::gemini, bytes); }},
      {"settings", [](auto bytes) { return ended(parse_settings(bytes, "config.toml")); }},
      {"settings_edit", edit_settings},
      {"rules", read_rules},
      {"shell", read_command},
      {"url", [](auto bytes) { return ended(parse_web_url(bytes)); }},
      {"markdown", [](auto bytes) { return sized(markdown_lines(bytes, 80).size()); }},
      {"screen", [](auto bytes) { return sized(for_screen(bytes).size()); }},
      {"tool_arguments", read_arguments},
      {"delegation_arguments", read_delegation},
      {"html", read_page},
      {"web", read_answer},
      {"notebook", read_notebook},
      {"rg_output", [](auto bytes) { return sized(parse_rg_json(bytes).size()); }},
      {"script", [](auto bytes) { return ended(parse_script(bytes)); }},
      {"address", [](auto bytes) { return said(parse_ip_address(bytes).has_value()); }},
      {"completion", read_completion},
      {"exact_edit", read_edit},
      {"git_config", [](auto bytes) { return said(paths_in_git_config(bytes) == GitConfigPaths{}); }},
      {"git_output", [](auto bytes) { return said(!filters_switched_off(bytes).empty()); }},
      {"gitdir", read_git_file},
      {"glob", read_glob},
      {"group_places", read_groups},
      {"history", [](auto bytes) { return said(!history_in(bytes).empty()); }},
      {"json_schema", read_schema},
      {"ollama_tags", [](auto bytes) { return said(!ollama_model_names(bytes).empty()); }},
      {"pattern", read_pattern},
      {"rate_limit_headers", read_rate_limits},
      {"redaction", redacted},
      {"rehearsal", rehearse},
      {"status_record", [](auto bytes) { return said(!parse_status(bytes).refused); }},
      {"terminal_keys", [](auto bytes) { return said(!KeyReader().feed(bytes).empty()); }},
      {"text", read_text},
      {"times", read_times},
      {"bundle", read_bundle},
      {"batch", [](auto bytes) { return ended(batch_from_file(bytes, {})); }},
      {"file_lines", read_lines},
      {"process_stat", read_process},
  };
}

}  // namespace deputy
