import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import {
  COUNTERS,
  createIndexMemory,
  HINT_FAMILIES,
} from '../../../../../src/core/sessions/index/layout.ts'
import { indexUse } from '../../../../../src/core/sessions/index/owners.ts'
import {
  ANSWERS,
  KINDS,
  type SessionIndex,
  type SessionKey,
  sessionKey,
  type Ticket,
  type Turn,
} from '../../../../../src/core/sessions/index/session-index.ts'
import { leastHits, runs } from '../../../../support/runs.ts'
import { auditIndex } from './audit.ts'
import { IndexModel, type ModelTicket, type ModelTurn } from './model.ts'

const SIZE = { maxSessions: 3, maxEntries: 7, shards: 1 }

/** Sessions of two tenants, with equal names. */
const names = fc.constantFrom('a s1', 'a s1', 'a s1', 'a s2', 'b s1', 'b s2', 'b s3')
/** Identities that have up to 63 digits in common. */
const identities = fc
  .constantFrom([0, '1'], [0, '2'], [8, '1'], [8, '2'], [9, 'a'], [31, '1'], [63, '1'], [63, '2'])
  .map(([common, digit]) => `${'c'.repeat(Number(common))}${digit}`.padEnd(64, `${digit}`))
const hashes = fc.constantFrom(-1, 1, 2)
const calls = fc.constantFrom(0, 1, 2, -3)
const pick = fc.nat({ max: 1000 })

const recorded = {
  identity: identities,
  call: calls,
  entry: fc.record({
    kind: fc.constantFrom(...KINDS),
    toolHash: hashes,
    pathHash: hashes,
    bytes: fc.nat({ max: 2 ** 32 - 1 }),
    answer: fc.constantFrom(...ANSWERS),
    of: fc.nat({ max: 9 }),
  }),
  lruSize: fc.constantFrom(1, 2, 3, 3, 9),
  committed: fc.constantFrom('kept', 'kept', 'refused', 'later'),
}

const operations = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('result' as const), name: names, ...recorded }),
  },
  fc.record({ op: fc.constant('record' as const), turn: pick, ...recorded }),
  fc.record({ op: fc.constant('begin' as const), name: names, identity: identities, call: calls }),
  fc.record({
    op: fc.constant('check' as const),
    turn: pick,
    identity: identities,
    tool: fc.option(hashes, { nil: undefined }),
  }),
  fc.record({ op: fc.constant('refer' as const), turn: pick, identity: identities, call: calls }),
  fc.record({ op: fc.constant('commit' as const), ticket: pick, kept: fc.boolean() }),
  fc.record({ op: fc.constant('entries' as const), name: names, pending: fc.boolean() }),
  fc.record({
    op: fc.constant('invalidate' as const),
    name: names,
    match: fc.record(
      { pathHash: hashes, toolHash: hashes, kind: fc.constantFrom(...KINDS) },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ op: fc.constant('compact' as const), name: names }),
  fc.record({
    op: fc.constant('count' as const),
    name: names,
    counter: fc.constantFrom(...COUNTERS),
    added: fc.constantFrom(0, 1, 70_000, 2 ** 31, 2 ** 32 - 2),
  }),
  fc.record({
    op: fc.constant('hint' as const),
    name: names,
    family: fc.nat({ max: HINT_FAMILIES - 1 }),
    max: fc.nat({ max: 3 }),
  }),
  fc.record({ op: fc.constant('close' as const), name: names }),
  fc.record({ op: fc.constant('idle' as const), age: fc.nat({ max: 20 }) }),
)

type Operation = typeof operations extends fc.Arbitrary<infer T> ? T : never

/** Both sides, and what they gave so far; turns and tickets are used long after their time, too. */
class Pair {
  readonly memory = createIndexMemory(SIZE)
  readonly index: SessionIndex = attachIndex(this.memory, { owner: 7 })
  readonly model = new IndexModel(SIZE.maxSessions, SIZE.maxEntries)
  readonly turns: [Turn, ModelTurn][] = []
  readonly tickets: [Ticket, ModelTicket][] = []
  readonly epochs = new Map<number, object>()
  timeMs = 0

  begin(name: string, callHash: number, identity: string): [Turn, ModelTurn] {
    const facts = { timeMs: this.timeMs, callHash, identity }
    const turn = this.index.begin(keyOf(name), facts)
    const modelTurn = this.model.begin(name, facts)
    for (const field of ['sequence', 'partition', 'answered', 'match'] as const) {
      expect(turn[field], field).toEqual(modelTurn[field])
    }
    // Equal epochs are the same life and partition of the same session.
    expect(this.epochs.get(turn.epoch) ?? modelTurn.epoch).toBe(modelTurn.epoch)
    this.epochs.set(turn.epoch, modelTurn.epoch)
    this.turns.push([turn, modelTurn])
    return [turn, modelTurn]
  }

