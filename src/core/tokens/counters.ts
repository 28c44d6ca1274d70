/** The counters of one thread, created when they are first used. */
import { type BpeCounter, createBpeCounter } from './bpe-counter.ts'
import { requireString, type TokenCounter } from './counter.ts'
import { type Encoding, PROFILES, type TokenizerId, tokenizerId } from './profiles.ts'
import {
  createReferenceCounter,
  type ReferenceEncoding,
  type ReferenceIds,
} from './reference-counter.ts'
import { openVocabulary, type Vocabularies } from './vocabulary.ts'

/** The counters of a thread, one for each tokenizer or profile. */
export interface TokenCounters {
  /** Throws `AppError` `invalid_request` for an id that is not known. */
  get(id: TokenizerId): TokenCounter
  /** The counter of an encoding that tiktoken counts; absent where it is not at hand. */
  reference?(encoding: ReferenceEncoding): TokenCounter
}

/** The same for a thread that serves several owners of texts. */
export interface SharedCounters extends TokenCounters {
  /** Counts for this owner from now on; see `BpeCounter.serve`. */
  serve(owner: string): void
}

/**
 * Counters over packed vocabularies, which may be shared with other threads; the counters may not.
 * Profiles of one encoding share its piece cache. Costs nothing until the first `get`.
 * @param idsOf tiktoken, if it shall count what has no vocabulary here
 * @throws RangeError on first use, if a buffer is not a packed vocabulary of this version
 */
export function createTokenCounters(
  vocabularies: Vocabularies,
  idsOf?: ReferenceIds<ReferenceEncoding>,
): SharedCounters {
  const encodings = new Map<Encoding, BpeCounter>()
  const counters = new Map<TokenizerId, TokenCounter>()
  let owner = ''

  function counterOf(encoding: Encoding): TokenCounter {
    let counter = encodings.get(encoding)
    if (counter === undefined) {
      counter = createBpeCounter(openVocabulary(vocabularies[encoding]))
      counter.serve(owner)
      encodings.set(encoding, counter)
    }
    return counter
  }

  function create(id: TokenizerId): TokenCounter {
    const profile = PROFILES[tokenizerId(id)]
    if (profile.counting === 'bytes') return createByteCounter(id, profile.charsPerToken)
    return { ...counterOf(profile.counting), id, exact: profile.exact }
  }

  return {
    serve(next) {
      if (next === owner) return
      owner = next
      for (const counter of encodings.values()) counter.serve(next)
    },
    get(id) {
      let counter = counters.get(id)
      if (counter === undefined) {
        counter = create(id)
        counters.set(id, counter)
      }
      return counter
    },
    ...(idsOf && { reference: encoding => createReferenceCounter(encoding, idsOf) }),
  }
}

/**
 * An estimate by length: UTF-8 bytes over bytes a token, rounded up. Empty text is 0 tokens.
 */
function createByteCounter(id: string, bytesPerToken: number): TokenCounter {
  const count = (text: string): number => {
    requireString(text)
    return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
  }
  return {
    id,
    exact: false,
    count,
    countUpTo(text, limit) {
      // A UTF-16 unit is at least one byte, so this bound needs no reading.
      const atLeast = Math.ceil(text.length / bytesPerToken)
      return atLeast > limit ? atLeast : count(text)
    },
  }
}
