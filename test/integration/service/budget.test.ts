import { hash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ElidedPart, ElisionHint } from '../../../src/core/hints/hint.ts'
import { parseHint } from '../../../src/core/hints/hint-line.ts'
import { word, words } from '../../support/made-text.ts'
import { json, startSmallService } from './harness.ts'

let service: Awaited<ReturnType<typeof startSmallService>>
beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
})
afterAll(() => service.close())

/** Spaces that no format keeps, so that only the very bytes are equal. */
const records = JSON.stringify(
  { total: 60, items: Array.from({ length: 60 }, (_, id) => ({ id, body: words(15, id * 31) })) },
  null,
  1,
)
const log = Array.from({ length: 80 }, (_, i) => `${word(i)} ${words(8, i * 17)} é–😀`).join('\n')

interface Answer {
  readonly content: string
  readonly format: string
  readonly lossless: boolean
  readonly elided: readonly { readonly hash: string }[]
  readonly tokens: { readonly final: number }
}

async function encode(fields: object, to = service): Promise<Answer> {
  const response = await to.post('/v1/encode', JSON.stringify({ mode: 'trim', ...fields }))
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

async function retrieve(id: string, query: Record<string, string> = {}): Promise<string> {
  const search = new URLSearchParams(query).toString()
  const response = await fetch(`${service.url}/v1/retrieve/${id}?${search}`)
  expect(response.status).toBe(200)
  const { original_content } = (await response.json()) as { original_content: string }
  return original_content
}

/** The marker that a content ends with. */
function parseElision(content: string): ElisionHint {
  const hint = parseHint(content.slice(content.lastIndexOf('\n') + 1))
  if (hint?.family !== 'elision') throw new Error('no marker')
  return hint
}

/** Asks for what stood at a place that a marker names. */
async function atPlace(id: string, { at = '' }: ElidedPart): Promise<string> {
  return at.startsWith('$')
    ? retrieve(id, { path: at })
    : retrieve(id, { lines: at.replace('lines ', '') })
}

describe('what a budget left out', () => {
  it('comes back by the hash of the marker, to the very bytes', async () => {
    const answer = await encode({ content: records, budget_tokens: 800 })
    expect(answer.lossless).toBe(false)
    expect(answer.tokens.final).toBeLessThanOrEqual(800)
    const marker = parseElision(answer.content)
    expect(answer.elided.map(part => part.hash)).toEqual([marker.hash])
    expect(hash('sha256', records, 'hex').startsWith(marker.hash)).toBe(true)
    expect(await retrieve(marker.hash)).toBe(records)
  })

  it('comes back by each place of a marker', async () => {
    const { content } = await encode({ content: records, budget_tokens: 800 })
    const marker = parseElision(content)
    const places = marker.parts.filter(({ at }) => at !== undefined)
    expect(places.length).toBeGreaterThan(0)
    for (const place of places) {
      const found = await atPlace(marker.hash, place)
      expect(records.replaceAll(/\s/g, '')).toContain(
        found.replaceAll(/\s/g, '').replace(/^\[/, '').slice(0, 60),
      )
    }
    const bodies = await retrieve(marker.hash, { path: '$.items[:].body' })
    expect(JSON.parse(bodies)).toHaveLength(60)
  })

  it('comes back by its lines', async () => {
    const { content } = await encode({ content: log, budget_tokens: 900, strategy: 'leading' })
    const marker = parseElision(content)
    const gap = /\[… lines (\d+)-(\d+)\]/.exec(content)
    const [, first, last] = gap ?? []
    const missing = log.split('\n').slice(Number(first) - 1, Number(last))
    expect(missing.length).toBeGreaterThan(3)
    const found = await retrieve(marker.hash, { lines: `${first}-${last}` })
    expect(found.trimEnd()).toBe(missing.join('\n'))
    for (const place of marker.parts.filter(({ at }) => at !== undefined)) {
      expect(log).toContain((await atPlace(marker.hash, place)).trimEnd())
    }
  })

  it('comes back for every job of a batch', async () => {
    const contents = [records, log, records.replace('60', '61')]
    const jobs = contents.map(content => ({
      op: 'encode',
      content,
      mode: 'elide',
      budget_tokens: 700,
    }))
    jobs.push({ op: 'encode', content: records, mode: 'trim', budget_tokens: 1 })
    const { results } = (await json(service.post('/v1/batch', JSON.stringify({ jobs })))) as {
      results: (Answer & { ok: boolean; problem?: object })[]
    }
    expect(results.at(-1)).toMatchObject({
      ok: false,
      problem: { code: 'budget_too_small', minimum_tokens: expect.any(Number) },
    })
    for (const [index, content] of contents.entries()) {
      const { hash: id } = parseElision(results[index]!.content)
      expect(await retrieve(id)).toBe(content)
    }
  })

  it('is refused by decode, which names where it is', async () => {
    const { content, format } = await encode({ content: records, budget_tokens: 800 })
    const response = await service.post('/v1/decode', JSON.stringify({ content, format }))
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      code: 'not_decodable',
      detail: expect.stringContaining(parseElision(content).hash),
    })
  })

  it('counts apart from what the format saved', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const value = (name: string) => {
      const line = text.split('\n').find(each => each.startsWith(`${name} `))
      return Number(line?.slice(name.length + 1))
    }
    const saved = (by: string) => value(`haversack_tokens_saved_total{by="${by}"}`)
    expect(saved('omission')).toBeGreaterThan(1_000)
    expect(saved('encoder')).toBeGreaterThan(100)
    expect(saved('dedup') + saved('encoder') + saved('omission')).toBe(
      value('haversack_tokens_in_sum') - value('haversack_tokens_out_sum'),
    )
  })
})

