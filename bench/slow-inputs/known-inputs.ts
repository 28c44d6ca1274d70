import type { Input } from './grammar.ts'

/** Inputs that were slow once, and what the search found since. */
export const KNOWN_INPUTS: Readonly<Record<string, Input>> = {
  'line feeds': { wrap: 'lines', pieces: [''] },
  'lines of one letter': { wrap: 'lines', pieces: ['x'] },
  '|---| rows': { wrap: 'lines', pieces: ['|---|'] },
  'keys with long numbers that are none, a line each': {
    wrap: 'lines',
    pieces: [`k#: ${'1'.repeat(60)}x`],
  },
  'small tables': { wrap: 'lines', pieces: ['|a|', '|---|', '|b|', ''] },
  'empty objects, a line each': { wrap: 'lines', pieces: ['{}'] },
  'objects of one member, a line each': { wrap: 'lines', pieces: ['{"a":1}'] },
  'objects with a key of their own, a line each': { wrap: 'lines', pieces: ['{"k#":1}'] },
  'different keys': { wrap: 'object', pieces: ['"k#":#'] },
  'one key again and again': { wrap: 'object', pieces: ['"a":1'] },
  'objects with a key of their own': { wrap: 'list', pieces: ['{"k#":#}'] },
  'objects in objects': { wrap: 'object', pieces: ['"k#":{"j#":{"l#":1}}'] },
  'lists in an object': { wrap: 'object', pieces: ['"k#":[1]'] },
  'empty objects': { wrap: 'list', pieces: ['{}'] },
  'empty lists': { wrap: 'list', pieces: ['[]'] },
  'lists in 200 lists': { wrap: 'list', pieces: ['['.repeat(200) + ']'.repeat(200)] },
  'objects in 60 objects': { wrap: 'list', pieces: [`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`] },
  'rows of two orders': { wrap: 'list', pieces: ['{"a":#,"b":1}', '{"b":#,"a":1}'] },
  'JSON in strings': { wrap: 'list', pieces: ['"{\\"a\\":#,\\"b\\":[1,2,3],\\"c\\":\\"x y\\"}"'] },
  'brackets in strings': { wrap: 'list', pieces: ['"[[],[],[],[],[],[]]"'] },
  'strings of two lines': { wrap: 'list', pieces: ['"a\\nb"'] },
  'empty strings': { wrap: 'list', pieces: ['""'] },
  'members of many kinds': {
    wrap: 'object',
    pieces: [
      '"a":[[1e400,null,1e400]]',
      '"b":[{"":"[[],[],[],[],[],[]]","b":"{\\"a\\":[#]}"},{},{"a":"a","":1e400}]',
      '"k#":{"b":[],"a b":"#"}',
      '"":"\\u0000"',
    ],
  },
  'objects in objects, a line each': {
    wrap: 'lines',
    pieces: ['{"k#":{"a b":"https://a.b/#","b":"\\u0000","":0}}'],
  },
  'objects in 40 objects, a line each': {
    wrap: 'lines',
    pieces: [`${'{"a":'.repeat(40)}"a\\nb"${'}'.repeat(40)}`],
  },
  numbers: { wrap: 'list', pieces: ['0'] },
}
