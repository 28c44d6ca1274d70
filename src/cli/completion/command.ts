import { type Command, type Commands, defineActions, type Options } from '../../console/command.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

/** What a shell may complete: the words after a command, and the texts of its options. */
interface Completed {
  readonly name: string
  readonly summary: string
  readonly words: readonly string[]
  readonly options: Options
  /** The next word is the program of another command line. */
  readonly isCommand: boolean
}

type Writer = (commands: readonly Completed[]) => readonly string[]

/** The command, for all commands by their names. */
export function completionOf(all: Commands): Command {
  const printer = (write: Writer) => async () => {
    process.stdout.write(`${write(await completed(all)).join('\n')}\n`)
    return EXIT.ok
  }
  return defineActions({
    name: 'completion',
    details:
      'bash: eval "$(haversack completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc, after ' +
      'compinit. fish: haversack completion fish | source in config.fish.',
    examples: ['completion bash', 'completion fish'],
    options: {},
    actions: {
      bash: { run: printer(bash) },
      zsh: { run: printer(zsh) },
      fish: { run: printer(fish) },
    },
  })
}

async function completed(all: Commands): Promise<readonly Completed[]> {
  const commands = await Promise.all(
    Object.values(all).map(async ({ summary, load }) => completedOf(await load(), summary)),
  )
  return [...commands, { ...HELP, words: Object.keys(all) }]
}

const HELP = { name: 'help', summary: 'Explain a command', options: {}, isCommand: false } as const

function completedOf(
  { name, words = [], options, endsWithOperands }: Command,
  summary: string,
): Completed {
  return { name, summary, words, options, isCommand: endsWithOperands === true }
}

const optionsOf = ({ options }: Completed): readonly string[] =>
  [...Object.keys(options), 'help'].map(name => `--${name}`)

const choicesOf = (option: Options[string]): readonly string[] =>
  option.type === 'string' ? (option.choices ?? []) : []

/** Files are completed if nothing else is known. */
function bash(commands: readonly Completed[]): readonly string[] {
  return [
    '_haversack() {',
    '  local word=$' + '{COMP_WORDS[COMP_CWORD]} before=$' + '{COMP_WORDS[COMP_CWORD-1]} list=',
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    list='${commands.map(({ name }) => name).join(' ')} --help --version'`,
    '  else',
    '    case "$' + '{COMP_WORDS[1]} $before" in',
    ...commands.flatMap(({ name, options }) =>
      Object.entries(options)
        .filter(([, option]) => choicesOf(option).length > 0)
        .map(
          ([key, option]) => `      '${name} --${key}') list='${choicesOf(option).join(' ')}' ;;`,
        ),
    ),
    '      *)',
    '        case "$' + '{COMP_WORDS[1]} $word" in',
    ...commands.map(each => `          '${each.name} -'*) list='${optionsOf(each).join(' ')}' ;;`),
    ...commands.map(({ name, words, isCommand }) => {
      if (isCommand) return `          '${name} '*) COMPREPLY=($(compgen -c -- "$word")) ;;`
      return `          '${name} '*) [ "$COMP_CWORD" -eq 2 ] && list='${words.join(' ')}' ;;`
    }),
    '        esac ;;',
    '    esac',
    '  fi',
    '  [ -n "$list" ] && COMPREPLY=($(compgen -W "$list" -- "$word"))',
    '  return 0',
    '}',
    'complete -o default -F _haversack haversack',
  ]
}

/** By the functions of bash, which zsh can read. */
function zsh(commands: readonly Completed[]): readonly string[] {
  return ['autoload -U +X bashcompinit && bashcompinit', ...bash(commands)]
}

function fish(commands: readonly Completed[]): readonly string[] {
  const first = 'complete -c haversack -n __fish_use_subcommand -f'
  return [
    `${first} -l help`,
    `${first} -l version`,
    ...commands.flatMap(({ name, summary, words, options, isCommand }) => {
      const line = `complete -c haversack -n '__fish_seen_subcommand_from ${name}'`
      return [
        `${first} -a ${name} -d ${quoted(summary)}`,
        ...(words.length === 0 ? [] : [`${line} -f -a ${quoted(words.join(' '))}`]),
        ...(isCommand ? [`${line} -f -a '(__fish_complete_subcommand)'`] : []),
        ...Object.entries(options).map(([key, option]) => {
          const choices = choicesOf(option)
          const takes = option.type === 'string' ? ' -r' : ''
          const texts = choices.length === 0 ? '' : ` -f -a ${quoted(choices.join(' '))}`
          return `${line} -l ${key}${takes}${texts} -d ${quoted(option.help)}`
        }),
      ]
    }),
  ]
}

/** A text in quotes of fish. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
