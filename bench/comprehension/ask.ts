/** Where a model answers: any service that speaks OpenAI's chat completions. */
export interface Endpoint {
  /** For example `http://127.0.0.1:11434/v1`. */
  readonly url: string
  readonly model: string
  readonly key: string | undefined
}

const INSTRUCTION =
  'Answer the question from the data alone. Give only the answer, without explanation. Separate several values by commas.'

/**
 * The model's answer to a question about a text. Throws where the endpoint does not answer as
 * agreed.
 */
export async function ask(endpoint: Endpoint, data: string, question: string): Promise<string> {
  const { url, model, key } = endpoint
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
        { role: 'system', content: INSTRUCTION },
        { role: 'user', content: `${data}\n\nQuestion: ${question}` },
      ],
    }),
  })
  if (!response.ok) throw new Error(`the model's endpoint answered ${response.status}`)
  const { choices } = (await response.json()) as {
    choices: readonly { message: { content: string } }[]
  }
  const [choice] = choices
  if (choice === undefined) throw new Error("the model's endpoint gave no answer")
  return choice.message.content
}
