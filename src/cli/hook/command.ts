import type { Readable } from 'node:stream'
import { repositoryName } from '../../config/layers/repository.ts'
import { defineActions } from '../../console/command.ts'
import { type ServiceClient, ServiceProblem, serviceAt } from '../../console/service-client.ts'
import type { ConfigAnswer } from '../../core/contract/config.ts'
import type { EncodeAnswer, EncodeRequest } from '../../core/contract/encode.ts'
import { LEGEND } from '../../core/reading/legend.ts'
import { type AskedService, answerAgent, calledOptions, readEvent } from './called-by-agent.ts'

/** The agent waits for its hooks: the longest wait for a service, in milliseconds. */
const DEADLINE_MS = 2_000

export const hookCommand = defineActions({
  name: 'hook',
  outlivesReader: true,
  details:
    'Claude Code calls it after a tool: haversack setup claude --hook. It reads the event on ' +
    'stdin and prints the smaller output, in the shape of the tool, by a running service. At the ' +
    'start of a session it tells the model how results are to be read, or the user that no ' +
    'service answers. If anything fails, it prints nothing and its exit code is 0.',
  examples: ['hook claude', 'hook claude --url http://127.0.0.1:8787'],
  options: calledOptions,
  actions: { claude: { run: values => answerAgent(values, runHook) } },
})

/** Says to the ledger that this is a hook, of which agent, and in which project. */
function ofHook(): Readonly<Record<string, string>> {
  const project = repositoryName(process.cwd())
  return {
    'user-agent': 'haversack-hook-claude',
    ...(project !== undefined && { 'x-haversack-project': project }),
  }
}

/** Reads an event and answers it, within a time. @throws whatever keeps it from that */
export async function runHook(
  input: Readable,
  { url, key, deadlineMs = DEADLINE_MS }: AskedService,
): Promise<string | null> {
  const signal = AbortSignal.timeout(deadlineMs)
  const values = key === undefined ? {} : { key }
  return answerHook(
    await readEvent(input, signal),
    serviceAt(url, values, { signal, mustProve: true, headers: ofHook() }),
  )
}

/**
 * The text with which a hook answers Claude Code; `null` if it has nothing to say, so that the
 * tool's output stays.
 * @param json the event, from standard input
 * @throws what `service` throws; SyntaxError if it is not JSON
 */
async function answerHook(json: string, service: ServiceClient): Promise<string | null> {
  const event: unknown = JSON.parse(json)
  if (!isMembers(event)) return null
  if (event['hook_event_name'] === 'SessionStart') return beginningOf(service)
  if (event['hook_event_name'] !== 'PostToolUse') return null
  const tool = event['tool_name']
  if (typeof tool !== 'string') return null
  const output = toolOutputOf(tool, event['tool_response'])
  if (output === null) return null
  const call = { tool, args: event['tool_input'] }
  const texts = await encodeTexts(output.texts, call, service)
  if (texts.every((text, i) => text === output.texts[i])) return null
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PostToolUse',
      updatedToolOutput: output.withTexts(texts),
    },
  })
}

/** A text that cannot be encoded stays. @throws if that is so of all */
async function encodeTexts(
  texts: readonly string[],
  call: Pick<EncodeRequest, 'tool' | 'args'>,
  service: ServiceClient,
): Promise<readonly string[]> {
  const ends = await Promise.allSettled(texts.map(text => encodeText(text, call, service)))
  const failed = ends.filter(end => end.status === 'rejected')
  if (failed.length === ends.length) throw failed[0]?.reason
  return ends.map((end, i) => (end.status === 'fulfilled' ? end.value : texts[i]!))
}

/** The key whose value says whether models are told how results are to be read. */
const LEGEND_KEY = 'hints.enabled'

/**
 * Tells the model at the start of a session how results are to be read, or the user that no service
 * answers; `null` if the service has nothing to say.
 */
