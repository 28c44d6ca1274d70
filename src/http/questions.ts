import type { Facts, Resolution } from '../core/operations/operation.ts'
import type { TextBytes } from '../core/transport/text-bytes.ts'
import { AppError } from '../errors.ts'
import type { Authority } from '../pool/job.ts'
import type { Originals } from '../store/originals.ts'

/** Who answers the questions of one request's jobs. */
export interface Answerers {
  readonly originals: Pick<Originals, 'fetch'>
  readonly tenant: string
  /** Claims room for each use of an input. Throws `AppError` where there is none. */
  claim(bytes: number): void
  /** Knows the sessions, where another process does. */
  readonly sessions: Authority | undefined
}

/** One authority for a request: kept inputs from the store, each once, and sessions from theirs. */
export function answerQuestions({ originals, tenant, claim, sessions }: Answerers): Authority {
  /** One after the other, so that no more is fetched than there is room for; each once. */
  async function inputs(facts: readonly (Facts | null)[]): Promise<(Resolution | undefined)[]> {
    const found = new Map<string, TextBytes>()

    async function use(ref: string): Promise<TextBytes> {
      const known = found.get(ref)
      if (known !== undefined) {
        // Its answer takes room once more.
        claim(known.bytes.length)
        return known
      }
      const { body, media_type } = await originals.fetch({ tenant, ref }, claim)
      const text = { bytes: body, media_type }
      found.set(ref, text)
      return text
    }

    const resolved: (Resolution | undefined)[] = []
    for (const fact of facts) {
      const ref = fact?.input_ref
      resolved.push(ref === undefined ? undefined : await settle(() => use(ref)))
    }
    return resolved
  }

  /** Each text once; what is not there stays out, and the decoder says so. */
  async function texts({
    session,
    refs,
  }: NonNullable<Facts['references']>): Promise<Record<string, TextBytes>> {
    const found: Record<string, TextBytes> = Object.create(null)
    for (const ref of refs.slice(0, MAX_REFERENCES)) {
      const { input } = await settle(async () => {
        const { body, media_type } = await originals.fetch({ tenant, ref, session }, claim)
        return { bytes: body, media_type }
      })
      if (input !== undefined) found[ref] = input
    }
    return found
  }

  async function references(facts: readonly (Facts | null)[]) {
    const resolved: (Resolution | undefined)[] = []
    for (const fact of facts) {
      const asked = fact?.references
      resolved.push(asked === undefined ? undefined : { texts: await texts(asked) })
    }
    return resolved
  }

  return {
    async resolve(facts) {
      const resolved = await inputs(facts)
      const referred = await references(facts)
      const known =
        sessions !== undefined && facts.some(fact => fact?.body !== undefined)
          ? await sessions.resolve(facts)
          : []
      return facts.map((fact, index) =>
        fact === null ? null : { ...known[index], ...resolved[index], ...referred[index] },
      )
    },
  }
}

/** Earlier results that one answer refers to, at most. */
const MAX_REFERENCES = 1_000

async function settle(fetch: () => Promise<TextBytes>): Promise<Resolution> {
  try {
    return { input: await fetch() }
  } catch (error) {
    if (error instanceof AppError) return { problem: error.toProblem() }
    throw error
  }
}
