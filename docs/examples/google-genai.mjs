/**
 * An agent of one tool, with Google's Gen AI SDK: npm install @google/genai
 *
 * Its only tie to Haversack is the base URL, with an upstream of the name `gemini`:
 * GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787/up/gemini
 */
import { GoogleGenAI, Type } from '@google/genai'
import { listOrders } from './list-orders.mjs'

const tools = [
  {
    functionDeclarations: [
      {
        name: 'list_orders',
        description: 'Lists the orders of a customer',
        parameters: { type: Type.OBJECT, properties: { customer: { type: Type.STRING } } },
      },
    ],
  },
]
const client = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY })

const contents = [{ role: 'user', parts: [{ text: 'Which orders of Ada were lost?' }] }]
for (;;) {
  const answer = await client.models.generateContent({
    model: 'gemini-2.5-pro',
    contents,
    config: { tools },
  })
  const { functionCalls: calls = [], candidates } = answer
  if (calls.length === 0) {
    console.log(answer.text)
    break
  }
  contents.push(candidates[0].content)
  const parts = calls.map(({ name, args }) => ({
    functionResponse: { name, response: { output: JSON.stringify(listOrders(args)) } },
  }))
  contents.push({ role: 'user', parts })
}