async function beginningOf(service: ServiceClient): Promise<string | null> {
  try {
    const { keys } = await service.get<ConfigAnswer>('/v1/config', {})
    if (keys.find(({ key }) => key === LEGEND_KEY)?.value === false) return null
    return JSON.stringify({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: LEGEND },
    })
  } catch (error) {
    if (error instanceof ServiceProblem) return null
    const { message } = error as Error
    return JSON.stringify({
      systemMessage: `Haversack: ${message}. haversack doctor claude says why.`,
    })
  }
}

/**
 * Encodes one text. No session: a reference names a call by its distance in calls, and hooks see
 * neither calls that were refused nor the order of calls that ran side by side.
 */
async function encodeText(
  content: string,
  call: Pick<EncodeRequest, 'tool' | 'args'>,
  service: ServiceClient,
): Promise<string> {
  const request: EncodeRequest = { ...call, content, mode: 'lossless' }
  const answer = await service.post<EncodeAnswer>('/v1/encode', request)
  if (typeof answer.content !== 'string' || !answer.lossless) return content
  return answer.content
}

/** A JSON object of another program. */
type OutputMembers = Readonly<Record<string, unknown>>

/** The texts of a tool's output for the model, and the output with other texts in their places. */
interface ToolOutput {
  readonly texts: readonly string[]
  /** The output with these texts, in the same order. Everything else in it stays. */
  withTexts(texts: readonly string[]): unknown
}

const MCP_PREFIX = 'mcp__'
/** Our own gateway has encoded its results already. */
const GATEWAY_PREFIX = 'mcp__haversack'

/**
 * The texts in the output of a tool of Claude Code; `null` for a shape that is not known, whose
 * output must stay. Claude Code shows some outputs otherwise than it gives them to hooks: it
 * numbers the lines of `Read`, and shows the start of an output that it has put into a file.
 */
export function toolOutputOf(tool: string, output: unknown): ToolOutput | null {
  if (tool.startsWith(GATEWAY_PREFIX)) return null
  if (typeof output === 'string') return oneText(output, text => text)
  if (tool === 'Bash') return bashOutput(output)
  return tool.startsWith(MCP_PREFIX) ? mcpOutput(output) : null
}

function oneText(text: string, put: (text: string) => unknown): ToolOutput | null {
  if (text === '') return null
  return { texts: [text], withTexts: ([other = text]) => put(other) }
}

function bashOutput(output: unknown): ToolOutput | null {
  if (!isMembers(output)) return null
  const { stdout, stderr, isImage } = output
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return null
  const isElsewhere = output['persistedOutputPath'] !== undefined
  if (isElsewhere || (isImage ?? false) !== false) return null
  return oneText(stdout, text => ({ ...output, stdout: text }))
}

/** Blocks of content, or an object with them. One with other results beside them stays. */
function mcpOutput(output: unknown): ToolOutput | null {
  if (Array.isArray(output)) return blocksOutput(output, blocks => blocks)
  if (!isMembers(output) || !Array.isArray(output['content'])) return null
  if (output['structuredContent'] !== undefined) return null
  return blocksOutput(output['content'], content => ({ ...output, content }))
}

function blocksOutput(
  blocks: readonly unknown[],
  put: (blocks: readonly unknown[]) => unknown,
): ToolOutput | null {
  const texts = blocks.flatMap(block => textOf(block) ?? [])
  if (texts.length === 0) return null
  return {
    texts,
    withTexts(others) {
      let next = 0
      const replaced = blocks.map(block => {
        const text = textOf(block)
        return text === null ? block : { ...(block as OutputMembers), text: others[next++] ?? text }
      })
      return put(replaced)
    },
  }
}

function textOf(block: unknown): string | null {
  if (!isMembers(block) || block['type'] !== 'text') return null
  const text = block['text']
  return typeof text === 'string' && text !== '' ? text : null
}

function isMembers(value: unknown): value is OutputMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
