import { encodeContent } from '../../src/core/pipeline/encode-content.ts'
import { createTokenCounters } from '../../src/core/tokens/counters.ts'
import { benchSetup } from '../support/worker-setup.ts'
import { generatedIssues } from './lists.ts'

/**
 * Prints how far the peak of resident memory rises when a list of that many issues is trimmed, in
 * KiB. That says what the trim needs if each collection is a full one and comes early:
 * `node --gc-global --max-semi-space-size=1 bench/trim-corpus/memory.ts 1000`. With V8's own choice
 * most of the peak is garbage, and how much depends on the load of the machine.
 */
const count = Number(process.argv[2])
const counters = createTokenCounters(benchSetup().vocabularies)
const context = { counters, maxDepth: 64, maxDecodedChars: 2 ** 24, keepsOriginals: true }
const trim = (content: string, budget_tokens: number) =>
  encodeContent({ content, mode: 'trim', budget_tokens, tool: 'get_issues' }, context)

// What the first encode needs once is not the list's.
trim(generatedIssues(4), 300)
const content = generatedIssues(count)
const before = process.resourceUsage().maxRSS
trim(content, 8_000)
process.stdout.write(`${process.resourceUsage().maxRSS - before}\n`)
