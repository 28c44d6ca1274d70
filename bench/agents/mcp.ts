import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientProfile } from '../../src/mcp/client/client-profile.ts'
import { HAVERSACK, runAgent, type Subject } from './run-agent.ts'
import { toolsOf } from './vendor.ts'

const FORMS_SERVER = fileURLToPath(new URL('both-forms-server.ts', import.meta.url))
/** Until the server is there, for agents that do not wait for it. */
const PATIENCE = { command: 'sleep 12' }

const call = (name: string, args: object = {}) => ({ tool: `mcp__forms__${name}`, args })

/** Lets an agent call tools of a server. Returns the texts of the requests that its vendor got. */
async function callTools(
  subject: Subject,
  calls: readonly ReturnType<typeof call>[],
  server: (home: string) => readonly string[],
): Promise<readonly string[]> {
  const names = calls.map(({ tool }) => tool)
  const more = (home: string) => subject.client.serve(home, server(home), names)
  const { requests } = await runAgent(subject, { script: [PATIENCE, ...calls], more })
  return requests.map(body => Buffer.from(body).toString())
}

/** Whether the request after a call has a text more often than the one before it. */
function isShown(requests: readonly string[], at: number, text: string): boolean {
  const [before, after] = [1, 2].map(more => requests[at + more]?.split(text).length ?? 1)
  return after! > before!
}

/**
 * Which form of a result with both an agent shows its model, without the gateway, and what the
 * gateway takes it for.
 */
export async function shownForms(subject: Subject): Promise<object> {
  const calls = ['form_free', 'form_declared'].map(name => call(name))
  const requests = await callTools(subject, calls, () => [process.execPath, FORMS_SERVER])
  const [, name = ''] = /given-as-\w+ to ([\w.-]+)/.exec(requests.at(-1) ?? '') ?? []
  const [free, declared] = calls.map((_, at) => {
    const forms = ['text', 'structured'].filter(form => isShown(requests, at, `given-as-${form}`))
    return forms.length === 2 ? 'both' : (forms[0] ?? 'none')
  })
  const profile = clientProfile(name).showsStructured ? 'structured' : 'text'
  return { 'as a client': name, shown: free, 'with a schema': declared, profile }
}

/** What a model does with the tools of the gateway, and what each answer must have. */
const SEARCHED = [
  ['found', call('find_tools', { query: 'form' }), 'Tells the form of an answer.'],
  ['read', call('call_read_tool', { name: 'form_free', arguments: {} }), 'given-as-'],
  ['written', call('call_tool', { name: 'form_kept', arguments: {} }), 'given-as-'],
  ['told of none', call('call_read_tool', { name: 'none', arguments: {} }), 'There is no tool'],
] as const

/** The same behind `haversack mcp` with search: how many tools are listed, what was answered. */
export async function searchedTools(subject: Subject): Promise<object> {
  const calls = SEARCHED.map(([, each]) => each)
  const requests = await callTools(subject, calls, home => {
    const config = join(home, 'haversack.toml')
    const args = JSON.stringify([FORMS_SERVER])
    const server = `command = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`
    const table = `[mcp.servers.one]\ntrusted = true\n${server}`
    writeFileSync(config, `[mcp.search]\nmode = "always"\n\n${table}`)
    return [...HAVERSACK, 'mcp', '--config', config, '--data-dir', join(home, 'data')]
  })
  const listed = toolsOf(JSON.parse(requests[1] ?? '{}') as Parameters<typeof toolsOf>[0])
  const answered = SEARCHED.map(([name, , text], at) => {
    return [name, isShown(requests, at, text) ? 'yes' : 'no']
  })
  const count = listed.filter(name => name.includes('forms')).length
  return { 'tools listed': count, ...Object.fromEntries(answered) }
}
