import {
  PACKAGE_SCRIPTS,
  PROGRAM_ALIASES,
  SHELL_PROGRAMS,
  SUBCOMMAND_ALIASES,
} from './shell-programs.ts'

/** A program that telemetry does not name. */
const OTHER = 'shell_other'
/** A loop, a condition, or a file of commands. */
const SCRIPT = 'shell_script'
/** Nothing was run. */
const NONE = 'shell'
/** `sh -c` inside of `sh -c`. */
const MAX_SHELLS = 3

/** Commands that only prepare the next one. */
const PREPARING = new Set(
  'cd pushd popd export set unset source . : true ulimit umask alias'.split(' '),
)
const KEYWORDS = new Set('if for while until case function select [ [['.split(' '))
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'fish', 'ksh', 'ash'])

/**
 * Programs that run the program named after them, with their options that take a word, and the
 * number of words before the program.
 */
const WRAPPERS: ReadonlyMap<
  string,
  { readonly valued: readonly string[]; readonly words: number }
> = new Map([
  ['sudo', { valued: ['-u', '-g', '-p', '-C'], words: 0 }],
  ['doas', { valued: ['-u'], words: 0 }],
  ['env', { valued: ['-u', '-C', '-S'], words: 0 }],
  ['time', { valued: ['-f', '-o'], words: 0 }],
  ['nohup', { valued: [], words: 0 }],
  ['nice', { valued: ['-n'], words: 0 }],
  ['ionice', { valued: ['-c', '-n'], words: 0 }],
  ['stdbuf', { valued: ['-i', '-o', '-e'], words: 0 }],
  ['timeout', { valued: ['-s', '-k', '--signal', '--kill-after'], words: 1 }],
  ['command', { valued: [], words: 0 }],
  ['exec', { valued: ['-a'], words: 0 }],
  ['builtin', { valued: [], words: 0 }],
  ['setsid', { valued: [], words: 0 }],
  ['npx', { valued: ['-p', '--package', '-w'], words: 0 }],
  ['bunx', { valued: [], words: 0 }],
  ['pnpx', { valued: [], words: 0 }],
  ['uvx', { valued: ['--from', '--with'], words: 0 }],
  ['!', { valued: [], words: 0 }],
])

/** Two words that run the program after them. */
const RUNNERS = new Set([
  'uv run',
  'poetry run',
  'pipenv run',
  'rye run',
  'bundle exec',
  'pnpm exec',
  'pnpm dlx',
  'yarn dlx',
  'npm exec',
  'python -m',
  'bun x',
])

/** Options of programs, before their sub-command, that take a word. */
const VALUED_OPTIONS =
  '-C -c --git-dir --work-tree -n --namespace --context --kubeconfig -f --file -p --project --prefix -w --workspace -R --repo --profile --region --manifest-path --filter'.split(
    ' ',
  )

/**
 * The class of a shell command, by the program that its first words run: `git_log`, `curl`,
 * `npm_test`. Only names of tables stand in it. Changes of folder, assignments and wrappers such as
 * `sudo` or `timeout` are passed over. Linear.
 */
export function commandClass(command: string): string {
  return classOf(command, 0)
}

function classOf(command: string, shells: number): string {
  for (const words of firstCommands(command)) {
    const [name, ...rest] = unwrap(words)
    if (name === undefined) continue
    if (KEYWORDS.has(name)) return SCRIPT
    const program = programOf(name)
    if (PREPARING.has(program)) continue
    if (SHELLS.has(program)) {
      const inner = shells < MAX_SHELLS ? innerCommand(rest) : undefined
      return inner === undefined ? SCRIPT : classOf(inner, shells + 1)
    }
    const subcommands = SHELL_PROGRAMS.get(program)
    if (subcommands === undefined) return isScript(name) ? SCRIPT : OTHER
    return named(program, subcommands, rest)
  }
  return NONE
}

