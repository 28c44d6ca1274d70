import { MEDIA_TYPES, writeEnvelope } from '../../core/contract/envelope.ts'
import { savingsAnswer as answerSchema, savingsQuery } from '../../core/contract/savings.ts'
import { validate } from '../../core/contract/validate.ts'
import type { Savings } from '../../savings/savings.ts'
import { savingsAnswer } from '../../savings/savings-answer.ts'
import { type AppContext, type AppDeps, requestHeader } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { answerMedia } from '../request/media.ts'
import { singleQuery } from '../request/single-query.ts'
import type { Route } from './route.ts'

const PATH = '/v1/savings'

interface SavingsNeeds extends Pick<AppDeps, 'admission'> {
  readonly savings: Pick<Savings, 'read' | 'prices'>
}

/** What the proxies saved for the caller's tenant. */
export const savingsRoute: Route<SavingsNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'What the proxies saved, by the figures of the providers',
  scope: ['proxy', 'admin'],
  parameters: savingsQuery,
  answer: answerSchema,
  mount: (app, needs) => app.get(PATH, c => serveSavings(c, needs)),
}

/** Answers a request for what the proxies saved. */
export async function serveSavings(
  c: AppContext,
  { admission, savings }: SavingsNeeds,
): Promise<Response> {
  const state = c.get('state')
  const { caller } = state
  const query = validate(savingsQuery, singleQuery(c))
  const ticket = admission.enter(caller, 0)
  try {
    const ledger = await savings.read(caller.tenant)
    const answer = savingsAnswer(ledger, query, savings.prices())
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
