// Rules of Bash that deny a subcommand or flags: no other name, spelling or place of them goes round these.
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "guard/judged_commands.h"

namespace deputy {
namespace {

using enum Decision;

TEST(CommandRules, ADenyOfASubcommandSeesThroughOptions) {
  const Rules rules = denying("git push:*");
  for (const char* command :
       {"git push", "git push -f", "git -C x push", "git --no-pager push", "git --git-dir=x push",
        "git --git-dir x push", "/usr/bin/git push", "sudo git push", "git pus*"}) {
    EXPECT_EQ(judged(rules, command), deny) << command;
  }
  for (const char* command : {"git pull", "git commit -m push", "git log push", "git"}) {
    EXPECT_EQ(judged(rules, command), allow) << command;
  }
}

TEST(CommandRules, ADenyMeansAProgramInEachVersionAndAsAModule) {
  const Rules pip = denying("pip install:*");
  for (const char* command : {"pip3 install x", "pip3.11 install x", "python3 -m pip install x",
                              "python -mpip install x", "nice python3 -W ignore -m pip install x"}) {
    EXPECT_EQ(judged(pip, command), deny) << command;
  }
  for (const char* command : {"pip3 list", "python3 -m pytest", "python3 -m pip list", "pipx-x install x"})
    EXPECT_EQ(judged(pip, command), allow) << command;
  EXPECT_EQ(judged(denying("python2:*"), "python3 x.py"), allow);
  EXPECT_EQ(judged(denying("./run:*"), "./run2 x"), allow);
}

TEST(CommandRules, ADenyOfASubcommandMeansItsBeginningWhereThatDoes) {
  const Rules npm = denying("npm install:*");
  for (const char* command : {"npm install x", "npm i x", "npm inst x", "npm --silent i x"})
    EXPECT_EQ(judged(npm, command), deny) << command;
  for (const char* command : {"npm test", "npm run build", "npm run i", "yarn add x"})
    EXPECT_EQ(judged(npm, command), allow) << command;
  EXPECT_EQ(judged(denying("git push:*"), "git pu"), deny) << "it may be an alias";
  EXPECT_EQ(judged(denying("docker-x push:*"), "docker-x pu"), allow);
}

TEST(CommandRules, ADenyOfASubcommandMeansItsOtherNames) {
  for (const auto& [pattern, command] : std::initializer_list<std::pair<const char*, const char*>>{
           {"npm install:*", "npm add x"},
           {"npm install:*", "npm isntall x"},
           {"npm install:*", "npm it"},
           {"npm install:*", "npm --silent add x"},
           {"npm install:*", "sudo npm add x"},
           {"npm uninstall:*", "npm rm x"},
           {"npm run:*", "npm run-script x"},
           {"npm run test:*", "npm test"},
           {"npm run test:*", "npm t"},
           {"npm run build*", "yarn x; npm rum build"},
           {"yarn run build:*", "yarn build"},
           {"pnpm run build:*", "pnpm --silent build"},
           {"cargo publish:*", "cargo zz"},
           {"cargo publish:*", "cargo b"},
           {"cargo publish:*", "cargo -q t my_test"},
           {"cargo publish:*", "cargo rm x"},
           {"cargo build:*", "cargo b"},
           {"svn commit:*", "svn ci"},
           {"cargo publish:*", "cargo +nightly publish"},
           {"cargo publish:*", "cargo +nightly -q publish"},
           {"cargo publish:*", "cargo +nightly zz"},
           {"npm install:*", "npm --loglevel test add x"},
           {"svn commit:*", "svn --username add ci"},
           {"cargo publish:*", "cargo --color test zz"},
           {"npm run:*", "npm test"},
           {"npm run:*", "npm --silent start"},
           {"npm run:*", "npm --loglevel view restart"},
           {"yarn run:*", "yarn build"},
           {"pnpm run:*", "pnpm --filter add build"},
           {"yarn run:*", "yarn workspace a build"},
           {"yarn run build:*", "yarn workspace a build"},
           {"yarn run build*", "yarn workspace a build:all"},
           {"yarn publish:*", "yarn workspace a publish"},
           {"yarn publish:*", "yarn npm publish"},
           {"docker rm:*", "docker container rm x"},
           {"docker rm:*", "docker --host h container rm x"},
           {"yarn add:*", "yarn global add x"},
           {"make deploy:*", "make all deploy"},
           {"make deploy:*", "make all dep*"},
           {"docker rm:*", "docker container r? x"},
           {"pip install:*", "python3 /usr/bin/pip3 install x"},
           {"npm publish:*", "node /usr/lib/node_modules/npm/bin/npm-cli.js publish"},
           {"yarn publish:*", "node .yarn/releases/yarn-4.1.0.cjs publish"},
           {"./deploy.sh:*", "bash deploy.sh"},
           {"./deploy.sh:*", "bash ./deploy.sh x"},
           {"./deploy.sh:*", "bash -ex ./deploy.sh x"},
           {"pip install:*", "python3 -u /usr/bin/pip3 install x"},
           {"./deploy.gp:*", "gnuplot deploy.gp"},
           {"npm install:*", "npm -g add x"},
           {"npm install:*", "npm --no-audit add x"},
           {"npm install:*", "npm --prefix web add x"},
           {"npm install:*", "npm --scope test --otp view add x"},
           {"cargo publish:*", "cargo --locked zz"},
           {"svn commit:*", "svn --non-interactive ci"},
           {"yarn run:*", "yarn --cwd web build"},
           {"yarn run:*", "yarn --cwd install build"},
           {"yarn run:*", "yarn setup"},
           {"yarn run:*", "yarn workspace add build"},
           {"yarn run:*", "yarn workspace --x add build"},
           {"yarn run:*", "yarn workspaces run build"},
           {"yarn run:*", "yarn workspaces foreach -A run build"},
           {"pnpm run:*", "pnpm -r build"},
           {"pnpm run:*", "pnpm recursive build"},
           {"npm run:*", "npm t"},
           {"npm run-script test:*", "npm t"},
           {"npm i:*", "npm install x"},
           {"npm add:*", "npm isntall x"},
           {"npm zz:*", "npm zy"},
           {"cargo t:*", "cargo test"},
           {"svn ci:*", "svn commit"},
           {"pnpm install:*", "pnpm add x"},
           {"pnpm remove:*", "pnpm -r rm x"},
           {"pnpm run test:*", "pnpm t"},
           {"pnpm run:*", "pnpm run-script x"},
           {"docker rm:*", "docker container remove x"},
           {"hg commit:*", "hg ci"},
           {"hg ci:*", "hg commit"},
           {"hg ci:*", "hg com"},
           {"hg update:*", "hg -R a chec tip"},
           {"hg push:*", "hg zz"},
           {"gh pr create:*", "gh pr new"},
           {"gh pr create*", "gh pr new"},
           {"gh pr checkout:*", "gh pr co 1"},
           {"gh pr checkout:*", "gh co 1"},
           {"gh extension install:*", "gh ext install x"},
           {"gh repo delete:*", "gh zz"},
       }) {
    EXPECT_EQ(judged(denying(pattern), command), deny) << pattern << " " << command;
  }
  for (const auto& [pattern, command] : std::initializer_list<std::pair<const char*, const char*>>{
           {"npm run test:*", "npm run build"},
           {"npm run test:*", "npm install test"},
           {"npm publish:*", "npm ci"},
           {"yarn publish:*", "yarn build"},
           {"cargo publish:*", "cargo +nightly build -q"},
           {"cargo publish:*", "cargo -q test a_test"},
           {"cargo publish:*", "cargo --offline test a_test"},
           {"cargo publish:*", "cargo test publish"},
           {"make deploy:*", "make all test"},
           {"make deploy:*", "make all src/*.o t*"},
           {"pip install:*", "python3 /usr/bin/pip3 list"},
           {"npm publish:*", "node npm-cli/a.js publish"},
           {"./deploy.sh:*", "bash build.sh deploy.sh"},
           {"rm:*", "bash tools/rm.sh"},
           {"npm publish:*", "npm --silent run build"},
           {"npm run:*", "npm ci"},
           {"npm run:*", "npm install start"},
           {"yarn run:*", "yarn add x"},
           {"yarn publish:*", "yarn workspace a build"},
           {"docker rm:*", "docker container ls"},
           {"cargo:*", "npm add x"},
           {"svn commit:*", "svn update"},
           {"npm publish:*", "npm -g install typescript"},
           {"npm publish:*", "npm --no-audit install react"},
           {"npm publish:*", "npm --workspaces run build"},
           {"npm publish:*", "npm --prefix web install react"},
           {"cargo publish:*", "cargo --locked test my_test"},
           {"cargo publish:*", "cargo --frozen build -p core"},
           {"cargo publish:*", "cargo --color always test my_test"},
           {"svn commit:*", "svn --non-interactive checkout https://a.org/r"},
           {"svn commit:*", "svn --username me checkout https://a.org/r"},
           {"yarn run:*", "yarn global add x"},
           {"yarn run:*", "yarn npm login"},
           {"yarn run:*", "yarn workspaces list"},
           {"yarn run:*", "yarn workspace a add x"},
           {"yarn run:*", "yarn --cwd web install"},
           {"pnpm run:*", "pnpm i"},
           {"pnpm run:*", "pnpm setup"},
           {"pnpm run:*", "pnpm ci"},
           {"pnpm run:*", "pnpm -r add x"},
           {"pnpm run:*", "pnpm --filter web add x"},
           {"npm publish:*", "npm i x"},
           {"npm publish:*", "npm --silent t"},
           {"npm publish:*", "npm outd"},
           {"cargo publish:*", "cargo build"},
           {"cargo publish:*", "cargo remove x"},
           {"svn commit:*", "svn st"},
           {"pnpm run:*", "pnpm rb"},
           {"pnpm publish:*", "pnpm un x"},
           {"hg push:*", "hg stat"},
           {"hg push:*", "hg ci -m push"},
           {"hg push:*", "hg --cwd a up tip"},
           {"gh pr merge:*", "gh pr ls"},
           {"gh pr merge:*", "gh -R a/b pr view 1"},
           {"gh pr create:*", "gh issue new"},
           {"rm:*", "man rm"},
           {"./deploy.sh:*", "less deploy.sh"},
           {"./deploy.sh:*", "view ./deploy.sh"},
       }) {
    EXPECT_EQ(judged(denying(pattern), command), allow) << pattern << " " << command;
  }
}

TEST(CommandRules, ADenyOfFlagsMeansAllTheirSpellings) {
  const Rules rules(
      {rule(allow, "Bash"), rule(deny, "Bash(rm -rf:*)"), rule(deny, "Bash(git push --force)")});
  for (const char* command :
       {"rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rf", "rm -vrf x", "rm --recursive --force x", "rm *",
        "git push --force", "git push origin --force", "git push --forc", "git push --force-with-lease",
        "git push -f"}) {
    EXPECT_EQ(judged(rules, command), deny) << command;
  }
  for (const char* command : {"rm x", "rm -r x", "rm -f x", "git push origin main", "git push -u origin",
                              "rm src/*.o", "rm -f ~/x"}) {
    EXPECT_EQ(judged(rules, command), allow) << command;
  }
}

// What xargs, parallel and find put behind a program may be the flag or the subcommand that is denied.
TEST(CommandRules, WhatIsFilledInGoesRoundNoDeny) {
  for (const auto& [pattern, command] : std::initializer_list<std::pair<const char*, const char*>>{
           {"rm -rf:*", "echo -rf src | xargs rm"},
           {"rm -rf:*", "echo -r src | xargs -n 9 rm -f"},
           {"rm -rf:*", "printf -- -rfisrc | xargs -di rm"},
           {"rm -rf:*", "echo -rf | xargs -I{} rm {} src"},
           {"rm -rf:*", "echo rf | xargs -I % rm -% src"},
           {"rm -rf:*", "parallel rm ::: -rf"},
           {"terraform destroy:*", "echo destroy | xargs terraform"},
           {"terraform destroy:*", "echo destroy | nice xargs terraform -chdir=a"},
           {"terraform destroy:*", "echo destroy | xargs -I% terraform % -auto-approve"},
           {"terraform destroy:*", "parallel terraform ::: destroy"},
           {"terraform destroy:*", "find destroy -exec terraform {} ';'"},
           {"terraform destroy:*", "fd destroy -x terraform '{/}'"},
           {"terraform state rm:*", "echo state rm x | xargs terraform"},
           {"terraform state rm:*", "parallel terraform ::: state ::: rm ::: x"},
           {"terraform state rm:*", "terraform s* x"},
           {"pip install:*", "echo install x | xargs python3 -m pip"},
       }) {
    EXPECT_EQ(judged(denying(pattern), command), deny) << pattern << " " << command;
    EXPECT_EQ(judged(Rules({rule(allow, "Bash")}), command), allow)
        << command << ": the control does not fire";
  }
  for (const auto& [pattern, command] : std::initializer_list<std::pair<const char*, const char*>>{
           {"rm -rf:*", "find . -name '*.o' -exec rm {} +"},
           {"rm -rf:*", "find . -name '*.o' -exec rm -f {} ';'"},
           {"rm -rf:*", "parallel rm ::: a b"},
           {"rm -rf:*", "ls | xargs wc -l"},
           {"rm -rf:*", "ls | xargs -I{} cp {} x"},
           {"terraform destroy:*", "ls | xargs terraform fmt"},
           {"terraform destroy:*", "ls | xargs -I% terraform fmt %"},
           {"terraform destroy:*", "find . -name '*.tf' -exec terraform fmt {} ';'"},
           {"terraform destroy:*", "parallel terraform fmt ::: a b"},
           {"xargs -P:*", "ls | xargs wc"},
           {"sudo -s:*", "ls | sudo xargs wc"},
       }) {
    EXPECT_EQ(judged(denying(pattern), command), allow) << pattern << " " << command;
  }
}

}  // namespace
}  // namespace deputy
