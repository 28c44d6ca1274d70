import { AppError } from '../../core/base/errors.ts'
import { MEDIA_TYPES, type MediaType } from '../../core/contract/envelope.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

/**
 * The media type of a request body, which must not be compressed. Throws `unsupported_media_type`.
 */
export function requestMedia(c: AppContext): MediaType {
  refuseCompressed(c)
  const media = named(essence(requestHeader(c, 'content-type') ?? ''))
  if (media !== undefined) return media
  throw new AppError(
    'unsupported_media_type',
    `Content-Type must be ${Object.values(MEDIA_TYPES).join(' or ')}`,
  )
}

/**
 * @throws AppError `unsupported_media_type` for a body that must be unpacked before it can be read
 */
function refuseCompressed(c: AppContext): void {
  const encoding = requestHeader(c, 'content-encoding') ?? 'identity'
  const transfer = requestHeader(c, 'transfer-encoding') ?? 'chunked'
  if (encoding !== 'identity' || transfer.toLowerCase() !== 'chunked') {
    throw new AppError('unsupported_media_type', 'compressed bodies are not accepted')
  }
}

/** The media type to answer in: what `Accept` gives the highest weight, else the request's own. */
export function answerMedia(accept: string | undefined, fallback: MediaType): MediaType {
  if (accept === undefined || accept === '*/*') return fallback
  let best: MediaType = fallback
  let bestWeight = 0
  for (const range of accept.split(',')) {
    const media = essence(range)
    const weight = Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
    const offered = media === '*/*' || media === 'application/*' ? fallback : named(media)
    if (offered !== undefined && weight > bestWeight) {
      best = offered
      bestWeight = weight
    }
  }
  return best
}

function named(media: string): MediaType | undefined {
  return media === MEDIA_TYPES.msgpack ? 'msgpack' : media === MEDIA_TYPES.json ? 'json' : undefined
}

/** Type and subtype without parameters, lower-cased. */
export function essence(header: string): string {
  const end = header.indexOf(';')
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase()
}
