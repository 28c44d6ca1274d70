import { savingsAnswer as answerSchema, savingsQuery } from '../../core/contract/savings.ts'
import { validate } from '../../core/contract/validate.ts'
import type { Savings } from '../../savings/savings.ts'
import { savingsAnswer } from '../../savings/savings-answer.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { singleQuery } from '../request/single-query.ts'
import { smallAnswer } from '../response/small-answer.ts'
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
  const { caller } = c.get('state')
  const query = validate(savingsQuery, singleQuery(c))
  const ticket = admission.enter(caller, 0)
  try {
    const ledger = await savings.read(caller.tenant)
    const answer = savingsAnswer(ledger, query, savings.prices())
    return smallAnswer(c, answer)
  } finally {
    ticket.leave()
  }
}
