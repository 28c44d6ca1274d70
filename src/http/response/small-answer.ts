import { MEDIA_TYPES, writeEnvelope } from '../../core/contract/envelope.ts'
import type { AppContext } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { answerMedia } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'

/**
 * Answers with a value that is small enough to be written on the main thread, in the media type
 * that the client accepts; JSON if it names none.
 */
export function smallAnswer(c: AppContext, value: object): Response {
  const { media, bytes } = writeEnvelope(value, answerMedia(requestHeader(c, 'accept'), 'json'))
  const headers = answerHeaders(c)
  headers['content-type'] = MEDIA_TYPES[media]
  c.get('state').answerBytes = bytes.length
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
}
