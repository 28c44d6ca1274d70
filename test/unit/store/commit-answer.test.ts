import { describe, expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../../../src/core/base/errors.ts'
import type { KeepItem } from '../../../src/core/contract/operation-result.ts'
import { IndexBusyError } from '../../../src/core/sessions/index/lock.ts'
import { sessionKey } from '../../../src/core/sessions/index/session-index.ts'
import type { SessionChanges } from '../../../src/core/sessions/journal/changes.ts'
import type { Dependency } from '../../../src/core/sessions/turn/call-memory.ts'
import { contextKey } from '../../../src/core/sessions/turn/open-turn.ts'
import type { Sessions } from '../../../src/core/sessions/turn/shared-sessions.ts'
import type { Kept } from '../../../src/store/store.ts'
import { commitAnswer, commitOrNull } from '../../../src/store/values/commit-answer.ts'

const CONTEXT = contextKey(sessionKey('t', 's'), 5)
const bytes = new Uint8Array(1)

/** A text to keep: alone, of a session, or of a session with a ticket. */
function text(media_type: string, how: 'alone' | 'argument' | 'result'): KeepItem {
  if (how === 'alone') return { bytes, media_type } as KeepItem
  const item = { bytes, media_type, session: 's', ref: 'short' }
  if (how === 'argument') return item as KeepItem
  const ticket = {
    entry: `entry ${media_type}`,
    position: 7,
    identity: media_type,
    context: CONTEXT,
  }
  return { ...item, ticket } as unknown as KeepItem
}

const dependency = (identity: string, session = 's', context = CONTEXT): Dependency => {
  return { session, ref: identity.slice(0, 2), identity, context }
}

/** A store that fails for these texts and identities, and sessions that note what happens. */
function committing(
  fails: Record<string, ErrorCode | Error> = {},
  present = () => ({ epoch: 5 }) as object | null,
) {
  const done: string[] = []
  const refuse = (name: string) => {
    const failure = fails[name]
    if (failure instanceof Error) throw failure
    if (failure !== undefined) throw new AppError(failure, name)
  }
  const sessions = {
    bodies: {
      confirm: (position: number) => void done.push(`confirm ${position}`),
      retract: (identity: string) => void done.push(`retract ${identity}`),
      place: () => {
        done.push('lengthen')
        return null
      },
    },
    index: {
      commit: (entry: string, kept: boolean) => void done.push(`${entry} ${kept}`),
      present,
    },
  } as unknown as Sessions
  const originals = {
    async keep(
      tenant: string,
      { media_type }: { media_type: string },
      session?: string,
      ref?: string,
    ) {
      done.push(
        ['keep', tenant, media_type, session, ref].filter(part => part !== undefined).join(' '),
      )
      refuse(media_type)
      return { hash: media_type } as Kept
    },
    async pinDependency(tenant: string, { session, identity }: Dependency) {
      done.push(`pin ${tenant} ${session} ${identity}`)
      refuse(identity)
    },
  }
  const context = { originals, tenant: 't', sessions }
  return { done, context, alone: { ...context, sessions: undefined } }
}

describe('an answer that keeps texts', () => {
  test('leaves with what was kept alone, once all is; then the rest may be referred to', async () => {
    const { done, context } = committing()
    const keep = [
      text('a', 'alone'),
      text('r', 'result'),
      text('g', 'argument'),
      text('b', 'alone'),
    ]
    expect(await commitAnswer({ keep, dependencies: [] }, context)).toEqual([
      { hash: 'a' },
      { hash: 'b' },
    ])
    expect(done).toEqual([
      'keep t a',
      'keep t r s short',
      'keep t g s short',
      'keep t b',
      'confirm 7',
      'entry r true',
    ])
  })

  test('says what their threads know of them already', async () => {
    const { context } = committing()
    const asked: unknown[] = []
    const originals = {
      ...context.originals,
      async keep(...[tenant, known]: Parameters<typeof context.originals.keep>) {
        asked.push(known)
        return context.originals.keep(tenant, known)
      },
    }
    const compressed = new Uint8Array(1)
    const keep = [{ ...text('r', 'result'), compressed }, text('g', 'argument')]
    await commitAnswer({ keep, dependencies: [] }, { ...context, originals })
    expect(asked).toEqual([
      { bytes, media_type: 'r', compressed, hash: 'r' },
      { bytes, media_type: 'g' },
    ])
  })

  test('and depends on nothing asks for nothing', async () => {
    const { done, context } = committing()
    expect(await commitAnswer({ keep: [], dependencies: [] }, context)).toEqual([])
    expect(done).toEqual([])
  })

  test.each(['overloaded', 'internal'] as const)(
    'of which a result is not kept (%s) is none',
    async code => {
      const { done, context } = committing({ r: code })
      const keep = [text('a', 'alone'), text('r', 'result')]
      expect(await commitAnswer({ keep, dependencies: [dependency('d')] }, context)).toBeNull()
      // It may not be referred to. What it depends on is asked for at the same time.
      expect(done).toEqual(['keep t a', 'keep t r s short', 'pin t s d', 'entry r false'])
    },
  )

  test('whose id another body of the session has gets a longer one the next time', async () => {
    const { done, context, alone } = committing({ r: 'ambiguous' })
    const keep = [text('r', 'result')]
    expect(await commitAnswer({ keep, dependencies: [] }, context)).toBeNull()
    expect(done).toEqual(['keep t r s short', 'lengthen', 'entry r false'])
    done.length = 0
    expect(await commitAnswer({ keep, dependencies: [] }, alone)).toBeNull()
    expect(done).toEqual(['keep t r s short'])
  })

  test('of which only the text of an argument is not kept may leave', async () => {
    const { context } = committing({ g: 'overloaded' })
    const keep = [text('a', 'alone'), text('g', 'argument')]
    expect(await commitAnswer({ keep, dependencies: [] }, context)).toEqual([{ hash: 'a' }])
  })

  test('without which it cannot be sent fails, or is none if that is asked for', async () => {
    const { done, context } = committing({ a: 'overloaded' })
    const answer = { keep: [text('a', 'alone'), text('r', 'result')], dependencies: [] }
    await expect(commitAnswer(answer, context)).rejects.toMatchObject({ code: 'overloaded' })
    expect(done.at(-1)).toBe('entry r false')
    expect(
      await commitOrNull(answer as unknown as Parameters<typeof commitOrNull>[0], context),
    ).toBeNull()
  })

  test('and meets a bug fails with it, whatever is asked for', async () => {
    const bug = new TypeError('a bug')
    for (const how of ['alone', 'argument', 'result'] as const) {
      const { context } = committing({ x: bug })
      const answer = { keep: [text('x', how)], dependencies: [] }
      await expect(commitAnswer(answer, context)).rejects.toBe(bug)
      const done = answer as unknown as Parameters<typeof commitOrNull>[0]
      await expect(commitOrNull(done, context)).rejects.toBe(bug)
    }
  })
})

describe('an answer that depends on bodies', () => {
  const depending = (...dependencies: Dependency[]) => ({
    keep: [text('r', 'result')],
    dependencies,
  })

  test('leaves if all are there, each asked for once', async () => {
    const { done, context } = committing()
    const answer = depending(dependency('d'), dependency('e'), dependency('d'))
    expect(await commitAnswer(answer, context)).toEqual([])
    expect(done).toEqual([
      'keep t r s short',
      'pin t s d',
      'pin t s e',
      'confirm 7',
      'entry r true',
    ])
  })

  test('asks for a body in each of its sessions', async () => {
    const { done, alone } = committing()
    await commitAnswer({ keep: [], dependencies: [dependency('d'), dependency('d', 'u')] }, alone)
    expect(done).toEqual(['pin t s d', 'pin t u d'])
  })

  test.each(['not_found', 'gone', 'ambiguous'] as const)(
    'is none if one is %s: that is forgotten',
    async code => {
      const { done, context } = committing({ d: code })
      expect(await commitAnswer(depending(dependency('d'), dependency('e')), context)).toBeNull()
      const longer = code === 'ambiguous' ? ['lengthen'] : []
      expect(done.slice(1)).toEqual([
        'pin t s d',
        'pin t s e',
        'retract d',
        ...longer,
        'entry r false',
      ])
    },
  )

  test('is none if the store does not answer for one: nothing is forgotten', async () => {
    const { done, context } = committing({ d: 'overloaded' })
    expect(await commitAnswer(depending(dependency('d')), context)).toBeNull()
    expect(done).toEqual(['keep t r s short', 'pin t s d', 'entry r false'])
  })

  test('is none if the context is another by now', async () => {
    for (const present of [() => null, () => ({ epoch: 6 })]) {
      const { done, context } = committing({}, present)
      expect(await commitAnswer(depending(dependency('d')), context)).toBeNull()
      expect(done.at(-1)).toBe('entry r false')
    }
  })

  test('is none if the index is in use; a bug there is thrown on', async () => {
    const throwing = (error: Error) => () => {
      throw error
    }
    const busy = committing({}, throwing(new IndexBusyError()))
    expect(await commitAnswer(depending(dependency('d')), busy.context)).toBeNull()
    const bug = new TypeError('a bug')
    const broken = committing({}, throwing(bug))
    await expect(commitAnswer(depending(dependency('d')), broken.context)).rejects.toBe(bug)
    expect(broken.done.at(-1)).toBe('entry r false')
  })

  test('needs no context without sessions', async () => {
    const { alone } = committing({}, () => null)
    expect(await commitAnswer({ keep: [], dependencies: [dependency('d')] }, alone)).toEqual([])
  })
})

describe('sessions that several processes share', () => {
  const changed = (session: string): SessionChanges => ({ session, epoch: 1, bytes, texts: [] })

  /** A journal that takes changes or not, and sessions that note what is committed. */
  function sharing(isTold: boolean, fails: Record<string, ErrorCode> = {}) {
    const { done, context } = committing(fails)
    const tell = async (changes: readonly SessionChanges[]) => {
      done.push(`tell ${changes.map(({ session }) => session)}`)
      return isTold
    }
    return { done, context: { ...context, sharing: { tell, hasMoved: false } } }
  }
  const kept = [text('r', 'result')]
  const answer = { keep: kept, dependencies: [], changes: [changed('s')] }

  test('an answer leaves once others are told, while its texts are kept', async () => {
    const { done, context } = sharing(true)
    expect(await commitAnswer(answer, context)).toEqual([])
    expect(done).toEqual(['keep t r s short', 'tell s', 'confirm 7', 'entry r true'])
  })

  test('it does not if they could not be told, or if it cannot be kept', async () => {
    for (const { done, context } of [sharing(false), sharing(true, { r: 'overloaded' })]) {
      expect(await commitAnswer(answer, context)).toBeNull()
      expect(done.at(-1)).toBe('entry r false')
    }
  })

  test('an answer that promises nothing leaves, told or not', async () => {
    const { done, context } = sharing(false)
    const nothing = { keep: [], dependencies: [], changes: [changed('s')] }
    expect(await commitAnswer(nothing, context)).toEqual([])
    expect(done).toEqual(['tell s'])
  })
})
