/** So much of a command is enough to find what it runs. */
const MAX_CHARS = 8_192
const MAX_WORDS = 64

/** End a simple command outside of quotes. */
const ENDS = new Set([';', '&', '|', '\n', '(', ')'])
const BLANKS = new Set([' ', '\t', '\r'])

/**
 * The simple commands at the start of a shell's input, one after the other, each as its words
 * without their quotes; comments are passed over. Nothing is expanded. What is after the first
 * 8,192 characters or 64 words of a command is not read.
 */
export function* firstCommands(command: string): Generator<string[]> {
  const text = command.slice(0, MAX_CHARS)
  let words: string[] = []
  let at = 0
  while (at < text.length) {
    const c = text[at]!
    if (ENDS.has(c)) {
      if (words.length > 0) yield words
      words = []
      at++
    } else if (BLANKS.has(c)) at++
    else if (c === '#') {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else {
      const { word, end } = readWord(text, at)
      if (words.length < MAX_WORDS && word !== '{' && word !== '}') words.push(word)
      at = end
    }
  }
  if (words.length > 0) yield words
}

/** One word, which may have quoted parts. */
function readWord(text: string, start: number): { word: string; end: number } {
  let word = ''
  let at = start
  while (at < text.length) {
    const c = text[at]!
    if (BLANKS.has(c) || ENDS.has(c)) break
    if (c === "'") {
      const close = indexOrEnd(text, "'", at + 1)
      word += text.slice(at + 1, close)
      at = close + 1
    } else if (c === '"') {
      const quoted = readQuoted(text, at + 1)
      word += quoted.word
      at = quoted.end
    } else if (c === '\\') {
      // At the end of a line it joins two.
      if (text[at + 1] !== '\n') word += text[at + 1] ?? ''
      at += 2
    } else {
      word += c
      at++
    }
  }
  return { word, end: at }
}

function readQuoted(text: string, start: number): { word: string; end: number } {
  let word = ''
  let at = start
  while (at < text.length && text[at] !== '"') {
    if (text[at] === '\\') at++
    word += text[at] ?? ''
    at++
  }
  return { word, end: at + 1 }
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from)
  return at === -1 ? text.length : at
}
