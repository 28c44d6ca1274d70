import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** An agent of Anthropic's API with one tool, which finds its base URL where Claude Code does. */
interface Block {
  readonly type: string
  readonly id?: string
  readonly text?: string
}

/** Some minutes, since a busy machine starts a service slowly. */
const MOST_TRIES = 3_000
const PAUSE_MS = 100

/** The file comes before the environment. */
function baseUrl(): string {
  try {
    const file = join(homedir(), '.claude', 'settings.json')
    return JSON.parse(readFileSync(file, 'utf8')).env.ANTHROPIC_BASE_URL
  } catch {
    return process.env['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com'
  }
}

/** As vendors' clients do, it tries again while nothing answers. */
async function send(body: object, tries = MOST_TRIES): Promise<readonly Block[]> {
  try {
    const response = await fetch(`${baseUrl()}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-none' },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { readonly content: readonly Block[] }).content
  } catch (error) {
    if (tries === 0) throw error
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    return send(body, tries - 1)
  }
}

const ORDERS = Array.from({ length: 100 }, (_, i) => ({
  ...{ id: i + 1, customer: 'Ada', total: 10 * (i + 1) },
  state: i % 7 === 6 ? 'lost' : 'sent',
}))
const tools = [{ name: 'list_orders', input_schema: { type: 'object' } }]
const messages: object[] = [{ role: 'user', content: process.argv.at(-1) }]
for (;;) {
  const content = await send({ model: 'claude-sonnet-4-5', max_tokens: 1_000, tools, messages })
  messages.push({ role: 'assistant', content })
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length === 0) {
    console.log(content.map(({ text }) => text).join(''))
    break
  }
  const results = calls.map(({ id }) => {
    return { type: 'tool_result', tool_use_id: id, content: JSON.stringify(ORDERS) }
  })
  messages.push({ role: 'user', content: results })
}
