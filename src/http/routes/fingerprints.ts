import { z } from 'zod'
import { AppError } from '../../core/base/errors.ts'
import { MEDIA_TYPES, writeEnvelope } from '../../core/contract/envelope.ts'
import { validate } from '../../core/contract/validate.ts'
import { endpointName } from '../../core/fingerprints/fingerprint.ts'
import { providerDocument } from '../../core/fingerprints/upload.ts'
import { entryOf } from '../../fingerprints/published.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { answerMedia } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'
import { singleQuery } from '../request/single-query.ts'
import { answerUnlessKnown } from '../response/answers.ts'
import type { Route } from './route.ts'

const PATH = '/mcp/fingerprints/v1'
/** It is built again once an hour at most. */
const CACHE_CONTROL = 'private, max-age=300'

const query = z.strictObject({
  endpoint_class: endpointName.optional().describe('Only this endpoint'),
})

type PublishedNeeds = Pick<AppDeps, 'admission' | 'fingerprints'>

/** What a provider publishes of its endpoints. */
export const fingerprintsRoute: Route<PublishedNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'Fingerprints of published endpoints',
  scope: 'fingerprints:read',
  parameters: query,
  answer: providerDocument,
  mount: (app, needs) => app.get(PATH, c => serve(c, needs)),
}

async function serve(
  c: AppContext,
  { admission, fingerprints: source }: PublishedNeeds,
): Promise<Response> {
  const { caller } = c.get('state')
  const { endpoint_class: only } = validate(query, singleQuery(c))
  if (source === undefined) throw new AppError('not_found', 'nothing is published')
  const ticket = admission.enter(caller, 0)
  try {
    const document = await source.published.document(caller.tenant)
    const media = answerMedia(requestHeader(c, 'accept'), 'json')
    const tag = `${document.digest}-${media}${only === undefined ? '' : `-${only}`}`
    return answerUnlessKnown(c, ticket, { tag, cacheControl: CACHE_CONTROL }, () => {
      if (only === undefined) return { bytes: document[media], type: MEDIA_TYPES[media] }
      const entry = entryOf(document, only)
      const fingerprints = entry === null ? [] : [entry]
      const { bytes } = writeEnvelope({ ...document.head, fingerprints }, media)
      return { bytes, type: MEDIA_TYPES[media] }
    })
  } catch (error) {
    ticket.leave()
    throw error
  }
}
