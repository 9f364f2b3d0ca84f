// The manual page, in the language of man(7).
#include <fmt/format.h>

#include "app/command_tree.h"

namespace deputy {
namespace {

// Plain text as roff takes it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

void add_options(std::string& page, const std::vector<CommandOption>& options) {
  for (const auto& option : options) {
    std::string names;
    for (const auto& name : option.names)
      names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
    if (!option.kind.empty()) names += " \\fI" + escaped(option.kind) + "\\fR";
    page += fmt::format(".TP\n{}\n{}\n", names, escaped(option.about));
  }
}

void add_command(std::string& page, const CommandTree& command, const std::string& path) {
  const std::string name = path + " " + command.name;
  if (command.commands.empty()) {
    page += fmt::format(".SS {}\n{}.\n", escaped(name), escaped(command.about));
    add_options(page, command.arguments);
    add_options(page, command.options);
    if (!command.example.empty())
      page += fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", escaped(command.example));
  }
  for (const auto& each : command.commands) add_command(page, each, name);
}

constexpr std::string_view kStatus = R"(.SH EXIT STATUS
0 completed, 3 partial, 4 blocked, 5 refused (permission, limit, untrusted folder), 1 failed, 2 usage, 130 cancelled.
A batch: all ok 0, none ok or partial 1, else 3.
A run whose reader of stream\-json goes away is left to be resumed, with 130; of the other forms only the result is lost on a reader that is gone.
.SH ENVIRONMENT
.TP
\fBANTHROPIC_API_KEY\fR, \fBOPENAI_API_KEY\fR, \fBGEMINI_API_KEY\fR
Keys of the providers.
.TP
\fBDEPUTY_MODEL\fR, \fBDEPUTY_HOME\fR, \fBDEPUTY_CONFIG\fR
The model, the state folder and the settings, where no flag names them.
.TP
\fBNO_COLOR\fR
No colour.
.SH FILES
.TP
\fI~/.config/deputy/config.toml\fR
Settings.
.TP
\fI~/.local/state/deputy\fR
All that is kept: the journal, transcripts, scratchpads.
)";

}  // namespace

std::string manual_page(const CommandTree& program) {
  std::string page = fmt::format(
      ".TH DEPUTY 1 \"\" \"deputy {}\"\n.SH NAME\ndeputy \\- hand work from one agent to others\n.SH "
      "SYNOPSIS\n"
      ".B deputy\n[\\fIoptions\\fR] [\\fIcommand\\fR]\n.SH DESCRIPTION\n{}\n.PP\n"
      "Without a command, on a terminal, it is a chat: Enter sends, Tab chooses a child, "
      "Ctrl\\-C cancels, Ctrl\\-L clears the screen, Ctrl\\-D leaves; /help there lists all keys.\n.SH "
      "COMMANDS\n",
      DEPUTY_VERSION, escaped(program.about));
  for (const auto& command : program.commands) add_command(page, command, "deputy");
  page += ".SH OPTIONS\nTaken before or after the command.\n";
  add_options(page, program.options);
  return page + std::string(kStatus);
}

}  // namespace deputy
