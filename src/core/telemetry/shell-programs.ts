/** Programs that telemetry names, and those of their sub-commands that it distinguishes. */
const SUBCOMMANDS = {
  apt: 'install list remove search show update upgrade',
  'apt-get': 'install remove update upgrade',
  aws: 'cloudformation ec2 ecs eks iam lambda logs rds s3 sts',
  az: 'account aks group storage vm',
  brew: 'info install list search services update upgrade',
  bun: 'add build install run test',
  bundle: 'install update',
  cargo: 'add bench build check clean clippy doc fmt install metadata run test tree update',
  composer: 'install require test update',
  conda: 'activate create env install list',
  deno: 'check fmt lint run task test',
  docker: 'build compose exec images inspect logs network ps pull push rm run start stop volume',
  'docker-compose': 'build down exec logs ps restart run up',
  dotnet: 'add build clean publish restore run test',
  gcloud: 'auth builds compute config container functions logging projects run',
  gh: 'api auth gist issue label pr release repo run search workflow',
  git: `add am apply archive bisect blame branch cat-file check-ignore checkout cherry-pick clean
    clone commit config describe diff fetch for-each-ref format-patch fsck gc grep init log
    ls-files ls-remote ls-tree merge merge-base mv notes pull push rebase reflog remote reset
    restore rev-list rev-parse revert rm shortlog show stash status submodule switch tag worktree`,
  glab: 'api auth ci issue mr repo',
  go: 'build clean doc env fmt generate get install list mod run test tool version vet work',
  gradle: 'assemble build check clean dependencies test',
  helm: 'dependency get install lint list repo template uninstall upgrade',
  journalctl: '',
  kubectl:
    'apply config cp create delete describe exec explain get logs patch port-forward rollout scale top wait',
  mvn: 'clean compile dependency install package test verify',
  npm: `access audit build cache ci config exec explain help info init install link list ls
    outdated pack ping prune publish root run search start test uninstall update version view why`,
  pip: 'download freeze index install list show uninstall',
  pnpm: 'add audit build install list run start test update why',
  poetry: 'add build install lock show update',
  rustup: 'component show target toolchain update',
  swift: 'build package run test',
  systemctl: 'disable enable list-units restart show start status stop',
  terraform: 'apply destroy fmt init output plan show state validate',
  uv: 'add lock pip python remove sync tool venv',
  yarn: 'add build install list lint run start test up why',
} as const

/** Programs by themselves. */
const PROGRAMS = `
actionlint ansible ansible-playbook ant ast-grep awk b3sum base64 basename bat bazel bc biome black
bzip2 cal cat chgrp chmod chown clang clang-format clang-tidy clear cloc cmake cmp column comm cp
crontab csplit ctags ctest curl cut cypress dart date dd df dig diff dig dirname dmesg du echo emacs
env esbuild eslint exiftool expr fd ffmpeg ffprobe file find flake8 flutter fmt fold free fuser g++
gcc gdb getent golangci-lint gpg gradlew grep gunzip gzip hadolint head hexdump host hostname htop
httpie id identify ifconfig iotop ip isort java javac jest jq just kill killall kind knip ld ldd
less ln locate ls lsblk lsof ltrace lua magick make man md5sum meson minikube mix mkdir mktemp mocha
mongosh more mount mv mvnw mypy mysql nano nc netstat nginx ninja nl nm node nohup nslookup nx
objdump od openssl paste patch perf perl pgrep php phpunit ping pkill playwright pre-commit prettier
printenv printf protoc ps psql pstree pwd pylint pyright pytest python R rake rg rake readelf
readlink realpath redis-cli rm rmdir rsync rspec rubocop ruby ruff rustc sbt scp sed semgrep seq
sha1sum sha256sum shasum shellcheck shfmt shuf sleep sort split sqlite3 ss ssh stat strace strings
stylelint su sum swiftc tac tail tar tee test time tmux top touch tox tr tree trivy truncate ts-node
tsc tsx tty turbo type uname uniq unxz unzip uptime vi vim vite vitest wc webpack wget whereis which
who whoami xargs xcodebuild xmllint xxd yamllint yq zcat zip zstd
`

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/** By program, the sub-commands that are distinguished; none for most. */
export const SHELL_PROGRAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...words(PROGRAMS).map((name): [string, Set<string>] => [name, new Set()]),
  ...Object.entries(SUBCOMMANDS).map(([name, subs]): [string, Set<string>] => [
    name,
    new Set(words(subs)),
  ]),
])

/** Spellings of the same program. */
export const PROGRAM_ALIASES: ReadonlyMap<string, string> = new Map([
  ['python3', 'python'],
  ['python2', 'python'],
  ['py', 'python'],
  ['pip3', 'pip'],
  ['nodejs', 'node'],
  ['egrep', 'grep'],
  ['fgrep', 'grep'],
  ['ripgrep', 'rg'],
  ['gawk', 'awk'],
  ['fdfind', 'fd'],
  ['batcat', 'bat'],
  ['k', 'kubectl'],
  ['podman', 'docker'],
])

/** Sub-commands by another name. */
export const SUBCOMMAND_ALIASES: ReadonlyMap<string, string> = new Map([
  ['npm t', 'test'],
  ['npm i', 'install'],
  ['npm run-script', 'run'],
  ['pnpm i', 'install'],
  ['pnpm t', 'test'],
  ['cargo b', 'build'],
  ['cargo t', 'test'],
  ['cargo r', 'run'],
  ['cargo c', 'check'],
])

/** Scripts of packages that are distinguished: `npm run test` is `npm_test`. */
export const PACKAGE_SCRIPTS: ReadonlySet<string> = new Set(
  words('bench build check ci clean coverage dev e2e format lint start test typecheck watch'),
)
