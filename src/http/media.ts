import { MEDIA_TYPES, type MediaType } from '../core/requests/envelope.ts'
import { AppError } from '../errors.ts'

/** The media type of a request body. Throws `unsupported_media_type`. */
export function requestMedia(contentType: string | undefined): MediaType {
  const media = named(essence(contentType ?? ''))
  if (media !== undefined) return media
  throw new AppError(
    'unsupported_media_type',
    `Content-Type must be ${Object.values(MEDIA_TYPES).join(' or ')}`,
  )
}

/** The media type to answer in: MessagePack only where `Accept` names it with the highest weight. */
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
function essence(header: string): string {
  const end = header.indexOf(';')
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase()
}
