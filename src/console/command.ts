import { didYouMean } from '../config/nearest-name.ts'

/** The properties of an option for its line of help and for the parser. */
interface OptionTerms {
  readonly help: string
  /** The actions that read it; all if it names none. They head its line of help. */
  readonly actions?: readonly string[]
}

/** A switch. */
interface FlagOption extends OptionTerms {
  readonly type: 'boolean'
}

/** Refuses the text of an option: `--name takes …`. */
export type Refuse = (takes: string) => never

export interface TextTerms extends OptionTerms {
  /** Name of the text in the help. */
  readonly value: string
}

/** An option with a text, or with what `read` makes of it. */
interface TextOption extends TextTerms {
  readonly type: 'string'
  /** The only texts that it takes. */
  readonly choices?: readonly string[]
  readonly read?: (given: string, refuse: Refuse) => unknown
}

export type CommandOption = FlagOption | TextOption

export type Options = Readonly<Record<string, CommandOption>>

type ValueOf<Option> = Option extends { readonly type: 'boolean' }
  ? boolean
  : Option extends { readonly read: (...args: never[]) => infer Value }
    ? Value | undefined
    : string | undefined

/** The values of a call's options. An option that is not given is `undefined`, a switch `false`. */
export type ValuesOf<O extends Options> = { readonly [Name in keyof O]: ValueOf<O[Name]> }

/** A call as `node:util` parses it. */
export type Given = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** One command, one file. Results go to stdout, everything else to stderr. */
export interface Command {
  readonly name: string
  /** Text of its own help page. */
  readonly details?: string
  /** Calls that can be copied, without the name of the program. */
  readonly examples: readonly [string, ...string[]]
  /** The operands after the name, for example `[FILE]`. */
  readonly operands: string
  /** Most operands that are taken. */
  readonly maxOperands: number
  /** What the first operand can be: actions, or names of agents. */
  readonly words?: readonly string[]
  /** The first operand begins the command line of another program. */
  readonly endsWithOperands?: true
  readonly options: Options
  /** It has more to do than to print, so it continues if its reader has left. */
  readonly outlivesReader?: true
  /** Resolves to the exit code. Throws `UsageError` or `AppError`. */
  run(given: Given, operands: readonly string[]): Promise<number>
}

/** Commands by their names, each with its line of the overview. */
export type Commands = Readonly<
  Record<string, { readonly summary: string; load(): Promise<Command> }>
>

type Run<O extends Options> = (
  values: ValuesOf<O>,
  operands: readonly string[],
) => Promise<number> | number

interface CommandTerms<O extends Options> extends Omit<Command, 'options' | 'run'> {
  readonly options: O
  readonly run: Run<O>
}

/** What comes after the name of an action. */
interface ActionOperands {
  readonly text: string
  readonly min: number
  readonly max: number
}

/** One of the things that a command does, by its first operand. */
interface Action<O extends Options> {
  readonly operands?: ActionOperands
  readonly run: Run<O>
}

interface ActionsTerms<O extends Options>
  extends Pick<CommandTerms<O>, 'name' | 'details' | 'examples' | 'options' | 'outlivesReader'> {
  readonly actions: Readonly<Record<string, Action<O>>>
  /** The action of a call without any operand. */
  readonly run?: Run<O>
  /** The message for anything else than one of the actions with its operands. */
  readonly wrongAction?: string
}

const NO_OPERANDS: ActionOperands = { text: '', min: 0, max: 0 }

/** A call that is wrong: exit code 2, and a message that names `--help`. */
export class UsageError extends Error {}

/** A command that does one thing. */
export function defineCommand<const O extends Options>(terms: CommandTerms<O>): Command {
  const { options, run } = terms
  return { ...terms, run: async (given, operands) => run(readValues(options, given), operands) }
}

/** A command whose first operand names what to do. */
export function defineActions<const O extends Options>(terms: ActionsTerms<O>): Command {
  const { actions, options, wrongAction, run: runWithout, ...page } = terms
  const pairs = Object.entries(actions)
  const operandsOf = ([name, { operands = NO_OPERANDS }]: (typeof pairs)[number]) =>
    `${name} ${operands.text}`.trimEnd()
  const names = Object.keys(actions)
  const usage = `${page.name} takes ${names.length === 1 ? '' : 'one of '}${names.join(', ')}`
  return {
    ...page,
    operands: `${runWithout === undefined ? '' : '| '}${pairs.map(operandsOf).join(' | ')}`,
    maxOperands:
      1 + pairs.reduce((most, [, { operands = NO_OPERANDS }]) => Math.max(most, operands.max), 0),
    words: names,
    options,
    async run(given, [name = '', ...operands]) {
      if (runWithout !== undefined && name === '') return runWithout(readValues(options, given), [])
      // A name that every object has, such as `constructor`, is no action.
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined
      const { min, max } = action?.operands ?? NO_OPERANDS
      if (action === undefined || operands.length < min || operands.length > max) {
        const near = action === undefined ? didYouMean(name, names) : ''
        throw new UsageError((wrongAction ?? usage) + (name === '' ? '' : near))
      }
      return action.run(readValues(options, given, name), operands)
    },
  }
}

/** @throws UsageError if the text of an option is none that it takes */
function readValues<O extends Options>(options: O, given: Given, action?: string): ValuesOf<O> {
  const values = Object.entries(options).map(([name, option]) => {
    return [name, readValue(name, option, given[name], action)] as const
  })
  return Object.fromEntries(values) as ValuesOf<O>
}

function readValue(
  name: string,
  option: CommandOption,
  given: Given[string],
  action: string | undefined,
): unknown {
  if (option.type === 'boolean') return given === true
  if (typeof given !== 'string') return undefined
  const { read, actions } = option
  if (action !== undefined && actions !== undefined && !actions.includes(action)) return undefined
  if (read === undefined) return given
  return read(given, takes => {
    throw new UsageError(`--${name} takes ${takes}`)
  })
}
