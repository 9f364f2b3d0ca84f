// Rules of Bash that give the beginning of a command: what may follow it, and what not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "guard/judged_commands.h"

namespace deputy {
namespace {

using enum Decision;

struct Tame {
  const char* pattern;
  const char* allowed;
  const char* asked;
};

TEST(CommandRules, APrefixCoversNoOptionThatRunsOrWritesSomethingElse) {
  for (const auto& [pattern, allowed, asked] : std::initializer_list<Tame>{
           {"find:*", "find . -name x", "find . -exec ls {} \\;"},
           {"find:*", "find src", "find . -delete"},
           {"find:*", "find src/*.cc", "find *"},
           {"find:*", "find . -type f", "find . -fprintf /out x"},
           {"sed:*", "sed -n 5,9p f", "sed '1e touch x' f"},
           {"sed:*", "sed s/a/b/g f", "sed 'w /out' f"},
           {"sed:*", "sed -E 's|a|b|' f", "sed s/a/b/w f"},
           {"sed:*", "sed '/x/d' f", "sed -i s/a/b/ f"},
           {"sed:*", "sed '$p' f", "sed -f x f"},
           {"sed:*", "sed -n '/a/,+3p' f", "sed -n '/a/,+3w x' f"},
           {"sed:*", "sed 's/\\./x/g; $!d' f", "sed 's/a/b/; 1e x' f"},
           {"sed:*", "sed -e 's/[[:space:]]*$//' -e '2i text' f", "sed -e s/a/b/ -e 'r x;w y' f"},
           {"sed:*", "sed 's|[^a]/|x|' f", "sed 's/[[:a:]/]/g;s/e;#/x/' f"},
           {"sed:*", "sed 's/a/e/' f", "sed 's/[/]/g;s/e;#/x/' f"},
           {"sed:*", "sed y/ab/cd/ f", "sed 'a\\' f"},
           {"sed:*", "sed '3c e x' f", "sed '3,e x' f"},
           {"sed -i:*", "sed -i 's/a/b/' f", "sed -i '1e x' f"},
           {"sed -i:*", "sed -i 3d f", "sed -i.bak 3d f"},
           {"sed -n:*", "sed -n 3p f", "sed -n -i 3p f"},
           {"sed:*", "sed -n 3p f", "sed -i/tmp/x 3p f"},
           {"awk:*", "awk 'NR>1 && $1<5 || $2==3' f", "awk 'NR>1{print > $2}' f"},
           {"awk:*", "awk -v n=3 -F, 'NR==n' f", "awk -v c=x '{c | getline}' f"},
           {"awk:*", "awk '{print $1}' f", "awk '{a || b | c}' f"},
           {"awk:*", "awk -v x=1 '{print}' f", "awk -v x* '{print}' f"},
           {"awk:*", "awk -vx=1 '{print}' f", "awk -v* '{print}' f"},
           {"awk:*", "awk -F '*' '{print}' f*", "awk -F ?* '{print}' f"},
           {"awk:*", "awk -F: '{print $1}' f", "awk 'BEGIN{system(\"x\")}'"},
           {"awk:*", "awk '{print}' f", "awk '{print > \"x\"}' f"},
           {"awk:*", "awk 'NR==1' f", "awk -f x f"},
           {"sort:*", "sort -u f", "sort --compress-program=./c f"},
           {"sort:*", "sort -k2 f", "sort -uo/out f"},
           {"tar:*", "tar tf a.tar", "tar cf a --checkpoint-action=exec=x f"},
           {"tar:*", "tar xzf a.tgz", "tar xf a -I ./x"},
           {"tar:*", "tar cf a src/*", "tar cf a *"},
           {"tar:*", "tar cvzf a.tgz b", "tar cIf ./x a b"},
           {"tar cf:*", "tar cf a b", "tar cf a -I ./x b"},
           {"uniq:*", "uniq -c a", "uniq a b"},
           {"uniq:*", "uniq -f 1 a", "uniq -f 1 a b"},
           {"uniq:*", "uniq -- -a", "uniq a -b"},
           {"uniq:*", "uniq", "uniq *.txt"},
           {"xxd:*", "xxd -c 8 a", "xxd -r a b"},
           {"xxd:*", "xxd -ps a", "xxd -ps a b"},
           {"xxd a b:*", "xxd a b", "xxd a c"},
           {"shuf:*", "shuf -n 3 a", "shuf -o b a"},
           {"shuf:*", "shuf -e a b", "shuf --out=b a"},
           {"iconv:*", "iconv -f latin1 -t utf8 a", "iconv -ob a"},
           {"base64:*", "base64 -d a", "base64 -o b a"},
           {"yq:*", "yq .a b", "yq -s .a b"},
           {"bat:*", "bat -n a", "bat --pager=./x a"},
           {"curl:*", "curl -w '%{http_code}' https://a.org", "curl -w '%output{x}' https://a.org"},
           {"curl:*", "curl -d @a https://a.org", "curl -sw @a https://a.org"},
           {"npm:*", "npm run build", "npm exec tsc"},
           {"npm exec tsc:*", "npm exec tsc -p .", "npm exec eslint"},
           {"npm exec node:*", "npm exec node a.js", "npm exec node -e x"},
           {"git config:*", "git config user.name x", "git -c a=b config user.name x"},
           {"git st:*", "git st -s", "git zz"},
           {"git diff:*", "git diff HEAD~1 -- src", "git diff --output=/out HEAD~1"},
           {"git diff:*", "git diff --stat", "git diff --ext-diff"},
           {"git:*", "git log -3", "git -c core.fsmonitor=x status"},
           {"git:*", "git --no-pager log", "git --exec-path=. log"},
           {"git:*", "git switch -c new", "git -C /evil status"},
           {"git:*", "git add -u", "git x"},
           {"git:*", "git --literal-pathspecs status", "git --shallow-file status log"},
           {"git:*", "git fast-export main", "git fast-export --export-marks=x main"},
           {"git:*", "git push -u origin", "git config core.pager x"},
           {"git:*", "git rebase main", "git rebase -x ./x main"},
           {"git:*", "git stash", "git bisect run ./x"},
           {"git grep:*", "git grep b", "git grep --open-files-in-pager=./pg b"},
           {"git grep:*", "git grep -n b", "git grep -O./pg b"},
           {"git ls-remote:*", "git ls-remote origin", "git ls-remote --upload-pack=x file:///r"},
           {"git ls-remote:*", "git ls-remote .", "git ls-remote -ux file:///r"},
           {"rsync:*", "rsync -av a b", "rsync -e 'sh x' a b"},
           {"make:*", "make -j4 test", "make SHELL=/evil test"},
           {"make:*", "make", "make -f /evil"},
           {"curl:*", "curl -s https://a.org", "curl -o .x https://a.org"},
           {"python:*", "python x.py -c 1", "python -c 'import os'"},
           {"python:*", "python --version", "python"},
           {"python:*", "python tests/run.py", "python -"},
           {"python -m json.tool:*", "python -m json.tool a.json", "python -m json.tool > b"},
           {"python -m pytest:*", "python -m pytest -x tests", "python -m http.server"},
           {"node:*", "node x.mjs", "node -e x"},
           {"node --test:*", "node --test a.mjs", "node --test -e x"},
           {"bash:*", "bash x.sh", "bash -c ls"},
           {"bash:*", "bash ./x.sh a", "bash -xc ls"},
           {"perl:*", "perl x.pl", "perl -e 1"},
           {"vim:*", "vim x", "vim x -c '!sh'"},
           {"less:*", "less x", "less +!sh x"},
           {"rg:*", "rg -n x src", "rg --pre ./x y"},
           {"printf:*", "printf %s x", "printf -v 'a[0]' 1"},
           {"timeout 9 npm test:*", "timeout 9 npm test -x", "timeout 9 npm publish"},
           {"npm test:*", "timeout 60 npm test", "sudo npm test"},
           {"npm test:*", "nohup nice npm test", "env npm test"},
           {"npm test:*", "npm test -- x", "timeout -s KILL 60 npm test"},
           {"xargs grep:*", "xargs grep x", "xargs rm"},
           {"ls:*", "ls *.cc ~/x", "ls > x"},
           {"cat:*", "cat .git/config", "cat x > y"},
           {"cp:*", "cp a b", "cp a .git/hooks/pre-commit"},
           {"cp:*", "cp .gitignore b", "cp a --target-directory=.git/hooks"},
           {"./test:*", "./test a", "cd /evil && ./test a"},
           {"curl:*", "curl -s https://a.org", "curl --variable o=x --expand-output '{{o}}' https://a.org"},
           {"clang:*", "clang -c a.c", "clang --ld-path=./x a.c"},
           {"clang:*", "clang a.c", "clang -fuse-ld=./x a.c"},
           {"gcc:*", "gcc -Wall a.c", "gcc -Wl,-plugin,./x.so a.c"},
           {"gcc:*", "gcc -o a a.c", "gcc -Xlinker -plugin a.c"},
           {"wget:*", "wget -q https://a.org", "wget --rejected-log=x https://a.org"},
           {"gnuplot:*", "gnuplot a.gp", "gnuplot a.gp -e x"},
           {"m4:*", "m4 a.m4", "m4 a.m4 -"},
           {"bash:*", "bash dev/x.sh", "bash /./dev/stdin"},
           {"cmake:*", "cmake --build build", "cmake -E rm x"},
           {"cmake:*", "cmake -S . -B build", "cmake -DCMAKE_C_COMPILER=./x ."},
           {"cargo test:*", "cargo test --release", "cargo test --config x"},
           {"rustc:*", "rustc -O a.rs", "rustc -C linker=./x a.rs"},
           {"go build:*", "go build ./...", "go build -ldflags=-extld=./x"},
           {"ssh-keygen:*", "ssh-keygen -l -f k", "ssh-keygen -D ./x.so"},
           {"gpg:*", "gpg --list-keys", "gpg --photo-viewer ./x --list-keys"},
           {"nc:*", "nc -z h 80", "nc -e ./x h 80"},
           {"pandoc:*", "pandoc a.md", "pandoc -F ./x a.md"},
           {"pdflatex:*", "pdflatex a.tex", "pdflatex -shell-escape a.tex"},
           {"openssl x509:*", "openssl x509 -in a", "openssl x509 -engine ./x -in a"},
           {"tar tf:*", "tar tf a.tar", "tar tf a.tar --index-file=x"},
           {"make:*", "make -j4", "make -C /evil"},
           {"npm test:*", "npm test -- x", "npm test --prefix /evil"},
           {"npm:*", "npm ls", "npm init evil"},
           {"npm:*", "npm view x", "npm config set script-shell ./x"},
           {"npm:*", "npm run build", "npm pkg set scripts.test=./x"},
           {"yarn:*", "yarn build", "yarn config set script-shell ./x"},
           {"uv:*", "uv sync", "uv run ./x"},
           {"bundle:*", "bundle install", "bundle exec ./x"},
           {"bundle exec rspec:*", "bundle exec rspec a", "bundle exec ruby a"},
           {"pip:*", "pip list", "pip list --python ./x"},
           {"ldd:*", "cd a", "ldd ./x"},
           {"ld:*", "ld a.o", "ld -plugin ./x.so a.o"},
           {"objdump:*", "objdump -d a.o", "objdump --plugin=./x.so a.o"},
           {"patch:*", "patch -p1 a", "patch -e a b"},
           {"exiftool:*", "exiftool a.jpg", "exiftool -if x a.jpg"},
           {"original-awk:*", "original-awk '{print}' f", "original-awk -f x f"},
           {"dd:*", "dd if=a of=b", "dd if=a of=.git/config"},
           {"cp:*", "cp -t b a", "cp -t.git/hooks a"},
           {"cp:*", "cp -vtb a", "cp -vt.git/hooks a"},
           {"install:*", "install -Dtb a", "install -Dt.git/hooks a"},
           {"install:*", "install -Dt./b a", "install -Dt./.git/hooks a"},
           {"tar:*", "tar -xCb -f a", "tar -xC.git/hooks -f a"},
           {"xmllint:*", "xmllint a.xml", "xmllint --shell a.xml"},
           {"python3 -u:*", "python3 -u a.py", "python3 -u -c x"},
           {"git status:*", "git status -s", "cd sub && git status"},
       }) {
    const Rules rules({rule(allow, fmt::format("Bash({})", pattern)), rule(allow, "Bash(cd:*)")});
    EXPECT_EQ(judged(rules, allowed), allow) << pattern << " " << allowed;
    EXPECT_EQ(judged(rules, asked), ask) << pattern << " " << asked;
  }
}

TEST(CommandRules, WhatXargsAddsMayBeAFileThatIsWritten) {
  EXPECT_EQ(judged(allowing("xargs wc:*"), "xargs wc"), allow);
  EXPECT_EQ(judged(allowing("xargs uniq:*"), "xargs uniq"), ask);
  EXPECT_EQ(judged(allowing("sed -n p:*"), "sed -n p"), allow);
  EXPECT_EQ(judged(allowing("xargs sed -n p:*"), "xargs sed -n p"), ask);
}

TEST(CommandRules, WhatAnInterpreterIsFedMayBeCode) {
  const Rules rules({rule(allow, "Bash(sqlite3:*)"), rule(allow, "Bash(wc:*)"), rule(allow, "Bash(echo:*)")});
  for (const char* command :
       {"sqlite3 a.db", "echo x | wc", "echo x; sqlite3 a.db", "echo x | sqlite3 --version"})
    EXPECT_EQ(judged(rules, command), allow) << command;
  for (const char* command : {"echo x | sqlite3 a.db", "sqlite3 a.db < notes.txt"})
    EXPECT_EQ(judged(rules, command), ask) << command;
}

TEST(CommandRules, AnInterpreterThatIsAllowedByItsNameAloneIsNotAllowedWhatItIsFed) {
  const Rules rules({rule(allow, "Bash(echo:*)"), rule(allow, "Bash(python3)"), rule(allow, "Bash(bash -s)"),
                     rule(allow, "Bash(python3 -u:*)"), rule(allow, "Bash(python3 -m json.tool)"),
                     rule(allow, "Bash(python3 -c 'print(1)')"), rule(allow, "Bash(xargs -n1 wc)"),
                     rule(allow, "Bash(xargs sh)"), rule(allow, "Bash(ssh host)"),
                     rule(allow, "Bash(perl a.pl)")});
  for (const char* command :
       {"python3", "python3 -u a.py", "echo x; python3", "echo x | python3 -m json.tool",
        "echo x | python3 -c 'print(1)'", "echo x | xargs -n1 wc", "echo x | perl a.pl", "ssh host"})
    EXPECT_EQ(judged(rules, command), allow) << command;
  for (const char* command : {"echo x | python3", "python3 < a.txt", "python3 << E\nx\nE", "python3 <<< x",
                              "echo x | nice python3", "echo x | bash -s", "echo x | python3 -u",
                              "echo x | python3 -u /dev/stdin", "echo x | xargs sh", "echo x | ssh host"})
    EXPECT_EQ(judged(rules, command), ask) << command;
  const Rules any({rule(allow, "Bash(echo:*)"), rule(allow, "Bash(python3:*)")});
  EXPECT_EQ(judged(any, "echo x | python3 a.py -"), allow);
  EXPECT_EQ(judged(any, "echo x | python3"), ask);
}

TEST(CommandRules, APrefixOfAProgramThatRunsOthersAllowsNone) {
  for (const char* program : {"sudo", "env", "xargs", "timeout", "nohup", "ssh", "docker", "eval", "exec",
                              "source", "su", "watch", "export", "trap", "busybox", "command"}) {
    const Rules rules = allowing(fmt::format("{}:*", program));
    for (const char* rest : {"ls", "5 ls", "-x ls", "host ls", "x=1"}) {
      EXPECT_EQ(judged(rules, fmt::format("{} {}", program, rest)), ask) << program << " " << rest;
    }
  }
}

}  // namespace
}  // namespace deputy
