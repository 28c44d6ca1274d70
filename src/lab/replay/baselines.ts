import { writeJson } from '../../core/json/write-json.ts'
import type { TokenCounter } from '../../core/tokens/counter.ts'
import { jsonValue } from '../../core/verify/same-meaning.ts'

/** Ways to write a result without us, by name. */
export const BASELINES = {
  input: 'the input as it came',
  json_compact: 'compact JSON for results that are JSON, other text as it came',
  json_pretty: 'JSON indented by two spaces for results that are JSON, other text as it came',
  toon: 'TOON for results that are JSON, other text as it came',
} as const

export type Baseline = keyof typeof BASELINES

export const BASELINE_IDS = Object.keys(BASELINES) as readonly Baseline[]

type Render = (text: string) => string

/**
 * Counts a result as the baseline writes it; pretty JSON and TOON write numbers as doubles.
 * @returns `null` for the input, whose tokens each answer has
 */
export async function baselineCounter(
  baseline: Baseline,
  counter: TokenCounter,
): Promise<((text: string) => number) | null> {
  const render = await rendererOf(baseline)
  return render && (text => counter.count(render(text)))
}

async function rendererOf(baseline: Baseline): Promise<Render | null> {
  switch (baseline) {
    case 'input':
      return null
    case 'json_compact':
      return text => {
        const value = jsonValue(text)
        return value === undefined ? text : writeJson(value)
      }
    case 'json_pretty':
      return ifJson(value => JSON.stringify(value, null, 2))
    case 'toon': {
      // Nothing else needs it.
      const { encode } = await import('@toon-format/toon')
      return ifJson(value => encode(value))
    }
  }
}

function ifJson(write: (value: unknown) => string): Render {
  return text => {
    const value = jsonValue(text)
    const json = value === undefined ? undefined : fromJson(text)
    return json === undefined ? text : write(json)
  }
}

/** Returns `undefined` for JSON that only Python reads. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
