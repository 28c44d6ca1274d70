import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import {
  learnedFolder,
  openLearnedTools,
} from '../../../../src/mcp/catalogue/search/learned-tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-learned-'))
afterAll(() => rmSync(folder, { recursive: true }))

const DAY = 24 * 60 * 60 * 1000
let keys = 0

/** Sessions of one client of a key of its own. */
function clientOf(client = 'agent', credential = `key ${keys++}`) {
  const clock = { now: 100 * DAY }
  const failures: unknown[] = []
  const learned = openLearnedTools({
    ...{ dataDir: folder, tenant: 't', credential, client, now: () => clock.now },
    onFailure: error => void failures.push(error),
  })
  const session = (...tools: string[]) => {
    const note = learned.begin()
    for (const tool of tools) note(tool)
  }
  return { learned, session, clock, failures, credential }
}

it('knows the tools of five sessions', () => {
  const { learned, session, clock } = clientOf()
  session('a', 'b', 'a')
  clock.now += 30 * DAY
  for (const each of ['c', 'd', 'e', 'f']) session(each)
  expect(learned.recent().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  session('g')
  expect(learned.recent().toSorted()).toEqual(['c', 'd', 'e', 'f', 'g'])
})

it('knows the tools of seven days', () => {
  const { learned, session, clock } = clientOf()
  session('a')
  for (let each = 0; each < 9; each++) session('b')
  clock.now += 7 * DAY
  expect(learned.recent()).toEqual(['b', 'a'])
  clock.now += DAY
  expect(learned.recent()).toEqual(['b'])
})

it('keeps a thousand names of a client, and clients and keys apart', () => {
  const { learned, session, credential } = clientOf()
  session('first')
  const place = learnedFolder(folder, 't')
  const files = readdirSync(place).map(name => join(place, name))
  const file = files.find(each => readFileSync(each, 'utf8').includes('"first"'))!
  const many = Array.from({ length: 1_100 }, (_, at) => [`tool ${at}`, [1, 100]])
  writeFileSync(file, JSON.stringify({ agent: { sessions: 1, tools: Object.fromEntries(many) } }))
  session('last')
  expect(learned.recent()[0]).toBe('last')
  expect(learned.recent()).toHaveLength(1_000)
  expect(clientOf('other', credential).learned.recent()).toEqual([])
  expect(clientOf('agent').learned.recent()).toEqual([])
  const odd = clientOf('__proto__', credential)
  odd.session('__proto__')
  expect(learned.recent()).toHaveLength(1_000)
})

it('goes on without a file that it cannot read or write', () => {
  const file = join(folder, 'a file')
  writeFileSync(file, '')
  const failures: unknown[] = []
  const learned = openLearnedTools({
    ...{ dataDir: file, tenant: 't', credential: null, client: 'c', now: () => 0 },
    onFailure: error => void failures.push(error),
  })
  learned.begin()('a')
  expect(learned.recent()).toEqual([])
  expect(failures).toHaveLength(1)
})
