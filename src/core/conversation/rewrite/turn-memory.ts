import type { Checkpoint } from '../../dialects/bodies/conversation-reader.ts'
import type { RouteName } from '../../dialects/lookup.ts'
import type { JsonNode } from '../../json/bytes/json-node.ts'
import type { ReadLimits } from '../../json/bytes/read-json.ts'
import { type ScannedRequest, scanRequest } from '../parse/scan-request.ts'
import { commonBytes } from '../parse/shared-messages.ts'

/** A turn of a conversation as it was read, and how its results are named. */
export interface Turn {
  readonly scanned: ScannedRequest
  /** Terms that the names depend on besides the body. */
  readonly terms: string
  /** The key of each result. */
  readonly keys: readonly string[]
}

/**
 * The turns that a thread has read lately: the next one of a conversation begins with the same
 * bytes.
 */
export interface TurnMemory {
  /**
   * Scans a body like `scanRequest`, but skips messages that an earlier turn has at the same place.
   */
  scan(body: Uint8Array, route: RouteName, limits: ReadLimits): ScannedRequest | null
  /**
   * Names of the first results of the last scan, as far as an earlier turn had the same messages
   * and terms.
   */
  knownKeys(scanned: ScannedRequest, terms: string): readonly string[]
  /** Remembers the last scan, in place of the turn that it continues, or of the oldest. */
  keep(turn: Turn): void
}

/** The turns of all tenants that a thread has read lately, within one bound. */
export interface TurnMemories {
  /**
   * The turns of one tenant. A body is only ever compared with turns of its own tenant, so that the
   * time of a scan reveals nothing about what others have sent.
   */
  of(tenant: string): TurnMemory
}

/** Larger bodies are not remembered, nor those of which more was read. */
const MAX_TURN_BYTES = 4 * 1024 * 1024
/** Bytes of all turns that are remembered. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** Approximate memory of a node in bytes; in a body a node may have three bytes. */
const NODE_BYTES = 88
/** Messages at the end of a turn in which the next one may differ, by breakpoints that moved. */
const CHANGING_MESSAGES = 3

/** The last scan, and the turn that it has most in common with. */
interface Comparison {
  readonly route: RouteName
  readonly scanned: ScannedRequest
  readonly earlier: KeptTurn | null
  /** Messages that both begin with, read once. */
  readonly messages: number
}

interface KeptTurn extends Pick<ScannedRequest, 'body' | 'read' | 'checkpoint'> {
  readonly tenant: string
  readonly route: RouteName
  readonly terms: string
  readonly keys: readonly string[]
  /** The message that each result is in. */
  readonly messageOf: readonly number[]
  /** Approximate memory of the nodes of each message, in bytes. */
  readonly nodeBytes: readonly number[]
  /** The bytes of the body, or of what was read of it, whichever are more. */
  readonly bytes: number
}

/**
 * @param turns that are remembered at most, of one conversation each; together in up to 32 MiB, and
 * as much again for what was read of them
 * @param options.free called with the body of each turn that is forgotten; absent: V8 finds out by
 * itself
 */
export function createTurnMemories(
  turns: number,
  { free }: { free?(body: Uint8Array): void } = {},
): TurnMemories {
  /** The one used last comes first. */
  const kept: KeptTurn[] = []

  /** @param next remembered instead; two turns may have come in one buffer */
  function forget(place: number, next: KeptTurn): number {
    const { body, bytes } = kept.splice(place, 1)[0]!
    if (body.buffer !== next.body.buffer) free?.(body)
    return bytes
  }

  /** Adds a turn, in place of the one that it continues, and drops the oldest beyond the bounds. */
  function keep(turn: KeptTurn, continued: KeptTurn | null): void {
    // Since it was compared, another tenant's turn may have pushed it out.
    const place = continued === null ? -1 : kept.indexOf(continued)
    if (place !== -1) forget(place, turn)
    kept.unshift(turn)
    let total = kept.reduce((sum, each) => sum + each.bytes, 0)
    while (kept.length > turns || total > MAX_KEPT_BYTES) {
      total -= forget(kept.length - 1, turn)
    }
  }

  return { of: tenant => turnsOf(tenant, kept, keep) }
}

