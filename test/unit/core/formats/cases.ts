/**
 * One table for all formats: a value as JSON, and what `csv` writes for it. `null`: it declines.
 * The others are required to give the value back, or to decline; what `tree` writes is in a table
 * of its own.
 */
export interface Case {
  readonly json: string
  readonly csv: string | null
}

const lines = (...all: string[]): string => all.join('\n')

export const CASES: Readonly<Record<string, Case>> = {
  'rows of one kind': {
    json: '[{"id":1,"name":"Ann"},{"id":2,"name":"Bo"}]',
    csv: lines('id,name', '1,Ann', '2,Bo'),
  },
  'one row': { json: '[{"a":1}]', csv: lines('a', '1') },
  'a key first seen in the last row': {
    json: '[{"a":1},{"a":2},{"a":3,"b":4}]',
    csv: lines('a,b', '1,', '2,', '3,4'),
  },
  'missing, null and empty apart': {
    json: '[{"a":1,"b":null,"c":""},{"a":2},{"b":"","c":null}]',
    csv: lines('a,b,c', '1,null,""', '2,,', ',"",null'),
  },
  'a row without keys among others': {
    json: '[{"a":1,"b":2},{}]',
    csv: lines('a,b', '1,2', ','),
  },
  'strings that look like other values': {
    json: '[{"a":"1","b":"true","c":"null","d":"-1.5e3","e":"[]","f":"{}","g":"false"}]',
    csv: lines('a,b,c,d,e,f,g', '"1","true","null","-1.5e3","""[]""","""{}""","false"'),
  },
  'strings that only resemble numbers and words': {
    json: '[{"a":"01","b":"+1","c":"1.","d":"-","e":"True","f":"nullx","g":"NaN","h":"1e"}]',
    csv: lines('a,b,c,d,e,f,g,h', '01,+1,1.,-,"True",nullx,"NaN",1e'),
  },
  'separators, quotes and line ends in strings': {
    json: '[{"a":"x,y","b":"say \\"hi\\"","c":"1\\n2","d":"1\\r\\n2","e":"\\r","f":"\\"q\\""}]',
    csv: lines(
      'a,b,c,d,e,f',
      '"x,y","say ""hi""","1',
      '2","""1\\r\\n2""","""\\r""","""\\""q\\"""""',
    ),
  },
  'white space at the ends': {
    json: '[{"a":" x","b":"x ","c":" ","d":"\\tx","e":"a b","f":"\u00a0x"}]',
    csv: lines('a,b,c,d,e,f', '" x","x "," ","\tx",a b,"\u00a0x"'),
  },
  'characters that no channel keeps': {
    json: '[{"a":"\\u0000","b":"\\ud800","c":"\ufeffx","d":"\\u001b[0m","e":"😀"}]',
    csv: lines('a,b,c,d,e', '"""\\u0000""","""\\ud800""","""\\ufeffx""","""\\u001b[0m""",😀'),
  },
  'numbers in their own spelling': {
    json: '[{"a":1.0,"b":-0,"c":1e400,"d":12345678901234567890,"e":1E5,"f":0.1}]',
    csv: lines('a,b,c,d,e,f', '1.0,-0,1e400,12345678901234567890,1E5,0.1'),
  },
  'JSON in cells': {
    json: '[{"a":[],"b":{},"c":[1],"d":[1,2],"e":{"k":"v"},"f":["[","\\n"]}]',
    csv: lines('a,b,c,d,e,f', '[],{},[1],"[1,2]","{""k"":""v""}","[""["",""\\n""]"'),
  },
  'numbers as Python writes them, and strings like them': {
    json: '[{"a":NaN,"b":Infinity,"c":-Infinity,"d":"-Infinity","e":"nan","f":[NaN]}]',
    csv: lines('a,b,c,d,e,f', 'NaN,Infinity,-Infinity,"-Infinity","nan",[NaN]'),
  },
  'column names that need quotes': {
    json: '[{"":1,"a,b":2,"\\"":3," c":4,"1":5,"null":6,"[x]":7,"a\\nb":8,"\\u0007":9,"\ufeff":0}]',
    csv: lines(
      '"","a,b","""\\"""""," c",1,null,[x],"a',
      'b","""\\u0007""","""\\ufeff"""',
      '1,2,3,4,5,6,7,8,9,0',
    ),
  },
  'integer-like and prototype names': {
    json: '[{"10":1,"2":2,"__proto__":3,"constructor":4}]',
    csv: lines('10,2,__proto__,constructor', '1,2,3,4'),
  },
  'one column with a missing cell': { json: '[{"a":1},{}]', csv: null },
  'one column with empty strings': { json: '[{"a":""},{"a":null}]', csv: lines('a', '""', 'null') },
  'no columns': { json: '[{},{}]', csv: null },
  'rows whose keys are in another order': { json: '[{"a":1,"b":2},{"b":1,"a":2}]', csv: null },
  'rows whose order no header shows': { json: '[{"a":1,"c":2},{"a":1,"b":2,"c":3}]', csv: null },
  'a duplicate key in a row': { json: '[{"a":1,"a":2}]', csv: null },
  'a mostly empty table': {
    json: `[${Array.from({ length: 12 }, (_, i) => `{"k${i}":1}`).join()}]`,
    csv: null,
  },
  'an array of different things': { json: '[{"a":1},2]', csv: null },
  'an array of arrays': { json: '[[1],[2]]', csv: null },
  'an empty array': { json: '[]', csv: null },
  'an empty object': { json: '{}', csv: null },
  'a string': { json: '"a: 1"', csv: null },
  'a number': { json: '-0', csv: null },
  null: { json: 'null', csv: null },

  'an object of scalars': {
    json: '{"name":"Ann","age":42,"admin":true,"team":null,"note":""}',
    csv: null,
  },
  'an object of strings that look like other values': {
    json: '{"a":"1","b":"true","c":"[x","d":"{","e":"\\"","f":" x","g":"01","h":"a: b, c"}',
    csv: null,
  },
  'an object of strings that no line can hold': {
    json: '{"a":"x\\ny","b":"\\r","c":"\\u0000","d":"\\ud800","e":"\ufeff","f":"a\\tb"}',
    csv: null,
  },
  'an object with nested members': {
    json: '{"a":[1,{"b":"x: y"}],"c":{},"d":1.0}',
    csv: null,
  },
  'keys that need quotes': {
    json: '{"":1,"a:b":2,"a: b":3,"\\"":4," c":5,"a\\nb":6,"a b":7,"-":8,"1":9,"\ufeffk":0}',
    csv: null,
  },
  'duplicate and prototype keys': {
    json: '{"a":1,"__proto__":2,"a":3,"constructor":4}',
    csv: null,
  },
}

