/** The counters of one thread, made when they are first asked for. */
import { type BpeCounter, createBpeCounter } from './bpe-counter.ts'
import { createByteCounter } from './byte-counter.ts'
import type { TokenCounter } from './counter.ts'
import type { Encoding } from './encoding.ts'
import { PROFILES, type TokenizerId, tokenizerId } from './profiles.ts'
import { openVocabulary, type Vocabularies } from './vocabulary.ts'

/** The counters of a thread, one for each tokenizer or profile. */
export interface TokenCounters {
  /** Throws `AppError` `invalid_request` for an id that is not known. */
  get(id: TokenizerId): TokenCounter
}

/** The same for a thread that serves several owners of texts. */
export interface SharedCounters extends TokenCounters {
  /** From now on counts for this owner; see `BpeCounter.serve`. */
  serve(owner: string): void
}

/**
 * Counters over packed vocabularies, which may be shared with other threads; the counters may not.
 * Profiles of one encoding share its piece cache. Costs nothing until the first `get`.
 * @throws RangeError on first use, if a buffer is not a packed vocabulary of this version
 */
export function createTokenCounters(vocabularies: Vocabularies): SharedCounters {
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
  }
}
