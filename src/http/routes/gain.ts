import { AppError } from '../../core/base/errors.ts'
import { gainAnswer, gainQuery } from '../../core/contract/gain.ts'
import { validate } from '../../core/contract/validate.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { singleQuery } from '../request/single-query.ts'
import { smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'
import { askedTenants } from './savings.ts'

const PATH = '/v1/gain'

type GainNeeds = Pick<AppDeps, 'access' | 'admission' | 'ledger'>

/** What was saved by all ways in, by day, project, agent, model and tool. */
export const gainRoute: Route<GainNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'What was saved by all ways in, by day, project, agent, model and tool',
  scope: ['proxy', 'admin', 'read-all'],
  parameters: gainQuery,
  answer: gainAnswer,
  mount: (app, needs) => app.get(PATH, c => serve(c, needs)),
}

async function serve(c: AppContext, { access, admission, ledger }: GainNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const { days, project = null, tenant } = validate(gainQuery, singleQuery(c))
  if (ledger === undefined) throw new AppError('not_found', 'the ledger is off')
  const ticket = admission.enter(caller, 0)
  try {
    const tenants = askedTenants(caller, tenant ?? caller.tenant, access)
    return smallAnswer(c, await ledger.gain(tenants, days, project))
  } finally {
    ticket.leave()
  }
}
