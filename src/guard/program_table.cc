#include "guard/program_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"

namespace deputy {
namespace {

using enum ProgramKind;

// npm and its kin, with what each has of its own.
constexpr ProgramEntry package_manager(ProgramEntry own) {
  // A setting, or what is put into package.json, may be what it runs later.
  own.runs =
      "--script-shell --node-options --shell --userconfig --globalconfig config c set pkg set-script edit";
  own.writes = "--prefix --dir --cwd -C";
  own.subcommands = "exec x dlx explore node init create";
  own.shortens_subcommands = true;
  own.implied_subcommand = "run";
  own.runs_untold = "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs";
  return own;
}

constexpr auto kPrograms = std::to_array<ProgramEntry>({
    {.names = "nohup setsid nice ionice stdbuf command unbuffer", .kind = wrapper},
    {.names = "timeout gtimeout", .kind = wrapper, .operands = 1},
    {.names = "sudo", .kind = carrier, .runs = "-s -i --shell --login"},
    {.names = "env", .kind = carrier, .runs = "-S --split-string"},
    {.names = "xargs doas busybox toybox builtin ltrace valgrind pkexec eatmydata "
              "proxychains time uvx pipx corepack choom sshpass catchsegv perf cpulimit trickle "
              "tsocks ssh-agent dbus-launch ldd chronic ifne msgexec msgfilter systemd-inhibit systemd-cat "
              "caffeinate",
     .kind = carrier},
    {.names = "strace", .kind = carrier, .texts = "-o --output"},  // '|x' and '!x' are commands
    {.names = "entr", .kind = carrier, .texts = "-s"},
    {.names = "rlwrap", .kind = carrier, .runs = "-z --filter"},
    {.names = "fakeroot", .kind = carrier, .runs = "-l --lib -f --faked", .is_shell_if_bare = true},
    {.names = "fakechroot torsocks setarch linux32 linux64 i386 i486 i586 i686 x86_64 ppc32 ppc64 "
              "sparc32 sparc64 unshare firejail",
     .kind = carrier,
     .is_shell_if_bare = true},
    {.names = "npx bunx pnpx", .kind = carrier, .texts = "-c --call"},
    {.names = "logsave", .kind = carrier, .operands = 1},
    {.names = "dpkg-architecture", .carries = "-c --command"},
    {.names = "flock", .kind = carrier, .operands = 1, .runs = "-c --command"},
    {.names = "taskset chrt numactl prlimit chpst faketime", .kind = carrier, .operands = 1},
    {.names = "chroot", .kind = carrier, .operands = 1, .is_shell_if_bare = true},
    {.names =
         "ssh su runuser watch hyperfine kubectl oc lxc machinectl systemd-run nsenter bwrap "
         "proot "
         "script tmux screen at batch crontab parallel start-stop-daemon run-parts ld.so mosh rsh adb "
         "vagrant wsl "
         "cgexec setpriv capsh dbus-run-session xvfb-run sg newgrp daemonize gosu su-exec tini dumb-init pee "
         "mispipe systemd-nspawn stap bpftrace",
     .kind = carrier,
     .operands = -1},
    {.names = "docker podman nerdctl",
     .kind = carrier,
     .operands = -1,
     .other_names = "rm remove rmi | ls list ps",
     .nesting_subcommands = "builder compose config container context image machine manifest network node "
                            "plugin pod secret service stack swarm system trust volume"},
    {.names =
         "sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash posh lksh oksh osh hush nu elvish xonsh "
         "bash-static zsh-static pwsh powershell cmd python pypy ipython "
         "perl ruby irb "
         "node nodejs tsx ts-node php lua luajit tclsh wish expect Rscript julia runghc "
         "runhaskell "
         "ocaml groovy osascript elixir erl guile racket sbcl clisp octave scala kotlin jython micropython "
         "gjs "
         "qjs sage mongo",
     .kind = interpreter},
    {.names = "bun", .kind = interpreter, .subcommands = "x exec repl"},
    {.names = "deno crystal", .kind = interpreter, .subcommands = "eval repl"},
    {.names = "rails", .subcommands = "runner r"},
    {.names = "mix", .runs = "-e --eval"},
    {.names = "ghc", .runs = "-e* -F -pgm*"},
    {.names = "tcc", .runs = "-run", .makes_programs = true},
    {.names = "R ghci iex jshell gnuplot m4 gdb lldb redis-cli mongosh dc rename prename file-rename xterm "
              "ftp lftp socat gs",
     .kind = interpreter,
     .operands = 1},
    {.names = "sqlite psql mysql mariadb duckdb ed red ex vi vim view nvim nano emacs emacsclient "
              "vimdiff vimtutor vim.basic vim.tiny vim.nox vim.gtk vim.athena rvim rview gvim gview gvimdiff "
              "gvimtutor rgvim rgview evim eview nvim-qt nvimdiff elvis nvi vile kak hx helix joe jed jove "
              "zile mg pico micro mcedit emacs-nox emacs-gtk emacs-lucid xemacs "
              "editor sensible-editor pager sensible-pager less more most man pg mail mailx mutt",
     .kind = interpreter,
     .operands = 1,
     .only_shows = true},
    {.names = "eval exec source . trap alias unalias export declare typeset local readonly unset read "
              "mapfile readarray "
              "getopts let set shopt enable hash bind complete compgen compopt fc history return",
     .kind = shell},
    {.names = "find",
     .carries = "-exec -execdir -ok -okdir",
     .writes = "-delete -fprint -fprint0 -fprintf -fls"},
    {.names = "fd fdfind", .carries = "-x -X --exec --exec-batch"},
    {.names = "git",
     .runs = "--upload-pack --receive-pack --exec --exec-path --open-files-in-pager --ext-diff --textconv "
             "--config "
             "--config-env --extcmd --template --gpg-program --smtp-server",
     .writes = "--output --output-directory --separate-git-dir --git-dir --work-tree --shallow-file "
               "--export-marks --export-pack-edges --build-fake-ancestor"},
    {.names = "tar gtar bsdtar",
     .runs = "--checkpoint-action --to-command --use-compress-program --info-script --new-volume-script "
             "--rsh-command "
             "--rmt-command -I -F",
     .writes = "--index-file --volno-file --listed-incremental --remove-files -g",
     .takes_letters = true},
    {.names = "cpio", .runs = "--rsh-command"},
    {.names = "rsync",
     .runs = "-e --rsh --rsync-path",
     .writes = "--log-file --write-batch --only-write-batch"},
    {.names = "scp sftp", .runs = "-S -o -D -F -b"},
    {.names = "ssh-keygen ssh-add", .runs = "-D -s -w"},  // they load what a provider of keys is
    {.names = "gpg",
     .runs = "--agent-program --dirmngr-program --photo-viewer --options",
     .writes = "-o --output"},
    {.names = "nc ncat netcat", .runs = "-e -c --exec --sh-exec --lua-exec"},
    {.names = "tcpdump", .runs = "-z", .writes = "-w"},
    {.names = "pandoc",
     .runs = "-F -L --filter --lua-filter --pdf-engine --defaults",
     .writes = "-o --output --log --extract-media"},
    {.names = "tex latex pdftex pdflatex xetex xelatex luatex lualatex",
     .runs = "-shell-escape -enable-write18 -cnf-line"},
    {.names = "latexmk", .runs = "-e* -r*"},
    {.names = "sed gsed", .writes = "-i --in-place"},
    {.names = "sort", .runs = "--compress-program", .writes = "-o --output"},
    {.names = "split", .runs = "--filter"},
    {.names = "jobs", .carries = "-x"},
    {.names = "diff3 sdiff", .runs = "--diff-program", .writes = "-o --output"},
    {.names = "install ginstall", .runs = "--strip-program"},
    {.names = "ag bat batcat delta", .runs = "--pager"},
    {.names = "ack", .runs = "--pager --output --ackrc"},
    {.names = "nm ar ranlib strip objcopy objdump size", .runs = "--plugin"},
    {.names = "ld gold ld.bfd ld.gold ld.lld",
     .runs = "-plugin --plugin @",
     .writes = "-Map --Map",
     .makes_programs = true},
    {.names = "patch", .runs = "-e --ed"},
    {.names = "exiftool", .runs = "-if -config -stay_open -@ -api"},
    {.names = "hg",
     .runs = "--config --config-file",
     .shortens_subcommands = true,
     .first_names =
         "abort absorb add addremove amend annotate archive backout bisect bookmarks branch branches bundle "
         "cat clone commit config continue copy diff evolve export files fold forget graft grep heads help "
         "histedit identify import incoming init locate log manifest merge outgoing parents paths phase pull "
         "purge push rebase recover remove rename resolve revert rollback root serve shelve split status "
         "strip summary tag tags tip topics unbundle uncommit unshelve update verify version",
     .other_names = "commit ci | update up checkout co | remove rm | rename move mv | copy cp | "
                    "annotate blame | identify id | import patch | incoming in | outgoing out | "
                    "log history glog | status st | summary sum | config showconfig"},
    {.names = "gh",
     .first_names = "alias api attestation auth browse cache codespace completion config copilot extension "
                    "gist gpg-key help issue label org pr preview project release repo ruleset run search "
                    "secret ssh-key status variable version workflow",
     .other_names = "create new | list ls | checkout co | delete remove | codespace cs | attestation at | "
                    "extension extensions ext | ruleset rs"},
    {.names = "svn",
     .runs = "--config-option --editor-cmd --diff-cmd --diff3-cmd --merge-cmd",
     .first_names = "add auth blame cat changelist checkout cleanup commit copy delete diff export help "
                    "import info list lock log merge mergeinfo mkdir move patch propdel propedit propget "
                    "proplist propset relocate resolve revert status switch unlock update upgrade",
     .other_names = "blame praise annotate ann | changelist cl | checkout co | commit ci | copy cp | "
                    "delete del remove rm | diff di | help h | list ls | move mv rename ren | "
                    "propdel pdel pd | propedit pedit pe | propget pget pg | proplist plist pl | "
                    "propset pset ps | status stat st | switch sw | update up"},
    {.names = "shuf iconv base32 base64 basenc", .writes = "-o --output"},
    {.names = "uniq", .written_operand = 2, .with_values = "fsw"},
    {.names = "xxd", .written_operand = 2, .with_values = "clgnosR"},
    {.names = "tree", .writes = "-o -R"},
    {.names = "file", .writes = "-C --compile"},
    {.names = "rg", .runs = "--pre --hostname-bin"},
    {.names = "zip", .runs = "-T -TT --unzip-command", .writes = "-m --move"},
    {.names = "make gmake",
     .runs = "= --eval -E -f --file --makefile",
     .writes = "-C --directory",
     .nesting_subcommands = "*",
     .runs_untold = "Makefile makefile GNUmakefile"},
    {.names = "rake", .nesting_subcommands = "*", .runs_untold = "Rakefile rakefile Rakefile.rb rakefile.rb"},
    {.names = "just", .nesting_subcommands = "*", .runs_untold = "justfile Justfile .justfile"},
    {.names = "ant doit invoke inv", .nesting_subcommands = "*", .runs_untold = "build.xml dodo.py tasks.py"},
    {.names = "pytest py.test tox nox",
     .runs_untold = "conftest.py tox.ini noxfile.py",
     .runs_untold_endings = ".py"},
    {.names = "cmake",
     .runs = "-E* -P*",
     .writes = "= -D* -C* --toolchain",
     .runs_untold = "CMakeLists.txt CMakePresets.json"},
    {.names = "ctest", .runs = "-S* --script --build-and-test --test-command"},
    {.names = "ninja", .runs = "-f", .nesting_subcommands = "*", .runs_untold = "build.ninja"},
    {.names = "meson", .runs = "--wrapper --native-file --cross-file", .subcommands = "devenv"},
    {.names = "bazel", .runs = "--run_under"},
    {.names = "gradle gradlew mvn mvnw",
     .runs = "-I --init-script",
     .writes = "-D* -P*",
     .shortens_subcommands = true,
     .nesting_subcommands = "*",
     .runs_untold = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts pom.xml gradlew mvnw"},
    {.names = "cargo",
     .runs = "--config",
     .writes = "-Z",
     .first_names =
         "add bench build check clean clippy doc fetch fix fmt generate-lockfile help info init "
         "install locate-project login logout metadata miri new owner package pkgid publish read-manifest "
         "remove report run rustc rustdoc search test tree uninstall update vendor "
         "verify-project version yank",
     .other_names = "build b | check c | doc d | remove rm | run r | test t",
     .aliases_come_first = true,
     .runs_untold = "build.rs Cargo.toml",
     .runs_untold_endings = ".rs",
     .running_subcommands = "run r test t bench miri nextest"},
    {.names = "rustc rustdoc",
     .runs = "--runtool --test-runtool",
     .writes = "-C -Z --codegen",
     .makes_programs = true},
    {.names = "gcc g++ cc c++ clang clang++",
     .runs = "-wrapper -specs -B -fplugin -fpass-plugin -fuse-ld --ld-path -Xclang @",
     .writes = "-Wl,* -Xlinker",
     .makes_programs = true},  // the linker takes plugins, and writes maps
    {.names = "go",
     .runs = "-exec -toolexec -vettool -overlay",
     .writes = "-ldflags -w* -C*",
     .runs_untold_endings = ".go",
     .running_subcommands = "run test generate",
     .makes_programs = true},
    package_manager(
        {.names = "npm",
         .first_names =
             "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs "
             "doctor edit exec explain explore fund help help-search hook init install link login "
             "logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild "
             "repo restart root run sbom search shrinkwrap star stars start stop team test token "
             "uninstall unpublish unstar update version view whoami",
         .other_names =
             "install i in ins inst insta instal isnt isnta isntal isntall add it install-test | "
             "uninstall un unlink remove rm r | ci clean-install ic install-clean isntall-clean cit sit "
             "install-ci-test clean-install-test | run run-script rum urn | test t tst | "
             "update up upgrade udpate | exec x | init create innit | config c | rebuild rb | link ln | "
             "ls list la ll | view v info show | explain why | search s se find | owner author | "
             "dedupe ddp | docs home | bugs issues | adduser add-user",
         .implied_by = "restart start stop test"}),
    package_manager(
        {.names = "pnpm",
         .other_names = "install i add it install-test | remove rm uninstall un uni | update up upgrade | "
                        "run run-script | test t tst | list ls la ll | link ln | unlink dislink | "
                        "rebuild rb | config c | info view show v | login adduser add-user",
         .never_implied_by =
             "audit bin cache ci config create dedupe dlx doctor env exec fetch help import info init "
             "install licenses link list login logout outdated owner pack patch prune publish rebuild remove "
             "root self-update setup store tag unlink update version why",
         .nesting_subcommands = "recursive multi m"}),
    // What only pnpm has, such as setup, is a script to it.
    package_manager(
        {.names = "yarn",
         .never_implied_by =
             "add audit bin cache config create dedupe dlx exec focus global help import info init install "
             "licenses link list login logout node npm outdated owner pack patch prune publish remove "
             "set tag unlink upgrade version versions why",
         .nesting_subcommands = "workspace workspaces npm global",
         .nesting_behind_name = "workspace"}),
    {.names =
         "uv poetry pipenv pdm hatch rye conda mamba bundle rbenv pyenv direnv mise asdf stack cabal opam "
         "composer devbox volta",
     .runs = "--python",
     .subcommands = "run exec x tool shell"},
    {.names = "pip", .runs = "--python --editor", .writes = "--log --report"},
    {.names = "xmllint xsltproc info", .runs = "--shell --init-file", .writes = "-o --output"},
    {.names = "curl",
     .runs = "-K --config --engine",
     .writes = "-o -O -J -c -D --output --output-dir --remote-name --remote-name-all --remote-header-name "
               "--cookie-jar --dump-header --trace --trace-ascii --stderr --hsts --alt-svc --etag-save "
               "--libcurl --ssl-sessions"},
    {.names = "wget",
     .runs = "-e --execute --use-askpass --config",
     .writes = "-O -o -a -P --output-document --output-file --append-output --directory-prefix --warc-file "
               "--save-cookies --hsts-file --rejected-log"},
    {.names = "printf test [ wait", .runs = "-v -p"},  // a subscript in the name of a variable is evaluated
    {.names = "jq", .writes = "-i --inplace --in-place"},
    {.names = "yq", .writes = "-i -s --inplace --in-place --split-exp --split-exp-file"},
    {.names = "openssl",
     .runs = "-engine -provider",
     .writes = "-config -out -keyout -writerand -sess_out -keylogfile"},
    {.names = "ip", .runs = "netns vrf -b -batch", .shortens_subcommands = true},
    {.names = "dpkg rpm apt apt-get", .runs = "-o --option -c --config-file --pre-invoke --eval --pipe"},
});

constexpr ProgramEntry kPlain{};

// What they do with their words is known, and in the table above where that is to run them.
constexpr std::string_view kWellKnown =
    "echo printf true false test [ pwd cd pushd popd dirs type which whereis wait sleep kill jobs ls dir "
    "vdir "
    "cat tac head tail nl od xxd hexdump wc stat file du df tree realpath readlink basename dirname mktemp "
    "grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk nawk original-awk cut tr sort uniq comm join "
    "paste fold fmt "
    "column expand unexpand rev shuf seq tee cmp diff diff3 sdiff patch md5sum sha1sum sha224sum sha256sum "
    "sha384sum sha512sum b2sum cksum base32 base64 basenc strings iconv jq yq bc expr factor date cal touch "
    "mkdir rmdir rm cp mv ln chmod chown chgrp truncate dd shred sync install find fd fdfind git tar gtar "
    "bsdtar gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd zip unzip curl wget id whoami groups "
    "uname arch nproc hostname uptime free ps pgrep pidof who tty stty getconf locale printenv";

constexpr std::string_view kGitCommands =
    "add am annotate apply blame branch cat-file check-attr check-ignore checkout cherry cherry-pick clean "
    "clone commit "
    "check-mailmap check-ref-format commit-graph commit-tree count-objects describe diff diff-files "
    "diff-index "
    "diff-tree fast-export fetch format-patch for-each-ref fsck gc grep hash-object "
    "init log "
    "ls-files "
    "ls-remote ls-tree merge merge-base merge-file merge-tree mktree mv name-rev notes pack-refs patch-id "
    "prune "
    "pull push range-diff read-tree rebase reflog remote repack replace rerere reset "
    "restore "
    "rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch "
    "stripspace symbolic-ref "
    "tag update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree "
    "write-tree archive bundle "
    "help";

using GitLetters = std::pair<std::string_view, std::string_view>;
constexpr auto kGitRunningLetters = std::to_array<GitLetters>({
    {"grep", "O"},
    {"clone", "uc"},
    {"ls-remote", "u"},
    {"rebase", "xi"},
    {"help", "w"},
});
constexpr auto kGitWritingLetters = std::to_array<GitLetters>({{"archive", "o"}, {"format-patch", "o"}});

constexpr std::string_view kGitRunners =
    "daemon difftool filter-branch for-each-repo instaweb merge-index mergetool remote-ext send-email shell";
// Those that do so after a word of their own.
constexpr auto kGitRunningWords = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"bisect", "run"}, {"submodule", "foreach"}});

