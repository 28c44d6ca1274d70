/** Every failure a client may see: its code, the HTTP status and the title. */
export const ERRORS = {
  invalid_request: { status: 400, title: 'The request does not match the schema' },
  unauthorized: { status: 401, title: 'No valid key' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not offered here' },
  ambiguous: { status: 409, title: 'The prefix fits several' },
  gone: { status: 410, title: 'Expired' },
  payload_too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  not_decodable: { status: 422, title: 'The content cannot be decoded' },
  budget_too_small: { status: 422, title: 'Nothing fits the budget' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'The service is overloaded' },
  worker_lost: { status: 503, title: 'The worker was lost' },
  timeout: { status: 504, title: 'The time limit was reached' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** One violation of a schema: a JSON-pointer-like dotted path and what was expected there. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The fields of an error for a client, besides its code. */
export interface ErrorExtras {
  readonly errors?: readonly FieldError[]
  readonly minimum_tokens?: number
  readonly retry_after_s?: number
}

/** A failure as plain data: what crosses a worker boundary, where a class would lose its code. */
export interface Problem extends ErrorExtras {
  readonly code: ErrorCode
  readonly detail: string
}

/**
 * The one class for expected failures. Anything else that is thrown is a bug: logged once, answered
 * as `internal`, and its text is never shown to a client.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly extras: ErrorExtras

  constructor(code: ErrorCode, detail: string, extras: ErrorExtras = {}, cause?: unknown) {
    // The failure is expected, so its stack trace is never read; making one would take 10 µs of
    // each refusal.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(`${code}: ${detail}`, cause === undefined ? undefined : { cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'AppError'
    this.code = code
    this.detail = detail
    this.extras = extras
  }

  /** The failure that a problem is of. */
  static of({ code, detail, ...extras }: Problem): AppError {
    return new AppError(code, detail, extras)
  }

  /** The same failure as plain data. */
  toProblem(): Problem {
    return { code: this.code, detail: this.detail, ...this.extras }
  }
}
