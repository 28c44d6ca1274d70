/**
 * One instruction of a Dockerfile: `RUN --mount=… npm ci` has the flag `mount` and the rest as its
 * text.
 */
export interface Instruction {
  readonly name: string
  readonly flags: Readonly<Record<string, string>>
  readonly text: string
}

/** What stands between one FROM and the next, and the FROM's own words. */
export interface Stage {
  readonly from: string
  readonly name?: string
  readonly instructions: readonly Instruction[]
}

export interface Dockerfile {
  /** ARGs before the first FROM, with their defaults. */
  readonly args: Readonly<Record<string, string>>
  readonly stages: readonly Stage[]
}

/**
 * The instructions that the images of this project may use; another one is a fault, not passed
 * over.
 */
const KNOWN = new Set(
  'FROM ARG WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD LABEL'.split(' '),
)

/**
 * Parses the part of the Dockerfile language that this project uses.
 * @throws where an instruction is not one of `KNOWN`, or stands before any FROM and is no ARG
 */
export function parseDockerfile(source: string): Dockerfile {
  const args: Record<string, string> = {}
  const stages: { from: string; name?: string; instructions: Instruction[] }[] = []
  for (const line of logicalLines(source)) {
    const instruction = parseInstruction(line)
    if (instruction.name === 'FROM') {
      const [from = '', as, name] = instruction.text.split(/\s+/)
      const named = as?.toUpperCase() === 'AS' && name !== undefined
      stages.push({ from: expand(from, args), ...(named ? { name } : {}), instructions: [] })
    } else if (stages.length > 0) {
      stages.at(-1)?.instructions.push(instruction)
    } else if (instruction.name === 'ARG') {
      Object.assign(args, Object.fromEntries(pairs(instruction.text)))
    } else {
      throw new Error(`${instruction.name} before FROM`)
    }
  }
  return { args, stages }
}

/** Lines without comments, those that end in a backslash joined with the next. */
function logicalLines(source: string): string[] {
  return source
    .split('\n')
    .filter(line => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n/g, '')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

function parseInstruction(line: string): Instruction {
  const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? []
  const name = word.toUpperCase()
  if (!KNOWN.has(name)) throw new Error(`an instruction that the test does not know: ${line}`)
  const flags: Record<string, string> = {}
  let text = rest
  for (;;) {
    const [all, flag, value] = /^--([a-z-]+)=(\S+)\s+/.exec(text) ?? []
    if (all === undefined || flag === undefined || value === undefined) break
    flags[flag] = value
    text = text.slice(all.length)
  }
  return { name, flags, text }
}

/** `A=1 B="two words"` and `A` alone, which is empty. */
export function pairs(text: string): [string, string][] {
  const found = text.matchAll(/([\w.-]+)(?:=(?:"([^"]*)"|(\S*)))?/g)
  return [...found].map(([, key = '', quoted, bare]) => [key, quoted ?? bare ?? ''])
}

/**
 * Puts the values of `$NAME` and `${NAME}` in; one without a value becomes nothing, as in a build.
 */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced, bare) => values[braced ?? bare] ?? '',
  )
}

/** The words of an exec form such as `["node", "x"]`, or undefined for a shell form. */
export function execForm(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  const words: unknown = JSON.parse(text)
  if (!Array.isArray(words) || !words.every(word => typeof word === 'string')) return undefined
  return words
}
