import type { Arms } from '../../book/arms/arms.ts'
import { armsAnswer } from '../../book/arms/arms-answer.ts'
import { armsAnswer as answerSchema } from '../../core/contract/arms.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'

const PATH = '/v1/arms'

interface ArmsNeeds extends Pick<AppDeps, 'admission'> {
  readonly arms: Pick<Arms, 'read' | 'settings'>
}

/** What elision does to the work of the caller's agents. */
export const armsRoute: Route<ArmsNeeds> = {
  method: 'get',
  path: PATH,
  summary: 'What elision saves after what agents do about it',
  scope: ['proxy', 'admin'],
  answer: answerSchema,
  mount: (app, needs) => app.get(PATH, c => serve(c, needs)),
}

async function serve(c: AppContext, { admission, arms }: ArmsNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const ticket = admission.enter(caller, 0)
  try {
    const { tenant } = caller
    const answer = armsAnswer(await arms.read(tenant), arms.settings(tenant))
    return smallAnswer(c, answer)
  } finally {
    ticket.leave()
  }
}