  commit([ticket, modelTicket]: [Ticket, ModelTicket], kept: boolean): void {
    expect(this.index.commit(ticket, kept)).toBe(this.model.commit(modelTicket, kept))
  }

  record([turn, modelTurn]: [Turn, ModelTurn], facts: Operation & { op: 'record' | 'result' }) {
    const { entry, identity, call, lruSize, committed } = facts
    const recorded = { ...entry, identity, callHash: call, timeMs: this.timeMs }
    const ticket = this.index.record(turn, recorded, { lruSize })
    const modelTicket = this.model.record(modelTurn, recorded, lruSize)
    expect(ticket === null).toBe(modelTicket === null)
    if (ticket === null || modelTicket === null) return
    this.tickets.push([ticket, modelTicket])
    if (committed !== 'later') this.commit([ticket, modelTicket], committed === 'kept')
  }

  refer(turn: Turn, modelTurn: ModelTurn, identity: string, call: number): void {
    const entry = this.index.check(turn, identity)
    expect(entry).toEqual(this.model.check(modelTurn, identity))
    if (entry === null) return
    expect(this.index.refer(turn, entry, call)).toBe(this.model.refer(modelTurn, entry, call))
    // A reference to what is not there.
    const gone = { ...entry, sequence: entry.sequence + 1000 }
    expect(this.index.refer(turn, gone, call)).toBe(false)
  }

  apply(operation: Operation): void {
    this.timeMs += 1
    const { index, model } = this
    const turn = 'turn' in operation ? this.turns[operation.turn % this.turns.length] : undefined
    const key = 'name' in operation ? keyOf(operation.name) : keyOf('')
    switch (operation.op) {
      case 'result':
        this.record(this.begin(operation.name, operation.call, operation.identity), operation)
        break
      case 'record':
        if (turn !== undefined) this.record(turn, operation)
        break
      case 'begin':
        this.begin(operation.name, operation.call, operation.identity)
        break
      case 'check': {
        const { identity, tool } = operation
        if (turn === undefined) break
        const options = tool === undefined ? {} : { toolHash: tool }
        const found = index.check(turn[0], identity, options)
        expect(found).toEqual(model.check(turn[1], identity, tool))
        break
      }
      case 'refer':
        if (turn !== undefined) this.refer(...turn, operation.identity, operation.call)
        break
      case 'commit': {
        const ticket = this.tickets[operation.ticket % this.tickets.length]
        if (ticket !== undefined) this.commit(ticket, operation.kept)
        break
      }
      case 'entries': {
        const found = index.entries(key, { pending: operation.pending })
        expect(found).toEqual(model.entries(operation.name, operation.pending))
        break
      }
      case 'invalidate': {
        const removed = index.invalidate(key, operation.match)
        expect(removed).toBe(model.invalidate(operation.name, operation.match))
        break
      }
      case 'compact':
        expect(index.compact(key)).toBe(model.compact(operation.name))
        break
      case 'count': {
        const counters = { [operation.counter]: operation.added }
        index.count(key, counters)
        model.count(operation.name, counters)
        break
      }
      case 'hint': {
        const { name, family, max } = operation
        expect(index.takeHint(key, family, max)).toBe(model.takeHint(name, family, max))
        break
      }
      case 'close':
        expect(index.close(key)).toEqual(model.close(operation.name))
        break
      case 'idle': {
        const before = this.timeMs - operation.age
        expect(index.closeIdle(before)).toBe(model.closeIdle(before))
        break
      }
    }
  }
}

function keyOf(name: string): SessionKey {
  return sessionKey(name.slice(0, 1), name.slice(2))
}

test('the index does what a plain model does, and is whole after each operation', () => {
  let evicted = 0
  const property = fc.property(fc.array(operations, { maxLength: 80, size: 'max' }), list => {
    const pair = new Pair()
    for (const operation of list) {
      pair.apply(operation)
      auditIndex(pair.memory)
      if (!('name' in operation)) continue
      const summary = pair.index.summary(keyOf(operation.name))
      expect(summary).toEqual(pair.model.summary(operation.name))
    }
    evicted += indexUse(pair.memory).evicted
  })
  fc.assert(property, { numRuns: runs(400) })
  // The room is small enough that sessions have to leave.
  expect(evicted).toBeGreaterThanOrEqual(leastHits(runs(400) / 4))
})