/** Texts that a format did not write, with the line that its error names. */
export const UNDECODABLE: readonly (readonly [format: string, text: string, line: number])[] = [
  ['json_compact@1', '', 1],
  ['json_compact@1', '{"a":\n1,}', 2],
  ['json_compact@1', '['.repeat(100_000), 1],
  ['csv@1', '', 1],
  ['csv@1', 'a', 1],
  ['csv@1', 'a,a\n1,2', 1],
  ['csv@1', 'a,\n1,2', 1],
  ['csv@1', ',a\n1,2', 1],
  ['csv@1', '"[1]",b\n1,2', 1],
  ['csv@1', 'a\n1\n', 3],
  ['csv@1', 'a\n\n1', 2],
  ['csv@1', 'a,b\n1,2\n', 3],
  ['csv@1', 'a,b\n1', 2],
  ['csv@1', 'a,b\n1,2\n1,2,3', 3],
  ['csv@1', 'a\nx"y', 2],
  ['csv@1', 'a\n"x', 2],
  ['csv@1', 'a\n"x"y', 2],
  ['csv@1', 'a\n[1', 2],
  ['csv@1', 'a\n"""x"', 2],
  ['csv@1', 'a\n"{""k"":}"', 2],
  ['csv@1', `a\n${'['.repeat(100_000)}`, 2],
]
