import {
  type ConfigAnswer,
  type ConfigOf,
  type ConfigQuery,
  configAnswer,
  configQuery,
} from '../../core/contract/config.ts'
import { validate } from '../../core/contract/validate.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { projectTerm } from '../request/request-terms.ts'
import { singleQuery } from '../request/single-query.ts'
import { smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'

const PATH = '/v1/config'

/**
 * Explains the configuration of a tenant, or of one of its projects. @throws AppError `overloaded`
 */
export type ExplainConfig = (of: ConfigOf, query: ConfigQuery) => Promise<ConfigAnswer>

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
  const { caller } = c.get('state')
  const query = validate(configQuery, singleQuery(c))
  const ticket = admission.enter(caller, 0)
  try {
    const answer = await explainConfig({ tenant: caller.tenant, ...projectTerm(c) }, query)
    return smallAnswer(c, answer)
  } finally {
    ticket.leave()
  }
}
