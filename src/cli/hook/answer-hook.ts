import type { EncodeAnswer, EncodeRequest } from '../../core/contract/encode.ts'
import { type ServiceClient, ServiceProblem } from '../service-client.ts'
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
  if (event['hook_event_name'] === 'SessionStart') return warningOf(service)
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

/** Tells the user at the start of a session that no service answers; `null` if one does. */
async function warningOf(service: ServiceClient): Promise<string | null> {
  try {
    await service.get('/v1/savings', { limit: '0' })
    return null
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
