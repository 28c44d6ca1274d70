import { readJsonText } from '../../core/base/read-text.ts'

/** More than an answer of a model. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** Where a model answers: any service that speaks OpenAI's chat completions. */
export interface ChatEndpoint {
  /** For example `http://127.0.0.1:11434/v1`. */
  readonly url: string
  readonly model: string
  readonly key: string | undefined
}

/** An endpoint's refusal to answer. */
export class ChatRefusal extends Error {
  readonly status: number
  /** How long to wait before the next request; `null` if it does not say. */
  readonly retryAfterMs: number | null

  constructor(url: string, status: number, retryAfter: string | null) {
    super(`${url} answers ${status}`)
    this.status = status
    const seconds = retryAfter === null ? Number.NaN : Number(retryAfter)
    this.retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : null
  }
}

/**
 * The model's answer to one message after an instruction, at temperature 0.
 * @throws ChatRefusal if the endpoint answers with an error
 * @throws Error if it does not answer, or not as the API says
 */
export async function completeChat(
  { url, model, key }: ChatEndpoint,
  instruction: string,
  message: string,
): Promise<string> {
  const response = await fetch(`${url.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({
      model,
      temperature: 0,
      messages: [
        { role: 'system', content: instruction },
        { role: 'user', content: message },
      ],
    }),
  })
  if (!response.ok) {
    throw new ChatRefusal(url, response.status, response.headers.get('retry-after'))
  }
  const body = (await readJsonText(response.body, MAX_ANSWER_BYTES)) as {
    choices?: { message?: { content?: unknown } }[]
  }
  const content = body.choices?.[0]?.message?.content
  if (typeof content !== 'string') throw new Error(`${url} answers in another shape`)
  return content
}
