import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parse as parseJsonc } from 'jsonc-parser'
import { stringify } from 'smol-toml'
import { afterAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { AGENTS, type Agent } from '../../../src/cli/setup/agents.ts'
import { isOurs } from '../../../src/cli/setup/command.ts'
import { readConfigFile, replaceWithBackup, restore } from '../../../src/console/replace-file.ts'
import { quoteForShell } from '../../../src/runtime/installation.ts'
import { leastHits } from '../../support/runs.ts'
import { fewRuns } from '../../support/short-runs.ts'

const RUNS = fewRuns(1_000, 6)

const folder = mkdtempSync(join(tmpdir(), 'haversack-setup-'))
afterAll(() => rmSync(folder, { recursive: true }))

const word = fc.constantFrom('env', 'provider', 'anthropic', 'options', 'a', 'é"', 'x.y', '#b')
const url = fc.constantFrom('https://gateway/a', 'http://127.0.0.1:8787/anthropic/v1', '')
const value = fc.jsonValue({ maxDepth: 2 })
const ends = fc.constantFrom('\n', '\r\n')

/** Files of an agent as people write them, with comments, both line ends, and faults. */
const json = fc
  .record({
    tree: fc.dictionary(word, fc.oneof(value, fc.dictionary(word, value)), { maxKeys: 4 }),
    base: fc.option(url, { nil: undefined }),
    indent: fc.constantFrom(2, 4, '\t'),
    comment: fc.constantFrom('', '// keep this', '/* and\nthis */'),
    end: ends,
  })
  .map(({ tree, base, indent, comment, end }) => {
    const env = base === undefined ? {} : { env: { ANTHROPIC_BASE_URL: base } }
    const text = JSON.stringify({ ...tree, ...env }, null, indent)
    return `${text.replace('{', `{ ${comment}`)}\n`.replaceAll('\n', end)
  })
const toml = fc
  .record({
    top: fc.dictionary(fc.constantFrom('model', 'b', 'c d'), fc.oneof(url, fc.integer())),
    base: fc.option(url, { nil: undefined }),
    tables: fc.dictionary(fc.constantFrom('t', 'u'), fc.dictionary(word, fc.oneof(url, fc.nat()))),
    comment: fc.constantFrom('', '# openai_base_url = "x"', 'text = """\nopenai_base_url = 1\n"""'),
    end: ends,
  })
  .map(({ top, base, tables, comment, end }) => {
    const own = base === undefined ? {} : { openai_base_url: base }
    const head = stringify({ ...top, ...own })
    return `${comment}\n${head}\n${stringify(tables)}\n`.replaceAll('\n', end)
  })
const dotenv = fc
  .array(
    fc.constantFrom(
      'A=1',
      '# GOOGLE_GEMINI_BASE_URL=x',
      'GOOGLE_GEMINI_BASE_URL="https://a"',
      'export OPENAI_BASE_URL = b',
      '',
      ' GEMINI_API_KEY=k=',
    ),
    { maxLength: 6 },
  )
  .chain(lines => ends.map(end => lines.join(end)))
/** Models of LiteLLM, as blocks and in braces, with comments, and such as are left alone. */
const model = fc
  .record({
    model: fc.constantFrom('anthropic/*', 'claude-opus-4', 'openai/gpt-4o', 'o3', 'azure/a', '"x"'),
    own: fc.constantFrom('', '', 'https://gateway/v1', 'https://api.openai.com/v1', 'os.environ/B'),
    comment: fc.constantFrom('', ' # keep this', '   #'),
    isBlock: fc.boolean(),
    isFirst: fc.boolean(),
  })
  .map(({ model, own, comment, isBlock, isFirst }) => {
    const params = [
      `model: ${model}`,
      'api_key: os.environ/K',
      ...(own ? [`api_base: ${own}`] : []),
    ]
    if (!isFirst) params.reverse()
    if (!isBlock) return `  - {model_name: m, litellm_params: {${params.join(', ')}}}${comment}`
    const lines = params.map(line => `      ${line}${comment}`)
    return ['  - model_name: m', '    litellm_params:', ...lines].join('\n')
  })
const yaml = fc
  .record({
    head: fc.constantFrom('', '# models\n', 'general_settings: {master_key: k}\n\n'),
    models: fc.array(model, { minLength: 1, maxLength: 5 }),
    tail: fc.constantFrom('', '\n', '\n# end\nlitellm_settings:\n  drop_params: yes\n'),
    end: ends,
  })
  .map(({ head, models, tail, end }) => {
    return `${head}model_list:\n${models.join('\n')}${tail}`.replaceAll('\n', end)
  })
const broken = fc.constantFrom('{', '[1]', '"x"', 'a = = b', '{"env": 3}', '{"env":{"a":1}} x')

const FILES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  claude: fc.oneof({ weight: 9, arbitrary: json }, broken),
  opencode: fc.oneof({ weight: 9, arbitrary: json }, broken),
  codex: fc.oneof({ weight: 9, arbitrary: toml }, broken),
  gemini: dotenv,
  qwen: dotenv,
  litellm: fc.oneof({ weight: 9, arbitrary: yaml }, broken),
}

/** A configuration of LiteLLM without what `setup` sets, as JSON. */
function withoutApiBases(text: string): string {
  return JSON.stringify(parseYaml(text), (key, at) => (key === 'api_base' ? undefined : at))
}

/** The text after the change; `null` if it is refused. */
function changed(agent: Agent, text: string, to: string): string | null {
  try {
    return agent.withBaseUrl(text, to)
  } catch {
    return null
  }
}

it('leaves a file that was changed after it was read', () => {
  const file = join(folder, 'changed')
  writeFileSync(file, 'theirs')
  expect(() => replaceWithBackup(file, 'as read', 'ours')).toThrow('has just changed')
  expect(() => replaceWithBackup(file, null, 'ours')).toThrow('has just changed')
  expect(readdirSync(folder).filter(each => each.startsWith('changed'))).toEqual(['changed'])
  expect(readFileSync(file, 'utf8')).toBe('theirs')
  rmSync(file)
})

it('leaves a file alone that is no UTF-8, since its text could not give it back', () => {
  const file = join(folder, 'latin')
  const bytes = Buffer.from('# caf\xe9\nA=1\n', 'latin1')
  writeFileSync(file, bytes)
  expect(() => readConfigFile(file)).toThrow('no text in UTF-8')
  expect(() => replaceWithBackup(file, bytes.toString('utf8'), 'ours')).toThrow('UTF-8')
  expect(readFileSync(file).equals(bytes)).toBe(true)
  expect(readdirSync(folder).filter(each => each.startsWith('latin'))).toEqual(['latin'])
  rmSync(file)
})

it('keeps the permissions of a file and gives them to its backup; a new one is for its owner', () => {
  const file = join(folder, 'modes')
  const modeOf = (path: string) => statSync(path).mode & 0o777
  writeFileSync(file, 'before')
  chmodSync(file, 0o640)
  replaceWithBackup(file, 'before', 'ours')
  expect([modeOf(file), modeOf(`${file}.haversack-backup`)]).toEqual([0o640, 0o640])
  restore(file, () => true)
  expect(modeOf(file)).toBe(0o640)
  rmSync(file)
  replaceWithBackup(file, null, 'ours')
  expect(modeOf(file)).toBe(0o600)
  restore(file, () => true)
})

it.each([
  ['is gone', 'before', null],
  ['is gone', null, null],
  ['is as it was', 'before', 'before'],
])('takes the change back if the file %s', (_case, before, now) => {
  const file = join(folder, 'interrupted')
  if (before !== null) writeFileSync(file, before)
  replaceWithBackup(file, before, 'ours')
  rmSync(file)
  if (now !== null) writeFileSync(file, now)
  restore(file, () => false)
  const left = readdirSync(folder).filter(each => each.startsWith('interrupted'))
  expect(left).toEqual(before === null ? [] : ['interrupted'])
  if (before !== null) expect(readFileSync(file, 'utf8')).toBe(before)
  rmSync(file, { force: true })
})

it('keeps a file that others changed after setup', () => {
  const file = join(folder, 'theirs')
  replaceWithBackup(file, null, 'ours')
  writeFileSync(file, 'theirs')
  expect(() => restore(file, text => text === 'ours')).toThrow('was changed since')
  expect(readFileSync(file, 'utf8')).toBe('theirs')
  for (const each of [file, `${file}.haversack-was-absent`]) rmSync(each)
})

/** As an installation, an earlier one or a package is called. */
const program = fc
  .oneof(
    fc.constant('haversack'),
    fc.string().map(name => `/${name}/haversack`),
  )
  .map(path => quoteForShell(path, 'linux'))

it('has the hook of Claude Code after setup, and everything else as it was', () => {
  const agent = AGENTS['claude']!
  const { hook } = agent
  const service = 'http://127.0.0.1:8787'
  const own = fc.oneof(fc.array(value, { maxLength: 2 }), value)
  const withHooks = fc
    .record({ text: json, list: fc.option(own, { nil: undefined }) })
    .map(({ text, list }) =>
      list === undefined
        ? text
        : text.replace('{', `{ "hooks": { "PostToolUse": ${JSON.stringify(list)} },`),
    )
  let written = 0
  fc.assert(
    fc.property(withHooks, program, (before, by) => {
      let after: string
      try {
        after = hook!.withHook(before, service, by)
      } catch {
        return
      }
      written++
      expect(hook!.commandIn(after)).toEqual({ program: by, service })
      expect(hook!.withHook(after, service)).toBe(after)
      expect(isOurs(agent, after, before)).toBe(true)
      const { hooks, ...rest } = parseJsonc(after)
      const { hooks: hooks_, ...rest_ } = parseJsonc(before)
      expect(rest).toEqual(rest_)
      expect(hooks.PostToolUse.slice(0, -1)).toEqual(hooks_?.PostToolUse ?? [])
    }),
    { numRuns: RUNS },
  )
  expect(written).toBeGreaterThanOrEqual(leastHits(RUNS / 3))
})

it('knows again what it made with a status line', () => {
  const agent = AGENTS['claude']!
  const service = 'http://127.0.0.1:8787'
  let written = 0
  fc.assert(
    fc.property(json, program, (before, by) => {
      let after: string
      try {
        const withUrl = agent.withBaseUrl(before, agent.baseUrl(service, {}))
        after = agent.statusLine!.withLine(withUrl, service, by)
      } catch {
        return
      }
      written++
      expect(isOurs(agent, after, before)).toBe(true)
      expect(isOurs(agent, `${after} `, before)).toBe(false)
    }),
    { numRuns: RUNS },
  )
  expect(written).toBeGreaterThanOrEqual(leastHits(RUNS / 3))
})

describe('a file that was set up, and is to have a status line too', () => {
  const file = join(folder, 'settings.json')
  const agent = AGENTS['claude']!
  const service = 'http://127.0.0.1:8787'
  const urlIn = (text: string) => agent.withBaseUrl(text, agent.baseUrl(service, {}))
  const lineIn = (text: string) => agent.statusLine!.withLine(text, service)
  const next = (before: string, after: string) =>
    replaceWithBackup(file, before, after, original =>
      [before, after].every(text => isOurs(agent, text, original)),
    )

  it.each([null, '{}'])('keeps what it was at first: %s', original => {
    if (original !== null) writeFileSync(file, original)
    const withUrl = urlIn(original ?? '')
    replaceWithBackup(file, original, withUrl)
    next(withUrl, lineIn(withUrl))
    expect(readFileSync(file, 'utf8')).toBe(lineIn(withUrl))
    restore(file, (text, before) => isOurs(agent, text, before))
    expect(readConfigFile(file)).toBe(original)
    rmSync(file, { force: true })
  })

  it('is left alone if the file or the change is of others', () => {
    writeFileSync(file, '{}')
    const withUrl = urlIn('{}')
    const withLine = lineIn(withUrl)
    replaceWithBackup(file, '{}', withUrl)
    expect(() => next(withUrl, `${withLine} `)).toThrow('is there already')
    writeFileSync(file, `${withUrl} `)
    expect(() => next(`${withUrl} `, withLine)).toThrow('is there already')
    expect(readFileSync(file, 'utf8')).toBe(`${withUrl} `)
  })
})

describe.each(Object.entries(AGENTS))('a configuration of %s', (name, agent) => {
  const to = agent.baseUrl('http://127.0.0.1:8787', {})
  const file = join(folder, name)

  it('has the base URL after setup, and its own bytes after undo', () => {
    let written = 0
    fc.assert(
      fc.property(fc.option(FILES[name]!, { freq: 9 }), before => {
        const after = changed(agent, before ?? '', to)
        if (after === null || after === before) return
        written++
        rmSync(file, { force: true })
        if (before !== null) writeFileSync(file, before)
        replaceWithBackup(file, before, after)
        expect(agent.baseUrlsIn(readFileSync(file, 'utf8'))).toContain(to)
        expect(changed(agent, after, to)).toBe(after)
        restore(file, (text, was) => isOurs(agent, text, was))
        const left = readdirSync(folder).filter(each => each.startsWith(name))
        expect(left).toEqual(before === null ? [] : [name])
        if (before !== null) expect(readFileSync(file, 'utf8')).toBe(before)
      }),
      { numRuns: RUNS },
    )
    expect(written).toBeGreaterThanOrEqual(leastHits(RUNS / 3))
  })

  it('an edit of a configuration keeps everything else', () => {
    fc.assert(
      fc.property(FILES[name]!, before => {
        const after = changed(agent, before, to)
        if (after === null) return
        if (name === 'claude' || name === 'opencode') {
          const { env, provider, ...rest } = parseJsonc(after)
          const { env: env_, provider: provider_, ...rest_ } = parseJsonc(before || '{}')
          expect(rest).toEqual(rest_)
          expect(name === 'claude' ? provider : env).toEqual(name === 'claude' ? provider_ : env_)
          for (const comment of ['// keep this', '/* and']) {
            expect(after.includes(comment)).toBe(before.includes(comment))
          }
          return
        }
        if (name === 'litellm') {
          expect(withoutApiBases(after)).toBe(withoutApiBases(before))
          expect(after.split('#').length).toBe(before.split('#').length)
          return
        }
        // Line by line: one line is another, or new.
        const linesOf = (text: string) => text.split(/\r?\n/).filter(line => line !== '')
        const [old, now] = [linesOf(before), linesOf(after)]
        const changes = now.filter(line => !old.includes(line))
        expect(changes.length).toBeLessThanOrEqual(1)
        expect(now.length - old.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: RUNS },
    )
  })
})
