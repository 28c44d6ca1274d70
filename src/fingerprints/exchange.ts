import { readText } from '../core/base/read-text.ts'
import { MEDIA_TYPES } from '../core/contract/envelope.ts'
import { validate } from '../core/contract/validate.ts'
import { type Fingerprint, WINDOW_DAYS } from '../core/fingerprints/fingerprint.ts'
import {
  type ProviderDocument,
  providerDocument,
  type TeamDocument,
  teamDocument,
  type UploadAnswer,
  uploadAnswer,
} from '../core/fingerprints/upload.ts'

/** A team of a service that fingerprints are sent to and fetched from. */
export interface Destination {
  /** Where the service is, without a slash at its end. */
  readonly url: string
  readonly team: string
  readonly key: string | undefined
}

/** A service that cannot be reached, or answers something else than it should. */
export class ExchangeError extends Error {}

const PATH = '/mcp/fingerprints/v1'
const TIMEOUT_MS = 30_000
/** More than the largest document that is sent. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const MAX_WORDS_CHARS = 500

/** @throws ExchangeError */
export async function push(
  to: Destination,
  member: string,
  rows: readonly Fingerprint[],
): Promise<UploadAnswer> {
  const answer = await ask(to, `/teams/${encodeURIComponent(to.team)}`, {
    method: 'POST',
    headers: { 'content-type': MEDIA_TYPES.json },
    body: JSON.stringify({ member, window_days: WINDOW_DAYS, endpoints: rows }),
  })
  return checked(to, () => validate(uploadAnswer, answer))
}

/** @throws ExchangeError */
export async function pullTeam(from: Destination): Promise<TeamDocument> {
  const answer = await ask(from, `/teams/${encodeURIComponent(from.team)}`, {})
  return checked(from, () => validate(teamDocument, answer))
}

/** @throws ExchangeError */
export async function pullProvider(
  from: Pick<Destination, 'url' | 'key'>,
  maxBytes = MAX_ANSWER_BYTES,
): Promise<ProviderDocument> {
  const answer = await ask(from, '', {}, maxBytes)
  return checked(from, () => validate(providerDocument, answer))
}

async function ask(
  { url, key }: Pick<Destination, 'url' | 'key'>,
  path: string,
  init: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
  maxBytes = MAX_ANSWER_BYTES,
): Promise<unknown> {
  const headers = { ...init.headers, ...(key === undefined ? {} : { 'x-api-key': key }) }
  let response: Response
  let text: string
  try {
    // Redirects are not followed, because the key is for this service only.
    response = await fetch(`${url}${PATH}${path}`, {
      ...init,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    text = await readText(response.body, maxBytes)
  } catch (error) {
    throw new ExchangeError(`${url} gives no answer: ${reasonOf(error)}`, { cause: error })
  }
  const answer = parsed(text)
  if (answer === undefined) throw new ExchangeError(`${url}: ${response.status}, and no JSON`)
  if (response.ok) return answer
  const { code, detail } = (answer ?? {}) as Record<string, unknown>
  throw new ExchangeError(`${url}: ${response.status} ${inLine(code)}: ${inLine(detail)}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of `fetch` has the reason only in its cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown }
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  return inLine(typeof code === 'string' ? code : message)
}

/** A text of another service, on one line and without control characters. */
function inLine(words: unknown): string {
  return String(words)
    .slice(0, MAX_WORDS_CHARS)
    .replace(/\p{Cc}/gu, '·')
}

function checked<T>({ url }: Pick<Destination, 'url'>, check: () => T): T {
  try {
    return check()
  } catch (error) {
    const why = error instanceof Error ? error.message : error
    throw new ExchangeError(`${url} answers something else: ${inLine(why)}`, { cause: error })
  }
}
