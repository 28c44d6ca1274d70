import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder for its owner only, and those above it that are missing. Node's own `recursive`
 * does not end in a file system that refuses new entries as missing ones, such as `/proc`.
 * @throws the system's error if one of them cannot be made, or is something else
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const missing: string[] = []
  for (let each = resolve(folder); ; each = dirname(each)) {
    if (statSync(each, { throwIfNoEntry: false }) !== undefined) break
    missing.push(each)
    if (dirname(each) === each) break
  }
  for (const each of missing.reverse()) makeOne(each, mode)
  // What is there may be a file.
  if (missing.length === 0) makeOne(resolve(folder), mode)
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have made it.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
