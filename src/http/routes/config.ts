import {
  type ConfigAnswer,
  type ConfigQuery,
  configAnswer,
  configQuery,
} from '../../core/contract/config.ts'
import { MEDIA_TYPES, writeEnvelope } from '../../core/contract/envelope.ts'
import { validate } from '../../core/contract/validate.ts'
import { type AppContext, type AppDeps, requestHeader } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { answerMedia } from '../request/media.ts'
import { singleQuery } from '../request/single-query.ts'
import type { Route } from './route.ts'

const PATH = '/v1/config'

/** Explains the configuration of a tenant. @throws AppError `overloaded` */
export type ExplainConfig = (tenant: string, query: ConfigQuery) => Promise<ConfigAnswer>

interface ConfigNeeds extends Pick<AppDeps, 'admission'> {
  readonly explainConfig: ExplainConfig
}

/** How the pipeline chooses for the caller's tenant. */
export const configRoute: Route<ConfigNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'How the pipeline chooses, and which layer says so',
  scope: ['encode', 'admin'],
  parameters: configQuery,
  answer: configAnswer,
  mount: (app, needs) => app.get(PATH, c => serveConfig(c, needs)),
}

async function serveConfig(
  c: AppContext,
  { admission, explainConfig }: ConfigNeeds,
): Promise<Response> {
  const state = c.get('state')
  const { caller } = state
  const query = validate(configQuery, singleQuery(c))
  const ticket = admission.enter(caller, 0)
  try {
    const answer = await explainConfig(caller.tenant, query)
    const accept = answerMedia(requestHeader(c, 'accept'), 'json')
    const { media, bytes } = writeEnvelope(answer, accept)
    state.answerBytes = bytes.length
    const headers = answerHeaders(c)
    headers['content-type'] = MEDIA_TYPES[media]
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
  } finally {
    ticket.leave()
  }
}
