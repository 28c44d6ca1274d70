/**
 * Bodies that should be hard to read in linear time, by what they are full of; some are no
 * requests.
 */
export const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  'one plain text': bytes => result('a'.repeat(bytes)),
  backslashes: bytes => result('\\\\'.repeat(bytes / 2)),
  'escapes of six bytes': bytes => result('\\u0022'.repeat(bytes / 6)),
  'a text without an end': bytes => result('a'.repeat(bytes)).slice(0, bytes),
  'empty texts': bytes => request(repeat('{"type":"text","text":""}', bytes)),
  'empty results': bytes => request(repeat('{"type":"tool_result","content":""}', bytes)),
  'blocks with a breakpoint': bytes =>
    request(repeat('{"cache_control":{},"type":"tool_result","content":""}', bytes)),
  zeros: bytes => request(repeat('0', bytes)),
  'keys that nobody asked for': bytes => request(`{${repeat('"x":0', bytes)}}`),
  'escaped keys': bytes => request(`{${repeat('"\\u0074ypo":0', bytes)}}`),
  'one long key': bytes => request(`{"\\u0074${'x'.repeat(bytes)}":0}`),
  'doubled keys': bytes => request(`{${repeat('"type":0', bytes)}}`),
  brackets: bytes => request('['.repeat(bytes)),
  'white space': bytes => request(' '.repeat(bytes)),
  'long numbers': bytes => request(`{"x":${'1'.repeat(bytes)}}`),
}

function request(blocks: string): string {
  return `{"messages":[{"role":"user","content":[${blocks}]}]}`
}

function result(text: string): string {
  return request(`{"type":"tool_result","content":"${text}"}`)
}

function repeat(value: string, bytes: number): string {
  return Array.from({ length: Math.ceil(bytes / (value.length + 1)) }, () => value).join(',')
}
