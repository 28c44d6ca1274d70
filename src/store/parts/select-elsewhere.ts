import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { AppError } from '../../core/base/errors.ts'
import type { Part, PartSelector } from '../../core/parts/part.ts'
import { selectPart } from '../../core/parts/select-part.ts'
import { startThread } from '../../threads/start-thread.ts'
import type { Result, StoredBody } from '../store.ts'
import { UnreadableError } from '../values/codec.ts'
import { fail, partFailure } from '../values/failure.ts'
import { type PackedBody, unpackBody } from './packed-body.ts'

export type PartAnswer = Result<{ readonly part: Part }>

/** Cuts parts out of bodies in another thread than the one that all calls go through. */
export interface SelectElsewhere {
  /**
   * Only one call may run at a time. The body's buffer is transferred. The reason `lost` says that
   * the thread was, and `gone` that the body cannot be decompressed.
   */
  select(body: PackedBody, selector: PartSelector): Promise<PartAnswer>
  close(): Promise<void>
}

/** What a part of a large body is cut from, elsewhere. */
export interface WholeForPart extends Omit<StoredBody, 'body'> {
  readonly whole: PackedBody
}

/**
 * Larger bodies are searched in another thread, because a path in them may take longer than reading
 * them.
 */
const LOOKED_THROUGH_HERE_BYTES = 64 * 1024

/** Whether the selector needs to search a large body. `bytes`: of the body, `null` if unknown. */
export function isCutElsewhere({ kind }: PartSelector, bytes: number | null): boolean {
  const isLarge = bytes === null || bytes > LOOKED_THROUGH_HERE_BYTES
  return isLarge && (kind === 'path' || kind === 'grep')
}

/**
 * The part with its content in a buffer of its own size, so that a transfer includes nothing else.
 */
export function ownPart(part: Part): Part {
  const { content } = part
  const isWhole = content.byteLength === content.buffer.byteLength
  return isWhole ? part : { ...part, content: new Uint8Array(content) }
}

export interface SelectJob {
  readonly body: PackedBody
  readonly selector: PartSelector
}

/** The part, in a buffer of its own; what a client did wrong is a value, and so is damage. */
export function selectOwn({ body, selector }: SelectJob): PartAnswer {
  try {
    return { ok: true, part: ownPart(selectPart(unpackBody(body), selector)) }
  } catch (error) {
    if (error instanceof AppError) return partFailure(error)
    if (error instanceof UnreadableError) return UNREADABLE
    throw error
  }
}

/** Starts the thread with the first part that needs it, and again if it was lost. */
export function threadSelect(): SelectElsewhere {
  let worker: Worker | null = null
  let settle: ((answer: PartAnswer) => void) | null = null

  function answered(answer: PartAnswer): void {
    const last = settle
    settle = null
    last?.(answer)
  }

  function start(): Worker {
    const started = startThread(threadModule(), { name: 'parts' })
    started.unref()
    started.on('message', answered)
    // An error is followed by the end.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = null
      answered(LOST)
    })
    return started
  }

  return {
    select(body, selector) {
      worker ??= start()
      const job: SelectJob = { body, selector }
      return new Promise(resolve => {
        settle = resolve
        worker?.postMessage(job, [body.packed.buffer])
      })
    },
    async close() {
      await worker?.terminate()
    },
  }
}

const UNREADABLE = fail('gone', 'the original was damaged')
const LOST = fail('lost', 'the thread that cuts parts was lost')

/** TypeScript here, JavaScript in the published package. */
function threadModule(): URL {
  return new URL(`./parts-thread${extname(import.meta.url)}`, import.meta.url)
}
