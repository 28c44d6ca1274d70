import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { LEGACY_VERSIONS } from '../client/client-session.ts'
import { readMessage, shortened } from '../json-rpc.ts'
import { META } from '../upstream/envelope.ts'
import type { HttpExchange, HttpFront, HttpReply } from './http-exchange.ts'
import { emptyReply, refusal } from './http-replies.ts'

/** Codes of the revision 2026-07-28. */
const UNSUPPORTED_VERSION = -32022

export interface EraFronts {
  readonly legacy: HttpFront
  /** For clients of the revision 2026-07-28; `null` if they are not served. */
  readonly modern: HttpFront | null
}

/** Gives each request to the front of its client's era. */
export function createEraDispatch({ legacy, modern }: EraFronts): HttpFront {
  return {
    async answer(exchange) {
      const version = exchange.header('mcp-protocol-version')?.trim() ?? null
      if (exchange.method !== 'POST') {
        const hasSession = exchange.header('mcp-session-id') !== null
        const isLegacy = hasSession || !isModernVersion(version)
        return isLegacy ? legacy.answer(exchange) : emptyReply(405, { allow: 'POST' })
      }
      await checkLargeJson(exchange.body)
      const claim = claimOf(exchange.body)
      if (claim === null && !isModernVersion(version)) return legacy.answer(exchange)
      return modern === null ? unsupported(exchange, claim ?? version) : modern.answer(exchange)
    },
    async close() {
      await Promise.all([legacy.close(), modern?.close()])
    },
  }
}

const CLAIM = members({ params: members({ _meta: members({ [META.protocolVersion]: RANGE }) }) })
/** Part of the claim's name. What has no such text is not read. */
const CLAIM_TEXT = 'protocolVersion'

/** The revision that a request claims to be of; `null` if it claims none. */
function claimOf(body: JsonBytes): string | null {
  if (!body.includes(CLAIM_TEXT)) return null
  const limits = { maxBytes: body.length, maxDepth: 10_000, maxValues: 16 }
  const root = readJson(body, CLAIM, limits) ?? undefined
  const meta = memberOf(memberOf(root, 'params'), '_meta')
  return textOf(body, memberOf(meta, META.protocolVersion)) ?? null
}

/** Revisions are named by dates. */
function isModernVersion(version: string | null): boolean {
  return version !== null && /^\d{4}-\d\d-\d\d$/.test(version) && version > LEGACY_VERSIONS[0]
}

function unsupported({ body }: HttpExchange, requested: string | null): HttpReply {
  const message = readMessage(body)
  return refusal(400, {
    id: message?.kind === 'request' ? message.id : null,
    code: UNSUPPORTED_VERSION,
    message: `version ${requested} is not supported`,
    data: { supported: LEGACY_VERSIONS, requested: requested && shortened(requested) },
  })
}
