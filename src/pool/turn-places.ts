/** A turn of a conversation, by parts of its body. */
export interface TurnSamples {
  readonly tenant: string
  readonly op: string
  readonly samples: Uint32Array
}

/** A turn that ran on a thread. */
interface PlacedTurn extends TurnSamples {
  readonly thread: number
}

/**
 * The threads that had the latest turns of conversations. A thread remembers what it has read of a
 * conversation, so the next turn costs least there. All of this is a hint: a wrong thread only
 * takes longer.
 */
export interface TurnPlaces {
  /** The id of the thread that had the tenant's turn that begins most like this one. */
  find(turn: TurnSamples): number | undefined
  /** Notes the thread of a turn, in place of the turn that it continues. */
  note(turn: TurnSamples, thread: number): void
}

/** As many as two to four threads remember; 4 KiB each at most. */
const MAX_TURNS = 128
/** Bytes between samples, which have four bytes each. */
const STRIDE = 1024
const MAX_SAMPLES = 1024
/** Samples at the end of a turn that the next one may have differently. */
const CHANGING_SAMPLES = 1

/** Samples a body at fixed places: a turn has nearly all of those of the turn before. */
export function sampleTurn(tenant: string, op: string, body: Uint8Array): TurnSamples {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const samples = new Uint32Array(Math.min(MAX_SAMPLES, Math.floor(body.length / STRIDE)))
  for (let i = 0; i < samples.length; i++) samples[i] = view.getUint32(i * STRIDE)
  return { tenant, op, samples }
}

export function createTurnPlaces(): TurnPlaces {
  /** The latest comes first. */
  const placed: PlacedTurn[] = []

  /** The turn with most in common, and how many samples that is; of several the latest. */
  function closest({ tenant, op, samples }: TurnSamples) {
    let place = -1
    let most = 0
    for (let index = 0; index < placed.length; index++) {
      const earlier = placed[index]!
      if (earlier.tenant !== tenant || earlier.op !== op) continue
      // To have more in common it must have this sample too, which other conversations rarely do.
      if (earlier.samples[most] !== samples[most]) continue
      const common = commonSamples(earlier.samples, samples)
      if (common <= most) continue
      place = index
      most = common
    }
    return { place, most }
  }

  return {
    find: turn => placed[closest(turn).place]?.thread,
    note(turn, thread) {
      const { place, most } = closest(turn)
      const earlier = placed[place]?.samples.length ?? Number.POSITIVE_INFINITY
      if (most >= earlier - CHANGING_SAMPLES) placed.splice(place, 1)
      placed.unshift({ ...turn, thread })
      placed.splice(MAX_TURNS)
    },
  }
}

function commonSamples(a: Uint32Array, b: Uint32Array): number {
  const end = Math.min(a.length, b.length)
  let at = 0
  while (at < end && a[at] === b[at]) at++
  return at
}
