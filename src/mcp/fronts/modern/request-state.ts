import { canonicalArguments } from '../../../core/enrich/call-key.ts'
import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { QUOTE } from '../../../core/json/char-codes.ts'
import { parseJson } from '../../../core/json/parse-json.ts'
import type { ServerRequest } from '../../gateway-options.ts'
import { member, textMember } from '../../members.ts'
import { NAMED_BY } from '../../upstream/http-headers.ts'
import type { McpCaller } from '../http-exchange.ts'
import type { Seal } from './seal.ts'

/** How long a client may take for its answers, in milliseconds. */
export const STATE_MS = 600_000

/** What a `requestState` of ours holds. */
export type RequestState =
  /** The state of a modern server: a JSON string, byte for byte. */
  | { readonly kind: 'server'; readonly state: JsonBytes }
  /** A call that waits for answers, by its id. */
  | { readonly kind: 'parked'; readonly id: string }

const KINDS = { server: 0x73, parked: 0x70 } as const
const EXPIRY_BYTES = 8

/**
 * Writes and reads the `requestState` that clients give back. One is good for ten minutes, for its
 * caller, and for the same call: server, method, name and arguments.
 */
export class RequestStates {
  readonly #seal: Seal
  readonly #now: () => number

  /** @param now milliseconds since 1970 */
  constructor(seal: Seal, now: () => number) {
    this.#seal = seal
    this.#now = now
  }

  /** @returns a JSON string */
  write(request: ServerRequest, caller: McpCaller, state: RequestState): string {
    const head = Buffer.alloc(EXPIRY_BYTES + 1)
    head.writeBigUInt64BE(BigInt(Math.ceil(this.#now()) + STATE_MS))
    head.writeUInt8(KINDS[state.kind], EXPIRY_BYTES)
    const body = state.kind === 'server' ? state.state : Buffer.from(state.id)
    const sealed = this.#seal.seal(purposeOf(request, caller), Buffer.concat([head, body]))
    return JSON.stringify(sealed)
  }

  /**
   * @param given a JSON value
   * @returns `null` for a state that was changed, is another's or another call's, or has expired
   */
  read(request: ServerRequest, caller: McpCaller, given: JsonBytes): RequestState | null {
    if (given[0] !== QUOTE) return null
    const secret = this.#seal.open(purposeOf(request, caller), JSON.parse(given.toString()))
    if (secret === null || secret.readBigUInt64BE() < BigInt(Math.floor(this.#now()))) return null
    const body = secret.subarray(EXPIRY_BYTES + 1)
    return secret[EXPIRY_BYTES] === KINDS.server
      ? { kind: 'server', state: body }
      : { kind: 'parked', id: body.toString() }
  }
}

function purposeOf({ server, method, params }: ServerRequest, caller: McpCaller): string[] {
  const name = textMember(params, NAMED_BY[method] ?? 'name') ?? ''
  const { tenant, credential } = caller
  return ['requestState', tenant, credential, server, method, name, argumentsOf(params)]
}

/** Larger arguments have to come again as they were spelled. */
const MOST_READ_BYTES = 256 * 1024

/** The arguments as one text, however they are spelled. */
function argumentsOf(params: JsonBytes): string {
  const args = member(params, 'arguments')
  if (args == null) return ''
  const text = args.toString()
  if (args.length > MOST_READ_BYTES) return text
  const parsed = parseJson(text)
  return (parsed.ok ? canonicalArguments(parsed.value) : null) ?? text
}
