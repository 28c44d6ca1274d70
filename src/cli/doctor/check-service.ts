import { identifyService } from '../../console/identify-service.ts'
import { readJsonText, readText } from '../../core/base/read-text.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 3_000
/** A clock that is off by more is reported, in milliseconds. */
const MAX_CLOCK_OFF_MS = 30_000
/** More than the answers that are asked for. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const MS_A_MINUTE = 60_000

export interface ServiceToCheck {
  readonly url: string
  readonly key: string | undefined
}

/** Whether a service answers, takes the key, has the same time, and has seen requests. */
export async function checkService({ url, key }: ServiceToCheck): Promise<Finding[]> {
  const ready = await ask(`${url}/readyz`)
  if (ready === null) {
    return [fail('service', `nothing answers at ${url}`, 'start it: haversack serve')]
  }
  const other = await identifyService(url, { mustProve: true }).then(
    () => null,
    (error: unknown) => (error as Error).message,
  )
  if (other !== null) {
    return [fail('service', other, 'give --url or HAVERSACK_URL, or start: haversack serve')]
  }
  // A body may break off, or not come in time.
  const text = await readText(ready.body, MAX_ANSWER_BYTES).catch(() => '')
  const service = ready.ok
    ? ok('service', `${url} answers`)
    : fail(
        'service',
        `${url} answers ${ready.status}: ${text.trim().slice(0, 100)}`,
        'see the log of the service',
      )
  return [service, clock(ready), ...(await checkAccounts(url, key))]
}

function clock(response: Response): Finding {
  const theirs = Date.parse(response.headers.get('date') ?? '')
  const off = Math.abs(theirs - Date.now())
  if (Number.isNaN(off)) return ok('clock', 'the service sends no time')
  if (off <= MAX_CLOCK_OFF_MS) return ok('clock', 'the same as that of the service')
  const seconds = Math.round(off / 1_000)
  return warn('clock', `${seconds} s off that of the service`, 'set both: lives of records differ')
}

async function checkAccounts(url: string, key: string | undefined): Promise<Finding[]> {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  const response = await ask(`${url}/v1/savings?limit=1`, { headers })
  if (response?.status === 401 || response?.status === 403) {
    const advice = 'set HAVERSACK_KEY to a key with the scope proxy'
    return [
      fail(
        'key',
        `${url} refuses ${key === undefined ? 'requests without a key' : 'the key'}`,
        advice,
      ),
    ]
  }
  if (response?.ok !== true) {
    return [fail('key', `/v1/savings answers ${response?.status ?? 'nothing'}`, 'is it Haversack?')]
  }
  const answer = (await readJsonText(response.body, MAX_ANSWER_BYTES).catch(
    () => null,
  )) as Partial<Accounts> | null
  const last = answer?.conversations?.[0]?.last_at
  const key_ = ok('key', key === undefined ? 'none is needed' : 'taken')
  if (typeof last === 'number') return [key_, ok('requests', `the last one ${sinceThen(last)}`)]
  return [key_, warn('requests', 'no conversation has been seen yet', 'send one through an agent')]
}

interface Accounts {
  readonly conversations: readonly { readonly last_at: number }[]
}

function sinceThen(time: number): string {
  const minutes = Math.max(0, Math.round((Date.now() - time) / MS_A_MINUTE))
  return minutes === 0 ? 'within a minute' : `${minutes.toLocaleString('en-US')} minutes ago`
}

/** Whether a vendor can be reached; any answer will do. */
export async function checkUpstream(name: string, base: string): Promise<Finding> {
  const { host } = new URL(base)
  const response = await ask(base, { method: 'HEAD', redirect: 'manual' })
  if (response !== null) return ok(`upstream ${name}`, `${host} answers`)
  const advice = 'check the URL, the network and HTTPS_PROXY'
  return fail(`upstream ${name}`, `${host} cannot be reached`, advice)
}

async function ask(url: string, init: RequestInit = {}): Promise<Response | null> {
  try {
    return await fetch(url, {
      redirect: 'manual',
      ...init,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
  } catch {
    return null
  }
}
