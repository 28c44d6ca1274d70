import { describe, expect, it } from 'vitest'
import { acceptsArguments } from '../../../../src/core/enrich/input-schema.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import type { ObjectValue, Value } from '../../../../src/core/json/value.ts'

function read(text: string): Value {
  const parsed = parseJson(text, { maxDepth: 30_000 })
  if (!parsed.ok) throw new Error(text.slice(0, 80))
  return parsed.value
}

const accepts = (schema: string, args: string) =>
  acceptsArguments(read(schema), read(args) as ObjectValue)

const ID = (rule: string) => `{"type":"object","properties":{"id":${rule}}}`

describe('the check of arguments by an input schema', () => {
  it.each([
    ['{}', '{"a":1}'],
    ['true', '{"a":1}'],
    ['{"type":"object"}', '{"a":1}'],
    ['{"type":["null","object"]}', '{}'],
    ['{"required":["a"]}', '{"a":null}'],
    [ID('{"type":"integer"}'), '{"id":1.0}'],
    [ID('{"type":"integer"}'), '{"id":12345678901234567890}'],
    [ID('{"type":"number"}'), '{"id":1.5}'],
    [ID('{"type":["string","null"]}'), '{"id":"x"}'],
    [ID('{"enum":["a",2]}'), '{"id":2}'],
    [ID('{"const":"a"}'), '{"id":"a"}'],
    [ID('{"type":"string","minLength":1,"maxLength":2}'), '{"id":"ab"}'],
    [ID('{"minimum":1,"maximum":3}'), '{"id":3}'],
    [ID('true'), '{"id":3,"other":1}'],
    ['{"$defs":{"a":{"$ref":"#/x"}},"additionalProperties":{"type":"string"}}', '{"a":"b"}'],
    [ID('{"format":"uuid","description":"of the item","default":4}'), '{"id":"x"}'],
  ])('accepts by %s: %s', (schema, args) => {
    expect(accepts(schema, args)).toBe(true)
  })

  it.each([
    ['false', '{}'],
    ['"object"', '{}'],
    ['{"type":"array"}', '{}'],
    ['{"required":["a"]}', '{"b":1}'],
    ['{"required":"a"}', '{"a":1}'],
    ['{"additionalProperties":false}', '{"a":1}'],
    ['{"additionalProperties":{"type":"string"}}', '{"a":1}'],
    [ID('{"type":"integer"}'), '{"id":"1"}'],
    [ID('{"type":"integer"}'), '{"id":1.5}'],
    [ID('{"type":"integer"}'), '{"id":1e400}'],
    [ID('{"type":"string"}'), '{"id":1}'],
    [ID('{"type":"boolean"}'), '{"id":null}'],
    [ID('{"enum":["a"]}'), '{"id":"b"}'],
    [ID('{"enum":"a"}'), '{"id":"a"}'],
    [ID('{"const":1}'), '{"id":2}'],
    [ID('{"maxLength":2}'), '{"id":"abc"}'],
    [ID('{"minLength":2}'), '{"id":"a"}'],
    [ID('{"maxLength":"2"}'), '{"id":"a"}'],
    [ID('{"minimum":1}'), '{"id":0}'],
    [ID('{"exclusiveMaximum":3}'), '{"id":3}'],
    [ID('{"exclusiveMinimum":3}'), '{"id":3}'],
    [ID('false'), '{"id":3}'],
    [ID('null'), '{"id":3}'],
    // What is not evaluated may refuse: no call ahead.
    ['{"$ref":"https://elsewhere.example/schema"}', '{}'],
    ['{"oneOf":[{}]}', '{}'],
    [ID('{"pattern":"^a$"}'), '{"id":"a"}'],
    [ID('{"$ref":"#/$defs/a"}'), '{"id":"a"}'],
    ['{}', '{"a":1,"a":2}'],
  ])('refuses by %s: %s', (schema, args) => {
    expect(accepts(schema, args)).toBe(false)
  })

  it('arguments are valid without a schema', () => {
    expect(acceptsArguments(undefined, read('{"a":1}') as ObjectValue)).toBe(true)
  })

  it('does not go into a schema of 10,000 levels, or a list without end', () => {
    const deep = `${'{"properties":{"id":'.repeat(10_000)}{}${'}}'.repeat(10_000)}`
    expect(accepts(deep, '{"id":"a"}')).toBe(true)
    const names = Array.from({ length: 20_000 }, (_, i) => `"a${i}"`)
    expect(accepts(`{"required":[${names.join()}]}`, '{}')).toBe(false)
    expect(accepts(`{${names.map(name => `${name}:1`).join()}}`, '{}')).toBe(false)
  })
})
