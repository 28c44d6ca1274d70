// An agent without packages, whose only tie to its vendor is ANTHROPIC_BASE_URL: it has read the
// same list twice, and asks what to do next.
const rows = Array.from({ length: 100 }, (_, i) => ({ id: i, state: 'open', owner: 'mira' }))
const results = ['a', 'b'].map(id => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'list_issues', input: {} }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: JSON.stringify(rows) }],
  },
])
const messages = [{ role: 'user', content: 'Look.' }, ...results.flat()]
const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-none' },
  body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }),
})
const { content } = await response.json()
console.log(content[0].text)
