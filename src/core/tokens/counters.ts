/** The counters of one thread, made when they are first asked for. */
import { createBpeCounter } from './bpe-counter.ts'
import { createByteCounter } from './byte-counter.ts'
import type { TokenCounter } from './counter.ts'
import { PROFILES, type TokenizerId, tokenizerId } from './profiles.ts'
import { type Encoding, openVocabulary, type Vocabularies } from './vocabulary.ts'

/** The counters of a thread, one for each tokenizer or profile. */
export interface TokenCounters {
  /** Throws `AppError` `invalid_request` for an id that is not known. */
  get(id: TokenizerId): TokenCounter
}

/**
 * Counters over packed vocabularies, which may be shared with other threads; the counters may not. Profiles of
 * one encoding share its piece cache. Costs nothing until the first `get`.
 * @throws RangeError on first use, if a buffer is not a packed vocabulary of this version
 */
export function createTokenCounters(vocabularies: Vocabularies): TokenCounters {
  const encodings = new Map<Encoding, TokenCounter>()
  const counters = new Map<TokenizerId, TokenCounter>()

  function counterOf(encoding: Encoding): TokenCounter {
    let counter = encodings.get(encoding)
    if (counter === undefined) {
      counter = createBpeCounter(openVocabulary(vocabularies[encoding]))
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
