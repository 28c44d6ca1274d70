import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS as EVERY_COMMAND, FIRST_COMMANDS, MERGED } from '../../../src/cli/commands.ts'
import { readResults } from '../../../src/lab/replay/read-results.ts'
import { captureCli } from '../../support/capture.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const COMMANDS = ['serve', 'encode', 'decode', 'count', 'tokens', 'verify', 'replay']
/** Calls with a name that does not exist, and the name that is nearest. */
const NEAR_NAMES: readonly (readonly [readonly string[], string])[] = [
  [['encod'], 'encode'],
  [['help', 'encod'], 'encode'],
  [['encode', '--jsn'], '--json'],
  [['mcp', 'chek'], 'check'],
  [['hook', 'claud'], 'claude'],
  [['completion', 'bsh'], 'bash'],
  [['keys', 'ad'], 'add'],
  [['keys', 'add', '--scopes', 'encode,retreive', '--file', join(folder, 'k')], 'retrieve'],
  [['setup', 'clade'], 'claude'],
  [['doctor', 'codx'], 'codex'],
  [['encode', '--mode', 'elde'], 'elide'],
  [['encode', '--formats', 'tree,cvs@1'], 'csv@1'],
  [['gain', '--by', 'projct'], 'project'],
  [['decode', '--format', 'csv@2', file('near.csv', 'a')], 'csv@1'],
]
const rows = JSON.stringify(
  Array.from({ length: 10 }, (_, id) => ({ id, name: `n${id}` })),
  null,
  2,
)

