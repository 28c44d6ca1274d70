/** Why a result or a request is unchanged, and what helps. */
interface Reason {
  readonly meaning: string
  readonly advice: string
}

const REASONS: Readonly<Record<string, Reason>> = {
  no_format: {
    meaning: 'no format fits: prose, code, or too small',
    advice: 'let parts of long texts be left out: mode elide, or a budget',
  },
  not_smaller: {
    meaning: 'every format that fits has as many tokens, or more',
    advice: 'nothing: short texts stay unchanged',
  },
  not_exact: {
    meaning: 'a format did not decode to the same value, so it was not sent',
    advice: 'report the shape of the result',
  },
  failed: {
    meaning: 'a time limit, a lost thread or an error',
    advice: 'look into the log of that time',
  },
  overloaded: {
    meaning: 'there was no place in the queue',
    advice: 'raise limits.max_body_bytes, or give it more processors',
  },
  too_large: {
    meaning: 'the body is above the limit',
    advice: 'start a new conversation: larger bodies are only forwarded',
  },
  unreadable: {
    meaning: 'the body is no request of its endpoint',
    advice: 'check the base URL of the client',
  },
  signed: {
    meaning: 'the client signed the body',
    advice: 'use a bearer token for that vendor',
  },
}

export function reasonOf(reason: string): Reason {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined
  return known ?? { meaning: reason, advice: '' }
}
