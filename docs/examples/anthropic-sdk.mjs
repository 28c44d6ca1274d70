/**
 * An agent of one tool, with Anthropic's SDK: npm install @anthropic-ai/sdk
 *
 * Its only tie to Haversack is the base URL: ANTHROPIC_BASE_URL=http://127.0.0.1:8787/anthropic
 */
import Anthropic from '@anthropic-ai/sdk'
import { listOrders } from './list-orders.mjs'

const tools = [
  {
    name: 'list_orders',
    description: 'Lists the orders of a customer',
    input_schema: {
      type: 'object',
      properties: { customer: { type: 'string' } },
      required: ['customer'],
    },
  },
]
const client = new Anthropic()

const messages = [{ role: 'user', content: 'Which orders of Ada were lost?' }]
for (;;) {
  const { content } = await client.messages.create({
    model: 'claude-sonnet-4-5',
    max_tokens: 1_000,
    tools,
    messages,
  })
  messages.push({ role: 'assistant', content })
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length === 0) {
    console.log(content.map(({ text = '' }) => text).join(''))
    break
  }
  const results = calls.map(({ id, input }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: JSON.stringify(listOrders(input)),
  }))
  messages.push({ role: 'user', content: results })
}
