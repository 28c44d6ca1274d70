import { describe, expect, it } from 'vitest'
import {
  eligibilityOf,
  type ListedTool,
  mayMutate,
} from '../../../../src/core/enrich/eligibility.ts'
import type { ModelLayers } from '../../../../src/core/enrich/models.ts'
import { modelsWith } from '../../../support/models.ts'

const CLOSED = { openWorldHint: false }

function verdict(tool: Partial<ListedTool>, layers: ModelLayers = {}) {
  const listed = { name: 't', server: 's', isTrusted: false, ...tool }
  return eligibilityOf(listed, modelsWith(layers).find(listed.name, listed.server))
}

const isEligible = (...parameters: Parameters<typeof verdict>) => verdict(...parameters).isEligible

// Contract, section 8, "Eligible"; SOURCES.md#planner, "Race strategy".
describe('a tool may be called ahead', () => {
  it.each(['pure', 'read_only'] as const)('if the user says that it is %s', side_effect_class => {
    expect(verdict({}, { user: { t: { side_effect_class } } })).toEqual({
      isEligible: true,
      checksHosts: true,
    })
  })

  it.each([
    ['a built-in model', { name: 'Read', annotations: CLOSED }],
    ["a provider's model", { name: 'list_issues', server: 'github', annotations: CLOSED }],
    ['its annotation', { annotations: { readOnlyHint: true, ...CLOSED } }],
  ])('if a trusted server offers it and %s says so', (_, tool) => {
    expect(verdict({ ...tool, isTrusted: true })).toEqual({ isEligible: true, checksHosts: false })
    expect(isEligible(tool)).toBe(false)
  })

  it('if it reaches the open world, only if the user lists it', () => {
    const tool = { name: 'WebFetch', isTrusted: true }
    expect(isEligible(tool)).toBe(false)
    expect(isEligible({ ...tool, annotations: { openWorldHint: true } })).toBe(false)
    expect(isEligible(tool, { user: { WebFetch: { poll_ttl_s: 1 } } })).toBe(false)
    const listed = verdict(tool, { user: { WebFetch: { speculate: true } } })
    expect(listed).toEqual({ isEligible: true, checksHosts: true })
  })

  it('by "*" alone only if a trusted server says that it is closed', () => {
    const user = { '*': { side_effect_class: 'read_only' } } as const
    expect(isEligible({ isTrusted: true, annotations: CLOSED }, { user })).toBe(true)
    expect(isEligible({ isTrusted: false, annotations: CLOSED }, { user })).toBe(false)
    expect(isEligible({ isTrusted: true }, { user })).toBe(false)
  })
})

describe('a tool is never called ahead', () => {
  const user = { t: { side_effect_class: 'pure' } } as const
  const trusted = { isTrusted: true, annotations: { readOnlyHint: true, ...CLOSED } }

  it('if nobody says that it reads', () => {
    expect(isEligible({ isTrusted: true, annotations: CLOSED })).toBe(false)
    expect(isEligible({ isTrusted: true, annotations: { readOnlyHint: false } })).toBe(false)
  })

  it.each(['mutates_local', 'mutates_external', 'indeterminate'] as const)(
    'if the user says that it is %s, whatever others say',
    side_effect_class => {
      expect(isEligible(trusted, { user: { t: { side_effect_class } } })).toBe(false)
      const read = { ...trusted, name: 'Read' }
      expect(isEligible(read, { user: { Read: { side_effect_class } } })).toBe(false)
    },
  )

  it('if a model says that it changes something, in spite of its annotation', () => {
    expect(isEligible({ ...trusted, name: 'Edit' })).toBe(false)
    expect(isEligible({ ...trusted, name: 'issue_write', server: 'github' })).toBe(false)
    const mined = { t: { side_effect_class: 'mutates_local' } } as const
    expect(isEligible(trusted, { mined })).toBe(false)
  })

  it('because it was mined as one that reads', () => {
    const mined = { t: { side_effect_class: 'pure', speculate: true } } as const
    expect(isEligible({ isTrusted: true, annotations: CLOSED }, { mined })).toBe(false)
    const edit = { Edit: { side_effect_class: 'pure' } } as const
    expect(isEligible({ ...trusted, name: 'Edit' }, { mined: edit })).toBe(false)
  })

  it('if speculate is false, and says whose word that is', () => {
    const off = { t: { side_effect_class: 'pure', speculate: false } } as const
    expect(verdict({}, { user: off })).toMatchObject({ reason: 'not_speculatable' })
    const mined = { t: { speculate: false } } as const
    expect(verdict(trusted, { mined })).toMatchObject({ reason: 'tuned_off' })
    const again = { t: { speculate: true, side_effect_class: 'pure' } } as const
    expect(isEligible(trusted, { mined, user: again })).toBe(true)
  })

  it('if it is annotated as destructive; to ask for it is a fault', () => {
    const tool = { ...trusted, annotations: { ...trusted.annotations, destructiveHint: true } }
    expect(verdict(tool)).toEqual({ isEligible: false, reason: 'not_speculatable' })
    expect(isEligible(tool, { user })).toBe(false)
    expect(verdict(tool, { user: { t: { speculate: true } } })).toEqual({
      isEligible: false,
      reason: 'not_speculatable',
      fault: 'tools.t.speculate: must not be true, since the tool is destructive',
    })
  })

  it('if it asks for input, or is a task', () => {
    expect(isEligible({ isInteractive: true }, { user })).toBe(false)
  })

  // SOURCES.md#planner, "Implementation status": context-management tools are rejected.
  it.each(['use_context', 'list_contexts', 'getContext', 'haversack_retrieve', 's__use_context'])(
    'if it manages contexts: %s',
    name => {
      const own = { [name]: { side_effect_class: 'pure' } } as const
      expect(isEligible({ name }, { user: own })).toBe(false)
    },
  )

  it.each(['TaskList', 'TodoWrite'])('if its results are noise: %s', name => {
    expect(isEligible({ name }, { user: { [name]: { side_effect_class: 'pure' } } })).toBe(false)
  })
})

describe('a call may change something', () => {
  const models = modelsWith({ user: { mine: { side_effect_class: 'read_only' } } })
  const may = (tool: Partial<ListedTool>) => {
    const listed = { name: 't', server: 's', isTrusted: false, ...tool }
    return mayMutate(listed, models.find(listed.name, listed.server))
  }

  it('unless it is believed to read', () => {
    expect(may({})).toBe(true)
    expect(may({ name: 'Read' })).toBe(true)
    expect(may({ annotations: { readOnlyHint: true } })).toBe(true)
    expect(may({ name: 'Edit', isTrusted: true })).toBe(true)
    expect(may({ name: 'mine' })).toBe(false)
    expect(may({ name: 'mine', annotations: { destructiveHint: true } })).toBe(true)
    expect(may({ name: 'Read', isTrusted: true })).toBe(false)
    expect(may({ isTrusted: true, annotations: { readOnlyHint: true } })).toBe(false)
  })
})
