import { randomBytes, timingSafeEqual } from 'node:crypto'
import { processEnv } from '../config/env.ts'
import { isLoopback } from '../config/loopback.ts'
import { readSecret } from '../runtime/secret-file.ts'
import {
  CHALLENGE_HEADER,
  PROOF_HEADER,
  proofOf,
  SECRET_BYTES,
  SERVICE_HEADER,
  serviceSecretFile,
} from '../runtime/service-proof.ts'

/** Longest wait for the first answer, in milliseconds. */
const PATIENCE_MS = 5_000
/** Names of other programs are cut after so many characters. */
const NAME_CHARS = 60

/** How an answer is got: its status and its headers. */
export type AskWho = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<{ readonly status: number; header(name: string): string | null }>

const askByFetch: AskWho = async (url, headers, signal) => {
  const answer = await fetch(url, { headers, redirect: 'manual', signal })
  // It may be of any length.
  await answer.body?.cancel()
  return { status: answer.status, header: name => answer.headers.get(name) }
}

interface IdentifyOptions {
  readonly signal?: AbortSignal | null
  readonly mustProve?: boolean
  readonly ask?: AskWho
}

/**
 * Asks who answers at the URL of a service, before a key or content is sent there.
 * @param base without a slash at its end
 * @param options mustProve: whether a service on this machine must have the secret of the user
 * @throws Error if none answers, if that is no Haversack, or if it does not prove what it must
 */
export async function identifyService(
  base: string,
  { signal: given, mustProve = false, ask = askByFetch }: IdentifyOptions = {},
): Promise<void> {
  const challenge = randomBytes(32).toString('hex')
  const limit = AbortSignal.timeout(PATIENCE_MS)
  const signal = given ? AbortSignal.any([given, limit]) : limit
  let answer: Awaited<ReturnType<AskWho>>
  try {
    answer = await ask(new URL(`${base}/livez`), { [CHALLENGE_HEADER]: challenge }, signal)
  } catch (error) {
    throw new Error(`no service answers at ${shown(base)}`, { cause: error })
  }
  if (answer.header(SERVICE_HEADER) === null) {
    throw new Error(
      `another program answers at ${shown(base)}, no Haversack${nameOf(answer)}: ` +
        'give --url or HAVERSACK_URL, or start the service with another --port',
    )
  }
  if (!mustProve || !isLoopback(new URL(base).hostname)) return
  if (!isProof(answer.header(PROOF_HEADER) ?? '', challenge, portOf(base))) {
    throw new Error(
      `what answers at ${shown(base)} is not this user's service: it does not know ` +
        serviceSecretFile(processEnv()),
    )
  }
}

function isProof(proof: string, challenge: string, port: number): boolean {
  const secret = readSecret(serviceSecretFile(processEnv()), SECRET_BYTES)
  if (secret === null) return false
  const expected = Buffer.from(proofOf(secret, challenge, port))
  const given = Buffer.from(proof)
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

function portOf(base: string): number {
  const { port, protocol } = new URL(base)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** The URL without what may be secret in it. */
function shown(base: string): string {
  return new URL(base).origin
}

function nameOf({ status, header }: Awaited<ReturnType<AskWho>>): string {
  const name = header('server') ?? header('x-powered-by')
  const location = header('location')
  if (location !== null) return ` (it redirects to ${URL.parse(location)?.host ?? 'another path'})`
  return name === null ? ` (status ${status})` : ` (${name.slice(0, NAME_CHARS)})`
}
