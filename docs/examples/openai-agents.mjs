/**
 * An agent of one tool, with the Agents SDK of OpenAI: npm install @openai/agents zod
 *
 * Its only tie to Haversack is the base URL: OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1
 */
import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'
import { listOrders } from './list-orders.mjs'

// Conversations over Responses pass through Haversack as well.
setOpenAIAPI('chat_completions')
setTracingDisabled(true)

const agent = new Agent({
  name: 'orders',
  instructions: 'You answer questions about orders.',
  model: 'gpt-5',
  tools: [
    tool({
      name: 'list_orders',
      description: 'Lists the orders of a customer',
      parameters: z.object({ customer: z.string() }),
      execute: listOrders,
    }),
  ],
})
const { finalOutput } = await run(agent, 'Which orders of Ada were lost?')
console.log(finalOutput)