/** The words after assignments, wrappers and runners. */
function unwrap(words: readonly string[]): readonly string[] {
  let at = 0
  for (;;) {
    while (at < words.length && ASSIGNMENT.test(words[at]!)) at++
    const program = programOf(words[at] ?? '')
    const wrapper = WRAPPERS.get(program)
    if (wrapper === undefined) {
      if (!RUNNERS.has(`${program} ${words[at + 1]}`)) break
      at = afterOptions(words, at + 2, [])
      continue
    }
    at = afterOptions(words, at + 1, wrapper.valued) + wrapper.words
  }
  return words.slice(at)
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

function afterOptions(words: readonly string[], from: number, valued: readonly string[]): number {
  let at = from
  while (at < words.length && words[at]!.startsWith('-')) at += valued.includes(words[at]!) ? 2 : 1
  return at
}

/** The text after `-c`, also if other letters are with it. */
function innerCommand(words: readonly string[]): string | undefined {
  const option = words.findIndex(word => /^-[a-z]*c$/.test(word))
  return option === -1 ? undefined : words[option + 1]
}

function programOf(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1)
  const plain = plainName(name)
  return PROGRAM_ALIASES.get(plain) ?? plain
}

function plainName(name: string): string {
  if (name.startsWith('python') && /^python\d[\d.]*$/.test(name)) return 'python'
  return name.endsWith('.exe') ? name.slice(0, -'.exe'.length) : name
}

function isScript(word: string): boolean {
  return word.startsWith('./') || word.endsWith('.sh')
}

function named(program: string, subcommands: ReadonlySet<string>, rest: readonly string[]): string {
  const at = subcommands.size === 0 ? -1 : afterOptions(rest, 0, VALUED_OPTIONS)
  const word = rest[at]
  if (word === undefined) return spelt(program)
  const sub = SUBCOMMAND_ALIASES.get(`${program} ${word}`) ?? word
  const script = baseScript(rest[afterOptions(rest, at + 1, [])] ?? '')
  const isRun = sub === 'run' && subcommands.has('test') && PACKAGE_MANAGERS.has(program)
  if (isRun && PACKAGE_SCRIPTS.has(script)) return `${program}_${script}`
  const own = baseScript(sub)
  if (PACKAGE_MANAGERS.has(program) && PACKAGE_SCRIPTS.has(own)) return `${program}_${own}`
  return subcommands.has(sub) ? spelt(`${program}_${sub}`) : spelt(program)
}

const PACKAGE_MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun'])

/** `test:unit` is a test. */
function baseScript(script: string): string {
  const colon = script.indexOf(':')
  return colon === -1 ? script : script.slice(0, colon)
}

/** Only letters, digits and `_`. */
function spelt(name: string): string {
  return name.replaceAll('-', '_').replaceAll('+', 'p')
}

/** Characters of a command that are read to find the program. */
const MAX_CHARS = 8_192
const MAX_WORDS = 64

/** End a simple command outside of quotes. */
const ENDS = new Set([';', '&', '|', '\n', '(', ')'])
const BLANKS = new Set([' ', '\t', '\r'])

/**
 * The simple commands at the start of a shell's input, one after the other, each as its words
 * without their quotes; comments are passed over. Nothing is expanded. What is after the first
 * 8,192 characters or 64 words of a command is not read.
 */
function* firstCommands(command: string): Generator<string[]> {
  const text = command.slice(0, MAX_CHARS)
  let words: string[] = []
  let at = 0
  while (at < text.length) {
    const c = text[at]!
    if (ENDS.has(c)) {
      if (words.length > 0) yield words
      words = []
      at++
    } else if (BLANKS.has(c)) at++
    else if (c === '#') {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else {
      const { word, end } = readWord(text, at)
      if (words.length < MAX_WORDS && word !== '{' && word !== '}') words.push(word)
      at = end
    }
  }
  if (words.length > 0) yield words
}

/** One word, which may have quoted parts. */
function readWord(text: string, start: number): { word: string; end: number } {
  let word = ''
  let at = start
  while (at < text.length) {
    const c = text[at]!
    if (BLANKS.has(c) || ENDS.has(c)) break
    if (c === "'") {
      const close = indexOrEnd(text, "'", at + 1)
      word += text.slice(at + 1, close)
      at = close + 1
    } else if (c === '"') {
      const quoted = readQuoted(text, at + 1)
      word += quoted.word
      at = quoted.end
    } else if (c === '\\') {
      // At the end of a line it joins two.
      if (text[at + 1] !== '\n') word += text[at + 1] ?? ''
      at += 2
    } else {
      word += c
      at++
    }
  }
  return { word, end: at }
}

function readQuoted(text: string, start: number): { word: string; end: number } {
  let word = ''
  let at = start
  while (at < text.length && text[at] !== '"') {
    if (text[at] === '\\') at++
    word += text[at] ?? ''
    at++
  }
  return { word, end: at + 1 }
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from)
  return at === -1 ? text.length : at
}
