/**
 * An agent of one tool, with the AI SDK of Vercel: npm install ai @ai-sdk/openai zod
 *
 * Its only tie to Haversack is the base URL: OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1
 */
import { openai } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { listOrders } from './list-orders.mjs'

const { text } = await generateText({
  model: openai.chat('gpt-5'),
  prompt: 'Which orders of Ada were lost?',
  tools: {
    list_orders: tool({
      description: 'Lists the orders of a customer',
      inputSchema: z.object({ customer: z.string() }),
      execute: listOrders,
    }),
  },
  stopWhen: stepCountIs(5),
})
console.log(text)