// Options that may stand before a subcommand. Of those that are not told the next word may be the value.
constexpr std::string_view kWithoutValue =
    "-q --quiet -s --silent -v -vv --verbose --offline -g --global -y --yes --force --locked --frozen "
    "--workspaces --non-interactive";
constexpr auto kOwnWithoutValue = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"npm", "-D --save-dev --json"},
    {"pnpm", "-r --recursive -w --workspace-root"},
    {"svn", "--trust-server-cert"},
});
constexpr auto kWithValue = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"npm", "-C --prefix --loglevel --registry -w --workspace"},
    {"pnpm", "-C --dir -F --filter"},
    {"yarn", "--cwd"},
    {"cargo", "--color --config -C -Z"},
    {"gh", "-R --repo"},
    {"hg", "-R --repository --cwd --color --encoding"},
    {"svn", "--username --password --config-dir"},
});

std::size_t place_in(std::string_view names, std::string_view name) {
  if (name.empty() || name.find_first_of(" |") != std::string_view::npos) return std::string_view::npos;
  std::size_t at = names.find(name);
  for (; at != std::string_view::npos; at = names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' ')) break;
  }
  return at;
}

bool lists_by_any_name(std::string_view names, const ProgramEntry& entry, std::string_view subcommand) {
  const auto others = split(names_of_subcommand(entry, subcommand), ' ');
  return lists(names, subcommand) ||
         std::ranges::any_of(others, [names](std::string_view other) { return lists(names, other); });
}