function turnsOf(
  tenant: string,
  kept: readonly KeptTurn[],
  keep: (turn: KeptTurn, continued: KeptTurn | null) => void,
): TurnMemory {
  let last: Comparison | null = null

  /** The turn of the tenant that begins with most of the bytes of a body. */
  function closest(body: Buffer, route: RouteName) {
    let earlier: KeptTurn | null = null
    let bytes = 0
    for (const turn of kept) {
      if (turn.tenant !== tenant || turn.route !== route) continue
      // To have more in common it must have this byte too, which other conversations rarely do.
      if (turn.body[bytes] !== body[bytes]) continue
      const common = commonBytes(turn.body, body)
      if (common > bytes) [earlier, bytes] = [turn, common]
    }
    return { earlier, bytes }
  }

  return {
    scan(body, route, limits) {
      last = null
      const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      const { earlier, bytes } = closest(view, route)
      const { read: items, checkpoint } = earlier ?? NOTHING
      const scanned = scanRequest(body, route, limits, { items, bytes, checkpoint })
      if (scanned === null) return null
      const differing = scanned.read.findIndex((node, index) => node !== items[index])
      const messages = differing === -1 ? scanned.read.length : differing
      last = { route, scanned, earlier, messages }
      return scanned
    },
    knownKeys(scanned, terms) {
      if (last?.scanned !== scanned || last.earlier?.terms !== terms) return []
      const { messages, earlier } = last
      const end = earlier.messageOf.findIndex(message => message >= messages)
      return end === -1 ? earlier.keys : earlier.keys.slice(0, end)
    },
    keep({ scanned, terms, keys }) {
      const { body, read, results, checkpoint } = scanned
      if (last?.scanned !== scanned) return
      const { route, earlier, messages } = last
      const known = earlier?.nodeBytes.slice(0, messages) ?? []
      const nodeBytes = [...known, ...read.slice(messages).map(node => sizeOf([node]))]
      const readBytes = nodeBytes.reduce((sum, each) => sum + each, checkpointBytes(checkpoint))
      const bytes = Math.max(body.length, readBytes)
      if (bytes > MAX_TURN_BYTES) return
      const isContinued = earlier !== null && messages >= earlier.read.length - CHANGING_MESSAGES
      const messageOf = results.map(({ message }) => message)
      const names = { terms, keys, messageOf }
      const turn = {
        tenant,
        route,
        body: alone(body),
        read,
        checkpoint,
        ...names,
        nodeBytes,
        bytes,
      }
      keep(turn, isContinued ? earlier : null)
    },
  }
}

/** Bytes that nodes take, with all below them. */
function sizeOf(nodes: readonly JsonNode[]): number {
  return nodes.reduce((sum, { members, items, others }) => {
    const inner = sizeOf(members ?? NONE) + sizeOf(items ?? NONE) + sizeOf(others ?? NONE)
    return sum + NODE_BYTES + inner
  }, 0)
}

const NONE: readonly JsonNode[] = []
const NOTHING = { read: NONE, checkpoint: null }

/** Approximate memory of a call or a result in bytes. */
const FOUND_BYTES = 200

function checkpointBytes(checkpoint: Checkpoint | null): number {
  if (checkpoint === null) return 0
  const { found, forPrograms, breakpoints, calls } = checkpoint
  const count = found.length + forPrograms.length + breakpoints.length + calls.size
  return FOUND_BYTES * count
}

/** Copies the bytes if they are a part of a larger buffer, so that this buffer can be freed. */
function alone(body: Buffer): Buffer {
  return body.buffer.byteLength > 2 * body.length ? Buffer.from(body) : body
}
