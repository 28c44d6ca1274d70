import type { Step } from './project.ts'

interface Tool {
  readonly name?: string
  /** Only a namespace has them. */
  readonly tools?: readonly Tool[]
  /** OpenAI's, for completions. */
  readonly function?: Tool
  /** Gemini's. */
  readonly functionDeclarations?: readonly Tool[]
}

/** What a model gets, in the shapes of four APIs. */
export interface ModelRequest {
  readonly model?: string
  readonly stream?: boolean
  readonly tools?: readonly Tool[]
  readonly messages?: readonly object[]
  readonly contents?: readonly object[]
  readonly input?: readonly { readonly tools?: readonly Tool[] }[]
}

/** The data of server-sent events. Those with a type are named by it. */
export type Events = readonly (string | object)[]

/** What a model answers that follows a script: a stream, or one piece. */
export type Speak = (request: ModelRequest, script: readonly Step[]) => Events | object

export const LAST_WORDS = 'That is all.'

/** Names of all tools, also of those that come with the conversation. */
export function toolsOf({ tools = [], input = [] }: ModelRequest): readonly string[] {
  const all = [...tools, ...input.flatMap(item => item.tools ?? [])]
  return all.flatMap(tool => {
    const inner = tool.tools ?? tool.functionDeclarations ?? [tool.function ?? tool]
    return inner.map(each => each.name ?? '')
  })
}

/**
 * What an agent calls a tool, which has another name of its server before its own in each. One that
 * it does not list, since it has to be searched for, is called by the name that was given.
 */
export function toolNamed(request: ModelRequest, name: string): string {
  const own = name.slice(name.lastIndexOf('__') + 1)
  return toolsOf(request).find(each => each.endsWith(own)) ?? name
}

/** How many results there are: parts of the conversation that have this in common. */
export function resultsIn(list: readonly object[] | undefined, mark: RegExp): number {
  return [...JSON.stringify(list ?? []).matchAll(mark)].length
}

/** A call of the tool that fetches originals, as the model would make it after a marker. */
export function retrievalIn(
  request: ModelRequest,
): { readonly tool: string; readonly hash: string } | null {
  const tool = toolsOf(request).find(name => name.endsWith('haversack_retrieve'))
  const text = JSON.stringify(request.messages ?? request.input ?? [])
  const hash = [...text.matchAll(/> \[\d[^\]]* not shown [^\]]*hash=([0-9a-f]+)/g)].at(-1)?.[1]
  return tool === undefined || hash === undefined ? null : { tool, hash }
}

/** The step that comes next; `undefined` if the model has no more to do. */
export function nextStep(request: ModelRequest, step: Step | undefined): Step | undefined {
  return step !== undefined && 'retrieves' in step && retrievalIn(request) === null
    ? undefined
    : step
}

/** A step as a command of a shell. @throws Error for one that is none */
export function commandOf(step: Step): string {
  if ('retrieves' in step || 'tool' in step) throw new Error('it is no command')
  if ('command' in step) return step.command
  const { file, offset = 1, limit } = step
  return `nl -ba ${file} | tail -n +${offset}${limit === undefined ? '' : ` | head -n ${limit}`}`
}

/** Whether an agent asks for its main model; titles and the like are asked for without tools. */
export function isMain(request: ModelRequest): boolean {
  return shellOf(request) !== undefined || toolsOf(request).includes('list_orders')
}

/** The tool that runs commands, if the agent asks for its main model. */
export function shellOf(request: ModelRequest): string | undefined {
  const names: readonly string[] = ['Bash', 'bash', 'run_shell_command']
  return toolsOf(request).find(name => names.includes(name))
}