std::string_view second_of(const auto& pairs, std::string_view first) {
  const auto found = std::ranges::find(pairs, first, [](const auto& pair) { return pair.first; });
  return found == std::end(pairs) ? std::string_view() : found->second;
}

// "python3.11", "gcc-12": the version is no part of the name.
std::string_view without_version(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789.-");
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

using Index = std::vector<std::pair<std::string_view, const ProgramEntry*>>;

Index make_index() {
  Index index;
  for (const ProgramEntry& entry : kPrograms) {
    for (const std::string_view name : split(entry.names, ' ')) index.emplace_back(name, &entry);
  }
  std::ranges::sort(index);
  return index;
}

const ProgramEntry* look_up(std::string_view name) {
  static const Index index = make_index();
  const auto found = std::ranges::lower_bound(index, name, {}, &Index::value_type::first);
  return found != index.end() && found->first == name ? found->second : nullptr;
}

}  // namespace

const ProgramEntry& entry_of(std::string_view program) {
  if (program.starts_with("ld-linux") || program.starts_with("ld-musl")) program = "ld.so";
  // As the last, perl5.36-x86_64-linux-gnu.
  const std::string_view before_version = program.substr(0, program.find_first_of("0123456789"));
  for (const std::string_view name : {program, without_version(program), before_version}) {
    if (const ProgramEntry* entry = look_up(name)) return *entry;
  }
  return kPlain;
}