describe('a store that refuses', () => {
  it('lets nothing leave that lacks parts, and everything else', async () => {
    const small = await startSmallService({
      workers: { count: 1 },
      limits: { max_body_bytes: 1024 * 1024 },
      store: { max_bytes: 16 * 1024 * 1024 },
    })
    const trim = (seed: number) => {
      const content = `${words(200, seed)}\n${randomBytes(45_000).toString('base64')}`
      return small.post('/v1/encode', JSON.stringify({ content, mode: 'trim', budget_tokens: 400 }))
    }
    expect(((await (await trim(0)).json()) as Answer).lossless).toBe(false)
    // No compression makes these texts smaller: live bodies take all the room.
    for (const bytes of [700_000, 30_000]) {
      const put = () =>
        small.post('/v1/inputs', JSON.stringify({ content: randomBytes(bytes).toString('base64') }))
      for (let at = 0; at < 60 && (await put()).status !== 503; at++);
    }
    const refused = await trim(1_000)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    const problem = (await refused.json()) as Record<string, unknown>
    expect(Object.keys(problem)).not.toContain('content')
    const lossless = await small.post('/v1/encode', JSON.stringify({ content: records }))
    expect(await json(lossless)).toMatchObject({ lossless: true })
    // A gateway's request must not fail for that; it gets what it would get without a budget.
    const content = `${words(200, 99_000)}\n${randomBytes(45_000).toString('base64')}`
    const messages = [{ role: 'tool', content }]
    const ask = (fields: object) => json(small.post('/v1/compress', JSON.stringify(fields)))
    const within = await ask({ messages, token_budget: 400 })
    expect(within).toEqual(await ask({ messages }))
    expect(within).toMatchObject({ ccr_hashes: [] })
    const metrics = await (await fetch(`${small.url}/metrics`)).text()
    expect(metrics).toMatch(/^haversack_store_failures_total\{op="put",reason="full"\} \d+$/m)
    await small.close()
  })
})

describe('notes of a page', () => {
  it('leave the content lossless, as decode shows', async () => {
    const paged = {
      content: records,
      mode: 'lossless',
      tool: 'list_items',
      args: { page: 1 },
      pagination: { total: 600, returned: 60 },
      sort: { by: 'created', order: 'desc' },
    }
    const answer = await encode(paged)
    expect(answer).toMatchObject({
      lossless: true,
      format: expect.stringMatching(/^noted@1,/),
      hints: expect.arrayContaining([expect.objectContaining({ family: 'metadata' })]),
    })
    const { content, format } = answer
    const back = await json(service.post('/v1/decode', JSON.stringify({ content, format })))
    expect(JSON.parse(String(back['content']))).toEqual(JSON.parse(records))
  })
})

it('the description of the service has the fields of a budget', async () => {
  const description = JSON.stringify(await json(fetch(`${service.url}/openapi.json`)))
  for (const field of [
    'budget_tokens',
    'strategy',
    'head_tail',
    'elided_tokens',
    'minimum_tokens',
  ]) {
    expect(description).toContain(`"${field}"`)
  }
})
