import { type ServiceClient, ServiceProblem } from '../../console/service-client.ts'
import type { ConfigAnswer } from '../../core/contract/config.ts'
import type { EncodeAnswer, EncodeRequest } from '../../core/contract/encode.ts'
import { LEGEND } from '../../core/reading/legend.ts'
import { isMembers, toolOutputOf } from './tool-output.ts'

/**
 * The text with which a hook answers Claude Code; `null` if it has nothing to say, so that the
 * tool's output stays.
 * @param json the event, from standard input
 * @throws what `service` throws; SyntaxError if it is not JSON
 */
export async function answerHook(json: string, service: ServiceClient): Promise<string | null> {
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
