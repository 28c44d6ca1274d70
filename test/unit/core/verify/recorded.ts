import { AppError } from '../../../../src/core/base/errors.ts'
import { LOCAL_TENANT } from '../../../../src/core/base/tenant-name.ts'
import type { EncodeAnswer, EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import type { SessionEvent } from '../../../../src/core/verify/transcript.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { localContext } from '../../../support/local-context.ts'

/** A request and its answer, as a test may change them. */
export interface Line {
  request: Mutable<EncodeRequest>
  answer: Mutable<EncodeAnswer>
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export const context = localContext()

/** Long enough that every hint pays. */
const source = Array.from({ length: 60 }, (_, line) => {
  return `${String(line + 1).padStart(6)}\tconst value${line} = compute(${line * 7}, 'name ${line * 13}')`
})

function job(status: string): string {
  const steps = Array.from({ length: 20 }, (_, step) => ({ name: `step ${step}`, ms: step * 31 }))
  return JSON.stringify({ id: 7, status, steps })
}

function issues(count: number): object[] {
  return Array.from({ length: count }, (_, id) => ({ id, title: `issue number ${id * 17}` }))
}

/** Its lines end so that they are not put into a template. */
const log = Array.from({ length: 90 }, (_, line) => {
  return `2026-01-02 event ${(line * 37) % 91} happened at place ${line * 91};`
})

function search(word: string): EncodeRequest {
  const hits = Array.from({ length: 40 }, (_, hit) => {
    return `/home/user/project/src/${word}/module.ts:${hit * 13}: the ${hit * 37} of ${word}`
  })
  return { tool: 'Grep', args: { pattern: word }, content: hits.join('\n') }
}

/** By the name under which a test changes one of them. */
export const REQUESTS = {
  read: { tool: 'Read', args: { file_path: '/src/a.ts' }, content: source.join('\n') },
  job: { tool: 'get_job', args: { id: 7 }, content: job('pending') },
  error: { tool: 'get_job', args: { id: 8 }, content: `no ${job('lost')}`, is_error: true },
  reference: {
    tool: 'Read',
    args: { file_path: '/src/a.ts' },
    tool_call_id: 'call-1',
    content: source.join('\n'),
  },
  retry: {
    tool: 'Read',
    args: { file_path: '/src/a.ts' },
    tool_call_id: 'call-1',
    content: source.join('\n'),
  },
  near: { tool: 'get_job', args: { id: 7 }, content: job('done') },
  lines: {
    tool: 'Read',
    args: { file_path: '/src/b.ts' },
    content: ['     1\t// another file', ...source.slice(10, 50)].join('\n'),
  },
  page: {
    tool: 'list_issues',
    args: { page: 1, per_page: 30 },
    pagination: { total: 90, returned: 30, offset: 0 },
    query: 'status=open',
    sort: { by: 'created', order: 'desc' },
    content: JSON.stringify(issues(30), null, 2),
  },
  other: {
    tool: 'list_issues',
    content: JSON.stringify({ open: issues(20), closed: issues(10) }),
  },
  list: {
    tool: 'list_issues',
    mode: 'trim',
    level: 'minimal',
    budget_tokens: 900,
    content: JSON.stringify({
      items: issues(90).map((issue, id) => ({ ...issue, created_at: `day ${id * 7919} of them` })),
      total: 90,
    }),
  },
  items: {
    tool: 'list_names',
    mode: 'trim',
    budget_tokens: 400,
    content: JSON.stringify({ names: issues(90).map(issue => `${Object.values(issue)}`) }),
  },
  fields: {
    tool: 'get_issue',
    mode: 'trim',
    budget_tokens: 60,
    content: JSON.stringify({ title: 'a title', body: 'some words of it '.repeat(60) }),
  },
  log: {
    tool: 'tail',
    mode: 'trim',
    strategy: 'equal',
    budget_tokens: 600,
    content: log.join('\n'),
  },
  search1: search('one'),
  search2: search('two'),
  search3: search('three'),
  search4: search('four'),
  search5: search('five'),
} as const satisfies Record<string, EncodeRequest>

export type Name = keyof typeof REQUESTS

/** Sessions that may refer to results in every way. */
function openSessions() {
  return createLocalSessions(
    {
      ...context,
      pipeline: pipelineSchema.parse({
        dedup: { near_ref_enabled: true },
        hints: { types: { search_chain: {} } },
        profiles: {
          data: { variants: { lists: { endpoint_pattern: 'list_', preferred_format: 'csv' } } },
        },
      }),
    },
    { bodyBytes: 1 << 24 },
  )
}

/** Requests of one session as this version answers them; an answer that nothing fits is `null`. */
export function answerAll(
  requests: readonly EncodeRequest[],
): { request: Mutable<EncodeRequest>; answer: Mutable<EncodeAnswer> | null }[] {
  const sessions = openSessions()
  return requests.map(fields => {
    const request = { session: 's', ...fields }
    try {
      return structuredClone({ request, answer: sessions.encode(request) })
    } catch (error) {
      if (error instanceof AppError && error.code === 'budget_too_small') {
        return { request, answer: null }
      }
      throw error
    }
  })
}

/** All of them in one session that is compacted at last, as this version answers them. */
export function record(): { lines: Record<Name, Line>; end: SessionEvent; after: Line } {
  const sessions = openSessions()
  const say = (request: EncodeRequest): Line => {
    const asked = { session: 's', ...request }
    return structuredClone({ request: asked, answer: sessions.encode(asked) })
  }
  const lines = Object.fromEntries(
    Object.entries(REQUESTS).map(([name, request]) => [name, say(request)]),
  ) as Record<Name, Line>
  sessions.desk.compact(LOCAL_TENANT, 's')
  return { lines, end: { event: 'compaction', session: 's' }, after: say(REQUESTS.read) }
}
