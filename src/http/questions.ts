import type { Facts, Resolution } from '../core/operations/operation.ts'
import type { TextBytes } from '../core/transport/text-bytes.ts'
import { AppError } from '../errors.ts'
import type { Authority } from '../pool/job.ts'
import type { Originals } from '../store/originals.ts'

/** Who answers the questions of one request's jobs. */
export interface Answerers {
  readonly originals: Pick<Originals, 'fetch'>
  readonly tenant: string
  /** Claims room for an input. Throws `AppError` where there is none. */
  claim(bytes: number): void
  /** Knows the sessions, where another process does. */
  readonly sessions: Authority | undefined
}

/** One authority for a request: kept inputs from the store, each once, and sessions from theirs. */
export function answerQuestions({ originals, tenant, claim, sessions }: Answerers): Authority {
  async function fetchInput(ref: string): Promise<TextBytes> {
    const { body, media_type } = await originals.fetch({ tenant, ref })
    claim(body.length)
    return { bytes: body, media_type }
  }

  /** One after the other, so that no more is fetched than there is room for. */
  async function inputs(facts: readonly (Facts | null)[]): Promise<Map<string, Resolution>> {
    const found = new Map<string, Resolution>()
    for (const fact of facts) {
      const ref = fact?.input_ref
      if (ref === undefined || found.has(ref)) continue
      found.set(ref, await settle(() => fetchInput(ref)))
    }
    return found
  }

  return {
    async resolve(facts) {
      const byRef = await inputs(facts)
      const known =
        sessions !== undefined && facts.some(fact => fact?.body !== undefined)
          ? await sessions.resolve(facts)
          : []
      return facts.map((fact, index) =>
        fact === null ? null : { ...known[index], ...byRef.get(fact.input_ref ?? '') },
      )
    },
  }
}

async function settle(fetch: () => Promise<TextBytes>): Promise<Resolution> {
  try {
    return { input: await fetch() }
  } catch (error) {
    if (error instanceof AppError) return { problem: error.toProblem() }
    throw error
  }
}