bool is_well_known(std::string_view program) {
  static const auto each = split(kWellKnown, ' ');
  static const std::set<std::string_view> names(each.begin(), each.end());
  return names.contains(program);
}

bool is_system_path(std::string_view path) {
  return (path.starts_with("/usr/") || path.starts_with("/bin/")) && !path.contains("/../");
}

bool lists(std::string_view names, std::string_view name) {
  return place_in(names, name) != std::string_view::npos;
}

bool lists_beginning(std::string_view names, std::string_view beginning) {
  if (beginning.empty() || beginning.find_first_of(" |") != std::string_view::npos) return false;
  std::size_t at = names.find(beginning);
  while (at != std::string_view::npos && at > 0 && names[at - 1] != ' ') at = names.find(beginning, at + 1);
  return at != std::string_view::npos;
}

std::string_view names_of_subcommand(const ProgramEntry& entry, std::string_view subcommand) {
  const std::size_t at = place_in(entry.other_names, subcommand);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = entry.other_names.rfind('|', at) + 1;  // npos + 1 is 0
  return entry.other_names.substr(begin, entry.other_names.find('|', at) - begin);
}

bool may_be_alias(const ProgramEntry& entry, std::string_view subcommand) {
  if (entry.first_names.empty()) return false;
  if (entry.shortens_subcommands)
    return !lists_beginning(entry.first_names, subcommand) && !lists_beginning(entry.other_names, subcommand);
  return entry.aliases_come_first ? !lists(entry.first_names, subcommand)
                                  : !lists_by_any_name(entry.first_names, entry, subcommand);
}

