import type { Access, Caller } from '../../access/access.ts'
import type { Savings } from '../../book/bill/savings.ts'
import { savingsAnswer } from '../../book/bill/savings-answer.ts'
import { addBills } from '../../book/bill/tenant-bill.ts'
import { AppError } from '../../core/base/errors.ts'
import { savingsAnswer as answerSchema, savingsQuery } from '../../core/contract/savings.ts'
import { validate } from '../../core/contract/validate.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { singleQuery } from '../request/single-query.ts'
import { smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'

const PATH = '/v1/savings'

interface SavingsNeeds extends Pick<AppDeps, 'access' | 'admission' | 'budgets'> {
  readonly savings: Pick<Savings, 'read' | 'prices'>
}

/** What the proxies saved for the caller's tenant. */
export const savingsRoute: Route<SavingsNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'What the proxies saved, by the figures of the providers',
  scope: ['proxy', 'admin', 'read-all'],
  parameters: savingsQuery,
  answer: answerSchema,
  mount: (app, needs) => app.get(PATH, c => serveSavings(c, needs)),
}

/**
 * The tenants whose figures a caller asks for; `*`: its own, and all that have keys.
 * @throws AppError `forbidden` for others than its own, without the scope `read-all`
 */
export function askedTenants(
  { tenant: own, scopes }: Caller,
  asked: string,
  access: Pick<Access, 'records'>,
): readonly string[] {
  if (asked === own) return [own]
  if (!scopes.has('read-all')) throw new AppError('forbidden', 'the key lacks the scope read-all')
  if (asked !== '*') return [asked]
  const others = access.records()?.map(each => each.tenant) ?? []
  return [...new Set([own, ...others])]
}

/** Answers a request for what the proxies saved. */
export async function serveSavings(
  c: AppContext,
  { access, admission, budgets, savings }: SavingsNeeds,
): Promise<Response> {
  const { caller } = c.get('state')
  const query = validate(savingsQuery, singleQuery(c))
  const ticket = admission.enter(caller, 0)
  try {
    const tenants = askedTenants(caller, query.tenant ?? caller.tenant, access)
    const ledgers = await Promise.all(tenants.map(each => savings.read(each)))
    const used = await Promise.all(tenants.map(each => budgets.read(each)))
    const answer = savingsAnswer(ledgers.reduce(addBills), query, savings.prices(), used.flat())
    return smallAnswer(c, answer)
  } finally {
    ticket.leave()
  }
}
