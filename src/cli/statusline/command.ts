import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { defineCommand } from '../../console/command.ts'
import { identifyService } from '../../console/identify-service.ts'
import { readJsonText, readText } from '../../core/base/read-text.ts'
import type { SavingsAnswer } from '../../core/contract/savings.ts'
import {
  type AskedService,
  answerAgent,
  calledOptions,
  readEvent,
} from '../hook/called-by-agent.ts'

/** The agent draws its screen meanwhile: the longest wait, in milliseconds. */
const DEADLINE_MS = 1_000

export const statuslineCommand = defineCommand({
  name: 'statusline',
  outlivesReader: true,
  details:
    'Claude Code calls it: haversack setup claude --statusline. It reads the session on stdin. ' +
    'If nothing is known of the session, or anything fails, it prints nothing and its exit code ' +
    'is 0.',
  examples: ['statusline', 'statusline --url http://127.0.0.1:8787'],
  operands: '',
  maxOperands: 0,
  options: calledOptions,
  run: values => answerAgent(values, runStatusLine),
})

/** Reads an event and answers it, within a time. @throws whatever keeps it from that */
export async function runStatusLine(
  input: Readable,
  { url, key, deadlineMs = DEADLINE_MS }: AskedService,
): Promise<string | null> {
  const signal = AbortSignal.timeout(deadlineMs)
  const session = sessionOf(await readEvent(input, signal))
  const base = url.replace(/\/+$/, '')
  const asked = new URL(`${base}/v1/savings`)
  const isPlain = asked.protocol === 'http:'
  await identifyService(base, { signal, mustProve: true, ...(isPlain && { ask: askPlainly }) })
  asked.search = new URLSearchParams({ session, limit: '0' }).toString()
  return statusLine(await ask(asked, key, signal))
}

/** @throws Error if the event names no session */
function sessionOf(event: string): string {
  const { session_id } = JSON.parse(event) as { readonly session_id?: unknown }
  if (typeof session_id !== 'string') throw new Error('no session')
  return session_id
}

/** The figures of a session in a line; `null` if no request of it is known. */
function statusLine({ session }: Pick<SavingsAnswer, 'session'>): string | null {
  if (session === undefined || session.figures.requests.count === 0) return null
  const { results, billed } = session.figures
  const saved = Math.round(results.before - results.after).toLocaleString('en-US')
  const ofResults = `results ${change(results)} (${saved} tokens)`
  return `Haversack: ${ofResults}${billed === null ? '' : `, billed ${change(billed)}`}`
}

function change({ before, after }: { readonly before: number; readonly after: number }): string {
  const percent = before === 0 ? 0 : ((after - before) / before) * 100
  const text = Math.abs(percent).toFixed(1)
  if (text === '0.0') return '0 %'
  return `${percent < 0 ? '−' : '+'}${text} %`
}

/** @throws Error if no service answers, or it refuses */
async function ask(url: URL, key: string | undefined, signal: AbortSignal): Promise<SavingsAnswer> {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  if (url.protocol === 'http:') {
    const { status, body } = await askPlainly(url, headers, signal)
    if (status !== 200) throw new Error(`status ${status}`)
    return JSON.parse(body) as SavingsAnswer
  }
  const answer = await fetch(url, { headers, signal, redirect: 'error' })
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  return (await readJsonText(answer.body, MAX_ANSWER_BYTES)) as SavingsAnswer
}

/** More than the answer for one conversation. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** What a header may have: a line break in a key would begin another one. */
const VISIBLE = /^[\x21-\x7e]+$/

/**
 * Asks by HTTP/1.0, in which a server answers in one piece and ends the connection. To load the
 * module of HTTP takes longer than all of the rest.
 */
async function askPlainly(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const all = Object.entries({ host: url.host, ...headers })
  if (!all.every(([, value]) => VISIBLE.test(value))) throw new Error('a key that no header may be')
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.0`,
    ...all.map(([name, value]) => `${name}: ${value}`),
  ]
  const socket = connect({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 80),
    signal,
  })
  try {
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    const answer = await readText(socket, MAX_ANSWER_BYTES)
    const end = answer.indexOf('\r\n\r\n')
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1]
    if (status === undefined || end === -1) throw new Error('no answer')
    const head = answer.slice(0, end)
    const header = (name: string) =>
      new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1]?.trim() ?? null
    return { status: Number(status), header, body: answer.slice(end + 4) }
  } finally {
    socket.destroy()
  }
}
