import { setTimeout } from 'node:timers/promises'
import { type Env, processEnv } from '../config/env.ts'
import { isLoopback } from '../config/loopback.ts'
import { urlFault } from '../config/url-fault.ts'
import { readJsonText } from '../core/base/read-text.ts'
import { type Options, UsageError, type ValuesOf } from './command.ts'
import { identifyService } from './identify-service.ts'

/** More than any answer of a service. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024

/** Where a service listens if nothing else is said. */
export const DEFAULT_SERVICE_URL = 'http://127.0.0.1:8787'

/**
 * The service of an agent that calls us: the one that is named, or that of its own base URL.
 * `undefined` for a base URL on another machine: that may be anything, and shall get neither keys
 * nor results.
 */
export function agentService(env: Env): string | undefined {
  const named = env['HAVERSACK_URL']
  if (named) return named
  // As its dialect has it, which a hook need not load.
  const baseUrl = env['ANTHROPIC_BASE_URL']
  if (!baseUrl) return DEFAULT_SERVICE_URL
  if (!isLoopback(URL.parse(baseUrl)?.hostname ?? '')) return undefined
  return /^(.+)\/anthropic\/?$/.exec(baseUrl)?.[1] ?? DEFAULT_SERVICE_URL
}

/** The option of commands that may be called by an agent, or behind one. */
export const agentServiceOption = {
  type: 'string',
  value: 'URL',
  help: 'The service (default HAVERSACK_URL, else that of the base URL of the agent)',
} as const

/** The options by which every command names a service. */
export const serviceOptions = {
  url: { type: 'string', value: 'URL', help: 'The service (default HAVERSACK_URL)' },
  key: { type: 'string', value: 'KEY', help: 'Key for it (default HAVERSACK_KEY)' },
} as const satisfies Options

type ServiceValues = ValuesOf<typeof serviceOptions>

/** The error of a service that refused a request. */
export class ServiceProblem extends Error {
  readonly status: number
  readonly code: string
  readonly detail: string
  /** Seconds after which the same request may come again; `null` if it may not. */
  readonly retryAfterS: number | null

  constructor(path: string, response: Response, { code, detail }: Record<string, unknown>) {
    const { status, headers } = response
    super(`${path}: ${status} ${code}: ${detail}`)
    this.retryAfterS = Number(headers.get('retry-after')) || null
    this.status = status
    this.code = String(code)
    this.detail = String(detail)
  }
}

/**
 * A running service. Both reject with `ServiceProblem`, or with an `Error` if nothing of ours
 * answers.
 */
export interface ServiceClient {
  get<Answer>(path: string, query?: Readonly<Record<string, string>>): Promise<Answer>
  post<Answer>(path: string, request: object): Promise<Answer>
}

/** The service that `--url`, else `HAVERSACK_URL` names, or `undefined`. */
export function namedService(values: ServiceValues): ServiceClient | undefined {
  const base = values.url ?? (processEnv()['HAVERSACK_URL'] || undefined)
  return base === undefined ? undefined : serviceAt(base, values)
}

interface AskOptions {
  readonly signal?: AbortSignal | null
  /** Whether a service on this machine must prove that it is the user's, before it gets a byte. */
  readonly mustProve?: boolean
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The service at `base`, with the key of `--key`, else `HAVERSACK_KEY`. Its requests end with
 * `signal`.
 * @throws UsageError if `base` is no URL
 */
export function serviceAt(
  base: string,
  values: Partial<ServiceValues>,
  { signal = null, mustProve = false, headers: own = {} }: AskOptions = {},
): ServiceClient {
  const fault = urlFault(base)
  if (fault !== null) throw new UsageError(`the URL ${base} ${fault}`)
  const key = values.key ?? processEnv()['HAVERSACK_KEY']
  const headers = { ...own, ...(key === undefined ? {} : { 'x-api-key': key }) }
  const root = base.replace(/\/+$/, '')
  let known: Promise<void> | undefined

  async function ask<Answer>(path: string, query: string, init: RequestInit): Promise<Answer> {
    known ??= identifyService(root, { signal, mustProve })
    await known
    const response = await reach(root + path + query, init)
    const { status } = response
    if (status >= 300 && status < 400) throw new Error(redirected(base, response))
    const answer = (await readJsonText(response.body, MAX_ANSWER_BYTES).catch(
      () => null,
    )) as Record<string, unknown> | null
    if (answer === null) throw new Error(`what answers at ${base} is no Haversack service`)
    if (!response.ok) throw new ServiceProblem(path, response, answer)
    return answer as Answer
  }

  async function reach(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { ...init, redirect: 'manual', signal })
    } catch (error) {
      throw new Error(`no service answers at ${base}`, { cause: error })
    }
  }

  return {
    get(path, query = {}) {
      const parameters = new URLSearchParams(query).toString()
      return ask(path, parameters === '' ? '' : `?${parameters}`, { headers })
    },
    post: (path, request) =>
      ask(path, '', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      }),
  }
}

/** A key must not follow to wherever an answer points. */
function redirected(base: string, { headers }: Response): string {
  const to = URL.parse(headers.get('location') ?? '', base)?.origin ?? 'elsewhere'
  return `${base} redirects to ${to}, which gets no key: give that URL if it is the service`
}

/** A service whose refusals say when to come back for so long is waited for. */
const PATIENCE_S = 60

/**
 * A client that repeats what a service refused because it had too much to do. Such a request was
 * not begun.
 */
export function patient(
  service: ServiceClient,
  pause: (ms: number) => Promise<unknown> = setTimeout,
): ServiceClient {
  async function repeated<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let waitedS = 0; ; ) {
      try {
        return await ask()
      } catch (error) {
        const isRefused = error instanceof ServiceProblem && [429, 503].includes(error.status)
        if (!isRefused || error.retryAfterS === null) throw error
        waitedS += error.retryAfterS
        if (waitedS > PATIENCE_S) throw error
        await pause(1000 * error.retryAfterS)
      }
    }
  }
  return {
    get: (path, query) => repeated(() => service.get(path, query)),
    post: (path, request) => repeated(() => service.post(path, request)),
  }
}