describe('haversack', () => {
  const listed = (page: string) => [...page.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name)

  it.each([['--help'], ['-h'], ['help']])('%s lists the first 12 in three groups', async flag => {
    const { code, stdout, stderr } = await captureCli(flag)
    expect([code, stderr]).toEqual([0, ''])
    expect(listed(stdout)).toEqual(Object.values(FIRST_COMMANDS).flat())
    expect([listed(stdout).length, stdout.match(/^\S.*:$/gm)?.length]).toEqual([12, 3])
    expect(stdout).toContain('help --all')
    expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
  })

  it.each([[['help', '--all']], [['--help', '--all']]])('%j lists every command', async argv => {
    const { code, stdout, stderr } = await captureCli(...argv)
    expect([code, stderr]).toEqual([0, ''])
    const unlisted = ['hook', 'statusline', 'completion', 'savings', 'arms', 'proxy', 'get']
    const all = Object.keys(EVERY_COMMAND).filter(name => !unlisted.includes(name))
    expect(listed(stdout).toSorted()).toEqual(all.toSorted())
    // What a command takes is on its own page, so that a line fits a terminal.
    expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(120)
  })

  it.each(COMMANDS)('%s --help explains its options', async name => {
    const { code, stdout } = await captureCli(name, '--help')
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: haversack ${name}`)
    expect(stdout).toContain('--help')
  })

  it.each([['--version'], ['-v'], ['-V'], ['version']])('%s prints its version', async flag => {
    expect((await captureCli(flag)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('explains a command in the same words by help and by --help', async () => {
    const { code, stdout } = await captureCli('help', 'encode')
    expect([code, stdout]).toEqual([0, (await captureCli('encode', '--help')).stdout])
    expect(await captureCli('help', 'encod')).toMatchObject({ code: 2, stdout: '' })
  })

  it.each([
    [[]],
    [['fly']],
    [['__proto__']],
    [['constructor']],
    [['toString']],
    [['count', '--fast']],
    [['encode', 'a', 'b']],
    [['encode', '--budget', 'few']],
    [['encode', '--mode', 'short']],
    [['encode', '--mode', 'trim']],
    [['encode', '--mode', 'trim', '--budget', '9']],
    [['encode', '--session', 's']],
    [['encode', '--strategy', 'luck']],
    [['encode', '--level', 'tiny']],
    [['encode', '--chunk', '0']],
    [['encode', '--url', 'nowhere']],
    [['encode', '--explain', '--url', 'http://127.0.0.1:1']],
    [['decode', 'x']],
    [['serve', '--port', 'http']],
    [['replay']],
    [['replay', join(folder, 'none')]],
    [['count', join(folder, 'none')]],
    [['tokens', '--tokenizer', 'x']],
    [['replay', '--tokenizer', 'x', folder]],
    [['replay', '--baseline', 'xml', folder]],
    [['replay', '--mode', 'trim', folder]],
    [['replay', '--transcript', join(folder, 'none', 'at'), folder]],
    [['verify', join(folder, 'none')]],
    [['verify', '--key', 'k', folder]],
    [['verify', '--url', 'nowhere', folder]],
  ])('takes %j for wrong usage', async argv => {
    const { code, stdout, stderr } = await captureCli(...argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.length).toBeGreaterThan(0)
  })
})

it('says what is wrong with a name in one line', async () => {
  for (const name of ['fly', '__proto__', 'constructor']) {
    const { stderr } = await captureCli(name)
    expect(stderr).toBe(`haversack: no command ${name}\nTry: haversack --help\n`)
  }
  const near = await captureCli('encod')
  expect(near.stderr).toContain('no command encod; did you mean encode?\n')
  for (const [argv, name] of NEAR_NAMES) {
    const { code, stderr } = await captureCli(...argv)
    expect([argv, code]).toEqual([argv, argv[0] === 'decode' ? 1 : 2])
    expect(stderr).toContain(`did you mean ${name}?\n`)
  }
  expect((await captureCli('encode', 'test')).stderr).toContain('test is a folder')
  expect((await captureCli('encode', 'no-such-file')).stderr).toContain('does not exist')
})

it.each(Object.entries(MERGED))(
  '%s says what has taken its place, which says nothing',
  async (name, place) => {
    const { code, stderr } = await captureCli(name, '--help')
    expect([code, stderr]).toEqual([0, expect.stringMatching(`now: haversack ${place}\n$`)])
    const [command = '', option = ''] = place.split(' ')
    const page = await captureCli(command, '--help')
    expect([page.stderr, page.stdout]).toEqual(['', expect.stringContaining(`  ${option} `)])
  },
)

it('plays nothing where there is nothing', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'haversack-empty-'))
  expect(await captureCli('replay', empty)).toMatchObject({ code: 2, stdout: '' })
  rmSync(empty, { recursive: true })
})

describe('encode and decode', () => {
  it('give the text on stdout and what was done on stderr', async () => {
    const { code, stdout, stderr } = await captureCli('encode', file('rows.json', rows))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^id,name\n0,n0\n/)
    expect(stderr).toMatch(/array_of_objects, L2, format csv@1: \d+ → \d+ tokens \(o200k_base\)/)
    expect(stderr).toMatch(/; saved: dedup 0, encoder [1-9]\d*, omission 0\n$/)
    const back = await captureCli('decode', '--format', 'csv@1', file('rows.csv', stdout))
    expect(JSON.parse(back.stdout)).toEqual(JSON.parse(rows))
  })

  it('give the whole answer with --json', async () => {
    const { stdout, stderr } = await captureCli('encode', '--json', file('rows.json', rows))
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ layer: 'L2', lossless: true })
    const back = await captureCli('decode', file('answer.json', stdout))
    expect(JSON.parse(back.stdout)).toEqual(JSON.parse(rows))
  })

  it('refuse to print what UTF-8 cannot carry, and escape it as JSON', async () => {
    const answer = file('half.json', '{"content":"a\\ud800b","format":"passthrough"}')
    const { code, stdout, stderr } = await captureCli('decode', answer)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('use --json')
    expect((await captureCli('decode', '--json', answer)).stdout).toContain('a\\ud800b')
  })

  it('need a format for a text that is no answer', async () => {
    for (const text of [rows, '{"content":"a"}', 'id,name\n1,a']) {
      expect(await captureCli('decode', file('text', text))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--format is required, unless'),
      })
    }
  })

  it('say a failure by code and exit code', async () => {
    const path = file('rows.json', rows)
    expect(await captureCli('encode', '--budget', '3', path)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('budget_too_small'),
    })
    expect(await captureCli('encode', '--formats', 'xml', path)).toMatchObject({ code: 2 })
    expect(await captureCli('decode', '--format', 'csv@9', path)).toMatchObject({ code: 1 })
  })

  it('refuse bytes that are no text', async () => {
    expect(await captureCli('encode', file('bytes', Uint8Array.of(0xff, 0xfe)))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not UTF-8'),
    })
  })
})

describe('count and tokens', () => {
  it('print a number for one file and a line each for several', async () => {
    const one = file('one', 'hello world')
    expect((await captureCli('count', one)).stdout).toBe('2\n')
    const several = await captureCli('count', one, file('two', 'a'))
    expect(several.stdout.trim().split('\n')).toHaveLength(2)
    const estimated = await captureCli('count', '--json', '--model', 'claude-sonnet-4-6', one)
    expect(JSON.parse(estimated.stdout)).toMatchObject({ exact: false })
    expect(estimated.stderr).toContain('estimated')
  })

  it('count by tiktoken what has no vocabulary here, and refuse what would take it too long', async () => {
    const spaced = file('spaced', 'hello  world')
    for (const tokenizer of ['gpt2', 'r50k_base', 'p50k_base']) {
      const { stdout } = await captureCli('count', '--json', '--tokenizer', tokenizer, spaced)
      expect(JSON.parse(stdout)).toEqual({ counts: [3], tokenizer, exact: true })
    }
    const many = file('many', ' '.repeat(64))
    expect((await captureCli('count', '--tokenizer', 'gpt2', many)).stdout).toBe('64\n')
    expect((await captureCli('count', '--tokenizer', 'p50k_base', many)).stdout).toBe('4\n')
    const run = await captureCli('count', '--tokenizer', 'gpt2', file('run', 'a'.repeat(5_000)))
    expect([run.code, run.stdout]).toEqual([2, ''])
    expect(run.stderr).toContain('characters without a break, and here are 5000')
  })

  it('compare counts with those of tiktoken', async () => {
    const text = file('text', 'hello world')
    const checked = await captureCli('count', '--check', text)
    expect(checked).toMatchObject({ code: 0, stdout: '2\n' })
    expect(checked.stderr).toContain('tiktoken agrees (o200k_base)')
    const bytes = await captureCli('count', '--check', '--tokenizer', 'heuristic', text)
    expect(bytes.code).toBe(2)
  })

  it('print token ids that are as many', async () => {
    const ids = JSON.parse(
      (await captureCli('tokens', '--json', file('one', 'hello world'))).stdout,
    )
    expect(ids).toHaveLength(2)
  })
})

describe('replay', () => {
  const session = [
    { session: 's', tool: 'list', text: rows, call_id: 'c1' },
    { session: 's', tool: 'Read', text: '     1\tline\n', is_error: null },
    { session: 's', tool: 'list', text: '', args: { page: 2 } },
  ]

  it('sums up by tool, shape, layer and format, and decodes every answer', async () => {
    const path = file('session.jsonl', session.map(line => JSON.stringify(line)).join('\n'))
    const { code, stdout } = await captureCli('replay', '--json', path)
    expect(code).toBe(0)
    const sums = JSON.parse(stdout)
    expect(sums.total).toMatchObject({ results: 3, restored: 3 })
    expect(sums.tool).toMatchObject({ list: { results: 2 }, Read: { results: 1 } })
    expect(sums.layer).toMatchObject({ L2: { results: 1 }, L3: { results: 2 } })
    expect(sums.format['csv@1'].tokens_out).toBeLessThan(sums.format['csv@1'].tokens_in)
    const tables = await captureCli('replay', path)
    expect(tables.stdout).toContain('o200k_base')
    expect(tables.stdout).toMatch(/all +3 +\d+ +\d+ +[\d.]+ % +3\/3/)
  })

  const long = JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, name: `item ${id}` })))
  const longSession = [{ session: 's', tool: 'list', text: long }, ...session.slice(1)]

  it('replays under a budget, and redeems what it left out', async () => {
    const path = file('session.jsonl', longSession.map(line => JSON.stringify(line)).join('\n'))
    const argv = ['replay', '--json', '--budget', '60', '--mode', 'trim', path]
    const { code, stdout } = await captureCli(...argv)
    const { total, hints } = JSON.parse(stdout)
    expect([code, hints]).toEqual([0, { sent: 1, failed: 0 }])
    expect(total).toMatchObject({ results: 3, restored: 3 })
    expect(total.saved_tokens.omission).toBeGreaterThan(0)
    const tables = await captureCli(...argv.filter(option => option !== '--json'))
    expect(tables.stdout).toMatch(/omission \(redeemable\) +\d/)
    expect(tables.stdout).toContain('Hints: 1 verified, 0 failed.')
    const tight = await captureCli('replay', '--json', '--budget', '1', '--mode', 'trim', path)
    expect(tight.code).toBe(0)
    expect(JSON.parse(tight.stdout)).toMatchObject({ too_small: 2, failed: 0 })
  })

  it('measures against the baseline that is asked for, and names it', async () => {
    const path = file('session.jsonl', session.map(line => JSON.stringify(line)).join('\n'))
    const sums = new Map<string, { tokens_in: number; saved: number }>()
    for (const baseline of ['input', 'json_compact', 'json_pretty', 'toon']) {
      const { stdout } = await captureCli('replay', '--json', '--baseline', baseline, path)
      const { total, ...rest } = JSON.parse(stdout)
      expect(rest.baseline).toBe(baseline)
      const saved = total.tokens_in - total.tokens_out
      expect(total.saved_tokens.encoder).toBe(saved)
      sums.set(baseline, { tokens_in: total.tokens_in, saved })
    }
    // The recorded rows are indented by two spaces.
    expect(sums.get('json_pretty')).toEqual(sums.get('input'))
    expect(sums.get('json_compact')?.saved).toBeLessThan(sums.get('input')?.saved ?? 0)
    expect(sums.get('toon')?.saved).toBeLessThan(sums.get('json_compact')?.saved ?? 0)
    const { stdout } = await captureCli('replay', '--baseline', 'toon', path)
    expect(stdout).toContain('the baseline is TOON for results that are JSON')
  })

  it('writes a transcript that verify finds true', async () => {
    const path = file('session.jsonl', longSession.map(line => JSON.stringify(line)).join('\n'))
    const transcript = join(folder, 'transcript.jsonl')
    await captureCli('replay', '--budget', '60', '--mode', 'trim', '--transcript', transcript, path)
    expect(await captureCli('verify', transcript)).toEqual({
      code: 0,
      stdout: '3 answers, 1 hint: all true.\n',
      stderr: '',
    })
    expect(statSync(transcript).mode & 0o777).toBe(0o600)
  })

  it('reads recordings that are longer than a call may have arguments', () => {
    const path = file('long.jsonl', '{"text":""}\n'.repeat(150_000))
    expect(readResults(path).results).toHaveLength(150_000)
  })

  it('takes any other file as one result of a tool named like its folder', async () => {
    const other = mkdtempSync(join(tmpdir(), 'haversack-payloads-'))
    writeFileSync(join(other, 'a.json'), rows)
    writeFileSync(join(other, 'lines.jsonl'), '{"no":"text"}\n{"no":"text"}\n')
    writeFileSync(join(other, 'bytes.bin'), Uint8Array.of(0xff))
    const { stdout, stderr } = await captureCli('replay', '--json', other)
    rmSync(other, { recursive: true })
    expect(JSON.parse(stdout).total.results).toBe(2)
    expect(stderr).toContain('not UTF-8')
  })
})

describe('verify', () => {
  const transcript = join(folder, 'verified.jsonl')

  it('prints what is wrong, by line, session and family, and fails', async () => {
    const results = [1, 2].map(call =>
      JSON.stringify({ session: 's', tool: 'list', text: `${rows} `.repeat(call) }),
    )
    await captureCli('replay', '--transcript', transcript, file('two.jsonl', results.join('\n')))
    const lines = readFileSync(transcript, 'utf8').trimEnd().split('\n')
    const answer = JSON.parse(lines[1] ?? '')
    answer.answer.tokens.final++
    const path = file('wrong.jsonl', [lines[0], '', JSON.stringify(answer)].join('\n'))

    const { code, stdout } = await captureCli('verify', path)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^line +session +family +reason\n-+\n3 +s +answer +tokens\.final is \d+, not \d+\n/,
    )
    expect(stdout).toContain('2 answers, 1 hint: 2 findings.')
    const json = await captureCli('verify', '--json', path)
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      answers: 2,
      hints: 1,
      redeemed: null,
      findings: [{ line: 3, session: 's', family: 'answer' }, { line: 3 }],
    })
  })

  it.each([
    ['no JSON', 'x', /line 2: is no JSON/],
    ['another object', '{"request":{"content":""}}', /line 2: answer: /],
    ['another event', '{"event":"nap","session":"s"}', /line 2: event: /],
  ])('takes %s for wrong usage', async (_, line, message) => {
    const { code, stderr } = await captureCli('verify', file('bad.jsonl', `\n${line}`))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
