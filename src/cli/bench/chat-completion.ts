import { readJsonText } from '../../core/base/read-text.ts'

/** More than an answer of a model. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** Where a model answers: any service that speaks OpenAI's chat completions. */
export interface Endpoint {
  /** For example `http://127.0.0.1:11434/v1`. */
  readonly url: string
  readonly model: string
  readonly key: string | undefined
}

/**
 * The model's answer to one message after an instruction, at temperature 0.
 * @throws Error if the endpoint does not answer, or not as the API says
 */
export async function completeChat(
  { url, model, key }: Endpoint,
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
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  const body = (await readJsonText(response.body, MAX_ANSWER_BYTES)) as {
    choices?: { message?: { content?: unknown } }[]
  }
  const content = body.choices?.[0]?.message?.content
  if (typeof content !== 'string') throw new Error(`${url} answers in another shape`)
  return content
}
