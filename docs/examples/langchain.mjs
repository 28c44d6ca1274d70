/**
 * An agent of one tool, with LangChain: npm install @langchain/core @langchain/openai zod
 *
 * Its only tie to Haversack is the base URL: OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1
 */
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { listOrders } from './list-orders.mjs'

const orders = tool(input => JSON.stringify(listOrders(input)), {
  name: 'list_orders',
  description: 'Lists the orders of a customer',
  schema: z.object({ customer: z.string() }),
})
const model = new ChatOpenAI({ model: 'gpt-5' }).bindTools([orders])

const messages = [new HumanMessage('Which orders of Ada were lost?')]
for (;;) {
  const answer = await model.invoke(messages)
  messages.push(answer)
  if (!answer.tool_calls?.length) {
    console.log(answer.text)
    break
  }
  for (const call of answer.tool_calls) messages.push(await orders.invoke(call))
}
