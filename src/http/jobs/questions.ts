import { AppError, type ErrorCode } from '../../core/base/errors.ts'
import type { TextBytes } from '../../core/base/text-bytes.ts'
import type { LookupRequest, LookupResult } from '../../core/contract/lookup.ts'
import { MAX_REFERENCES } from '../../core/sessions/turn/decode-references.ts'
import type { Authority } from '../../pool/job.ts'
import type { Originals } from '../../store/originals.ts'
import type { SharedTurns } from '../../store/sharing/shared-turns.ts'

/** Answers the lookups of one request's jobs. */
export interface Answerers {
  readonly originals: Pick<Originals, 'fetch'>
  readonly tenant: string
  /** Claims room for each use of an input. Throws `AppError` if there is none. */
  claim(bytes: number): void
  /** Knows what other processes did in the sessions, if they share them. */
  readonly sharing: Pick<SharedTurns, 'resolve'> | undefined
}

/**
 * Makes the authority of one request. Kept inputs come from the store, each once; sessions come
 * from the processes that share them.
 */
export function answerQuestions({ originals, tenant, claim, sharing }: Answerers): Authority {
  /**
   * Inputs are fetched one after the other, each once, so that no more is fetched than there is
   * room for.
   */
  async function inputs(
    lookups: readonly (LookupRequest | null)[],
  ): Promise<(LookupResult | undefined)[]> {
    const found = new Map<string, TextBytes>()

    async function use(ref: string): Promise<TextBytes> {
      const known = found.get(ref)
      if (known !== undefined) {
        // The text takes room once more, in the answer.
        claim(known.bytes.length)
        return known
      }
      const { body, media_type } = await originals.fetch({ tenant, ref }, claim)
      const text = { bytes: body, media_type }
      found.set(ref, text)
      return text
    }

    const resolved: (LookupResult | undefined)[] = []
    for (const lookup of lookups) {
      const ref = lookup?.input_ref
      resolved.push(
        ref === undefined ? undefined : await orProblem(async () => ({ input: await use(ref) })),
      )
    }
    return resolved
  }

  /**
   * Texts of references, each once. A text that is not there is left out, and the decoder reports
   * it.
   */
  async function references(lookups: readonly (LookupRequest | null)[]) {
    const found = new Map<string, TextBytes | null>()

    /** @throws AppError if it is unknown whether it is there */
    async function find(session: string, ref: string): Promise<TextBytes | null> {
      try {
        const { body, media_type } = await originals.fetch({ tenant, ref, session }, claim)
        return { bytes: body, media_type }
      } catch (error) {
        if (error instanceof AppError && ABSENT.has(error.code)) return null
        throw error
      }
    }

    async function texts({ session, refs }: NonNullable<LookupRequest['references']>) {
      const texts: Record<string, TextBytes> = Object.create(null)
      for (const ref of refs) {
        const key = `${ref} ${session}`
        const known = found.get(key)
        if (known === undefined && found.size >= MAX_LOOKUPS) throw tooMany()
        const text = known === undefined ? await find(session, ref) : known
        found.set(key, text)
        if (text === null) continue
        texts[ref] = text
        // The text is written once more.
        if (known !== undefined) claim(text.bytes.length)
      }
      return texts
    }

    const resolved: (LookupResult | undefined)[] = []
    for (const lookup of lookups) {
      const asked = lookup?.references
      const answer = asked && (await orProblem(async () => ({ texts: await texts(asked) })))
      resolved.push(answer)
    }
    return resolved
  }

  async function turnsOf(lookups: readonly (LookupRequest | null)[]) {
    const isAsked = lookups.some(lookup => lookup?.session !== undefined)
    return sharing !== undefined && isAsked ? sharing.resolve(lookups, claim) : []
  }

  return {
    async resolve(lookups) {
      const resolved = await inputs(lookups)
      const referred = await references(lookups)
      // A request that fails because there is no input is not counted.
      const counted = lookups.map((lookup, i) => (resolved[i]?.problem ? null : lookup))
      const turns = await turnsOf(counted)
      return lookups.map((lookup, i) => {
        if (lookup === null) return null
        const shared = turns[i]
        return { ...resolved[i], ...referred[i], ...(shared?.ok === true ? { shared } : {}) }
      })
    },
  }
}

/** Codes for a text that is not there, or not for this session. */
const ABSENT: ReadonlySet<ErrorCode> = new Set(['not_found', 'gone', 'ambiguous'])

/** Texts that are looked for in one request, which may be a batch. */
const MAX_LOOKUPS = 4 * MAX_REFERENCES

function tooMany(): AppError {
  return new AppError('payload_too_large', `more than ${MAX_LOOKUPS} earlier results`)
}

async function orProblem(attempt: () => Promise<LookupResult>): Promise<LookupResult> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof AppError) return { problem: error.toProblem() }
    throw error
  }
}
