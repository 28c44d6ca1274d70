/** Elements that are opened and closed; one pair alone is how tools wrap a remark. */
const MIN_ELEMENTS = 2
/** Names remembered while their element is open; documents have fewer kinds. */
const MAX_NAMES = 64
const MAX_NAME_LENGTH = 64
/** Declarations with which a document names its own kind. */
const PROLOGUES = ['<?xml', '<!DOCTYPE html', '<!doctype html']

/**
 * Whether the text holds XML or HTML: it begins as such a document, or closes two elements that it
 * opened.
 */
export function hasMarkup(text: string): boolean {
  let at = text.indexOf('<')
  if (at === -1) return false
  if (
    PROLOGUES.some(prologue => text.startsWith(prologue, at)) &&
    text.slice(0, at).trim() === ''
  ) {
    return true
  }
  const opened = new Set<string>()
  let closed = 0
  for (; at !== -1; at = text.indexOf('<', at + 1)) {
    const isClosing = text.charAt(at + 1) === '/'
    const name = nameAt(text, isClosing ? at + 2 : at + 1)
    if (name === '') continue
    if (!isClosing) {
      if (opened.size < MAX_NAMES) opened.add(name)
    } else if (opened.has(name) && ++closed >= MIN_ELEMENTS) return true
  }
  return false
}

/** The tag's name at `start`; empty if there is none. */
function nameAt(text: string, start: number): string {
  let at = start
  while (at < start + MAX_NAME_LENGTH && isNamePart(text.charCodeAt(at), at === start)) at++
  return text.slice(start, at)
}

/** A letter; after the first one also a digit, `-`, `.`, `:` or `_`. */
function isNamePart(c: number, isFirst: boolean): boolean {
  const lower = c | 0x20
  if (lower >= 0x61 && lower <= 0x7a) return true
  return !isFirst && ((c >= 0x2d && c <= 0x3a && c !== 0x2f) || c === 0x5f)
}
