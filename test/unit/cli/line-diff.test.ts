import { expect, it } from 'vitest'
import { lineDiff } from '../../../src/cli/setup/command.ts'

it('shows the lines of a change with some around them', () => {
  expect(lineDiff('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nD\ne\nf\n').split('\n')).toEqual([
    '  b',
    '  c',
    '- d',
    '+ D',
    '  e',
    '  f',
  ])
})

it.each([
  ['.env', 'GEMINI_API_KEY=s3cret, and more\nA=1', 'GEMINI_API_KEY=…'],
  ['.env', 'export OPENAI_API_KEY = "s3cret"\nA=1', 'export OPENAI_API_KEY = …'],
  ['.env', "MY_TOKEN='s3cret'\nA=1", 'MY_TOKEN=…'],
  ['TOML', 'experimental_bearer_token = "s3\\"cret" # mine\nA=1', 'bearer_token = … # mine'],
  ['JSON', '  "ANTHROPIC_AUTH_TOKEN": "s3cret",\n"A": 1', '"ANTHROPIC_AUTH_TOKEN": …,'],
  ['one line', '{"env":{"PASSWORD":"s3cret","A":"1"}}', '"PASSWORD":…,"A":"1"}}'],
  ['a URL', 'BASE_URL=https://me:s3cret@gateway/v1', 'BASE_URL=https://…@gateway/v1'],
])('shows no secret of %s', (_kind, text, shown) => {
  const diff = lineDiff(`${text}\n`, `${text}\nB=2\n`) + lineDiff(text, text.replace(/1/, '2'))
  expect(diff).not.toContain('cret')
  expect(diff).toContain(shown)
  expect(lineDiff(text, '')).not.toContain('cret')
})

it('shows other values, and the names of secrets', () => {
  const text = '"apiKeys": {\n"monkeys": ["a"],\nmodel = "o3"\nANTHROPIC_BASE_URL=http://a/b@c'
  expect(lineDiff('', text)).toBe(`+ ${text.replaceAll('\n', '\n+ ')}`)
})
