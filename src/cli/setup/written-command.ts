/** A call of ours in the file of an agent, which a shell runs. */
export interface WrittenCommand {
  /** As the shell reads it: a name or a path, quoted if it needs that. */
  readonly program: string
  readonly service: string
}

/** A program of ours: the bare name, or a path to it, quoted or not. */
const PROGRAM =
  /^(?:haversack|[^\s'"]*[\\/]haversack(?:\.cmd)?|'.*[\\/]haversack'|".*[\\/]haversack(?:\.cmd)?")$/

/** Reads `PROGRAM CALL SERVICE`; `undefined` if the text is something else. */
export function readCommand(text: unknown, call: string): WrittenCommand | undefined {
  if (typeof text !== 'string') return undefined
  const [program = '', service, ...more] = text.split(` ${call} `)
  if (service === undefined || more.length > 0 || !PROGRAM.test(program)) return undefined
  return { program, service }
}

export function writeCommand({ program, service }: WrittenCommand, call: string): string {
  return `${program} ${call} ${service}`
}
