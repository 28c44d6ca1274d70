import { table } from '../../console/table.ts'
import type { CheckReport, ServerReport } from './check-report.ts'

/** Tools that are named with their tokens. */
const LARGEST = 10

export function checkText({ servers, shared_uris, faults }: CheckReport): string {
  const rows = servers.map(each => [
    each.server,
    each.failure === null ? 'ok' : 'FAILED',
    each.era === null ? '' : `${each.era} ${each.protocol}`,
    each.auth,
    each.tools.length,
    each.definition_tokens,
    each.tools.filter(({ speculation }) => speculation !== 'no').length,
    each.prompts,
    each.resources + each.templates,
  ])
  const head = 'server,state,revision,auth,tools,tokens of tools,ahead,prompts,resources'
  return [
    table(head.split(','), rows),
    ...servers.flatMap(serverLines),
    ...largestTools(servers),
    ...shared_uris.map(
      ({ uri, servers: all }) => `${uri}: listed by ${all.join(', ')}; ${all[0]} answers`,
    ),
    ...faults,
  ].join('\n')
}

function serverLines(report: ServerReport): string[] {
  const { server, failure, last_errors = '', withheld = [], accepted = [], doubled, odd } = report
  const reasons = Map.groupBy(
    report.tools.filter(({ because }) => because !== undefined),
    ({ because }) => because,
  )
  return [
    ...(failure === null
      ? []
      : ['', `${server}: ${failure}`, ...(last_errors === '' ? [] : [last_errors.trimEnd()])]),
    ...doubled.map(tool => `${server}: lists ${tool} twice; the first one is offered`),
    ...odd.map(each => `${server}: ${oddText(each)}`),
    ...withheld.map(tool => `${server}: ${tool} is withheld, its definition changed (--accept)`),
    ...accepted.map(tool => `${server}: ${tool} is accepted as it is now`),
    ...[...reasons].map(
      ([why, tools]) =>
        `${server}: not ahead: ${tools.map(({ tool }) => tool).join(', ')} (${why})`,
    ),
  ]
}

function oddText({ kind, was, entry, members = [], reason }: ServerReport['odd'][number]): string {
  if (was === 'cut') return `its list of ${kind} was read in part: ${reason}`
  const what = `${kind}: ${JSON.stringify(entry)} is ${was}`
  return `${what}, since clients refuse its ${members.join(', ')} and with it the whole list`
}

function largestTools(servers: readonly ServerReport[]): string[] {
  const all = servers.flatMap(({ server, tools }) =>
    tools.map(({ tool, tokens }) => [server, tool, tokens] as const),
  )
  if (all.length === 0) return []
  const largest = all.sort((a, b) => b[2] - a[2]).slice(0, LARGEST)
  return ['', 'The largest definitions:', table(['server', 'tool', 'tokens'], largest)]
}
