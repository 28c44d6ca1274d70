import { inSample, type Sample } from './sample.ts'

interface Mutant {
  readonly id: string
}

interface Verdict {
  readonly status: 'passed' | 'compileError'
  readonly reason?: string
}

/** Stryker runs no samples, but it asks checkers which mutants are worth a run. */
function createSampleChecker({ sample }: { readonly sample: Sample }) {
  return {
    init: async () => {},
    group: async (mutants: readonly Mutant[]) => [mutants.map(({ id }) => id)],
    check: async (mutants: readonly Mutant[]): Promise<Record<string, Verdict>> =>
      Object.fromEntries(mutants.map(mutant => [mutant.id, judge(sample, mutant)])),
  }
}
createSampleChecker.inject = ['options']

function judge(sample: Sample, mutant: Mutant): Verdict {
  if (inSample(sample, mutant.id)) return { status: 'passed' }
  return { status: 'compileError', reason: 'not in the sample' }
}

/** What Stryker looks for in a plugin's module. */
export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: createSampleChecker }]
