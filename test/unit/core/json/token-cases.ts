/** Strings, numbers and words of JSON, as every scanner must take them. */
export const TOKENS: readonly string[] = [
  ...['""', '"a"', '"\\""', '"\\\\"', '"\\\\\\""', '"\\u005c"', '"\\/\\b\\f\\n\\r\\t"'],
  ...['"[{,:}]"', '"{\\"a\\":[1,2]}"', '"\u2028 é 😀 \u007f"', '"true"', '" , "'],
  ...['0', '-0', '7', '10', '-1.50', '0.0', '1e9', '1E+2', '2e-07', '12345678901234567890'],
  ...['true', 'false', 'null'],
]

/** White space before, between and after tokens. */
export const SPACES: readonly string[] = ['', ' ', '\t', '\r\n', ' \n\t\r ']

/** What is neither a string nor a number nor a word of JSON, though it may begin like one. */
export const NO_TOKENS: readonly string[] = [
  ...['"', '"a', '"\\"', "'a'", '`a`'],
  ...['-', '+1', '01', '-01', '.5', '1.', '1.e2', '1e', '1e+', '0x1', '1_0', '--1', '1e1.5'],
  ...[
    'nul',
    'True',
    'truee',
    'nan',
    '-NaN',
    '+Infinity',
    '-Infinit',
    'Infinity1',
    'NaN.',
    'undefined',
    '\u00a01',
    '1\u0660',
  ],
]

/** Strings that must be refused where they are read, but may be passed over. */
export const BAD_STRINGS: readonly string[] = ['"\n"', '"\\x"', '"\\u12"', '"\\u12g4"', '"\u0000"']

/** Numbers that Python writes: results of tools have them, messages of a protocol do not. */
export const PYTHON_NUMBERS: readonly string[] = ['NaN', 'Infinity', '-Infinity']