bool may_imply_subcommand(const ProgramEntry& entry, std::string_view subcommand) {
  return entry.implied_by.empty() ? !lists_by_any_name(entry.never_implied_by, entry, subcommand)
                                  : lists_by_any_name(entry.implied_by, entry, subcommand);
}

bool passes_subcommand_on(const ProgramEntry& entry, std::string_view subcommand) {
  return entry.nesting_subcommands == "*" || lists(entry.nesting_subcommands, subcommand);
}

bool takes_name_before_nested(const ProgramEntry& entry, std::string_view subcommand) {
  return lists(entry.nesting_behind_name, subcommand);
}

TakesValue takes_value(std::string_view program, std::string_view option) {
  if (option.contains('=') || option.starts_with("--no-") || lists(kWithoutValue, option) ||
      lists(second_of(kOwnWithoutValue, program), option))
    return TakesValue::no;
  return lists(second_of(kWithValue, program), option) ? TakesValue::yes : TakesValue::maybe;
}

bool is_plain_git_command(std::string_view name) { return lists(kGitCommands, name); }

bool is_known_git_command(std::string_view name) {
  return !git_running_word(name).empty() || is_git_runner(name);
}

bool is_git_runner(std::string_view subcommand) { return lists(kGitRunners, subcommand); }

std::string_view git_running_word(std::string_view subcommand) {
  return second_of(kGitRunningWords, subcommand);
}

std::string_view git_running_letters(std::string_view subcommand) {
  return second_of(kGitRunningLetters, subcommand);
}

std::string_view git_writing_letters(std::string_view subcommand) {
  return second_of(kGitWritingLetters, subcommand);
}

}  // namespace deputy
