import { describe, expect, it } from 'vitest'
import { apiBasesIn, modelsLeft, withApiBases } from '../../../src/cli/setup/litellm-models.ts'

const AT = 'http://127.0.0.1:8787'
const CONFIG = `# of the team
model_list:
  - model_name: opus   # the large one
    litellm_params:
      model: anthropic/claude-opus-4   # newest
      api_key: os.environ/ANTHROPIC_API_KEY
  - model_name: gpt
    litellm_params: {model: gpt-4o, api_key: os.environ/OPENAI_API_KEY}
  - model_name: own
    litellm_params:
      api_base: https://vllm.internal/v1
      model: openai/qwen
  - model_name: eu
    litellm_params: { model: azure/gpt-4o }
  - model_name: direct
    litellm_params:
      model: openai/gpt-4o
      api_base: "https://api.openai.com/v1"
general_settings:
  master_key: sk-1 # secret
`

describe('withApiBases', () => {
  it('sends models of both vendors to the service, and leaves the rest', () => {
    const edited = withApiBases(CONFIG, AT)
    expect(edited).toBe(
      CONFIG.replace(
        '      model: anthropic/',
        `      api_base: ${AT}/anthropic\n      model: anthropic/`,
      )
        .replace('{model: gpt-4o', `{api_base: ${AT}/openai/v1, model: gpt-4o`)
        .replace('"https://api.openai.com/v1"', `${AT}/openai/v1`),
    )
    expect(apiBasesIn(edited)).toEqual([AT, 'https://vllm.internal/v1'])
    expect(withApiBases(edited, AT)).toBe(edited)
    expect(modelsLeft(CONFIG)).toEqual([expect.stringMatching(/: own, eu\.$/)])
  })

  it('takes another service in place of one on this machine', () => {
    const edited = withApiBases(CONFIG, AT)
    const moved = withApiBases(edited, 'https://haversack.team')
    expect(moved).toBe(edited.replaceAll(AT, 'https://haversack.team'))
    expect(withApiBases(moved, 'https://haversack.team')).toBe(moved)
  })

  it('changes parameters that models share once', () => {
    const shared = `
defaults: &own
  model: claude-opus-4
model_list:
  - litellm_params: *own
  - litellm_params: *own
`
    expect(withApiBases(shared, AT)).toBe(
      shared.replace('  model:', `  api_base: ${AT}/anthropic\n  model:`),
    )
  })

  it.each([
    ['model_list: [', 'it is no YAML'],
    ['- a\n- b\n', 'it is no configuration'],
    ['model_list: {a: 1}\n', 'model_list is no list'],
    ['model_list:\n', 'it has no model of Anthropic or OpenAI'],
    ['', 'it has no model of Anthropic or OpenAI'],
    ['model_list:\n- litellm_params: {model: azure/a}\n', 'it has no model of Anthropic or OpenAI'],
    ['a: 1\n---\nmodel_list: []\n', 'it is no YAML'],
    ['model_list:\n- litellm_params:\n    ? model\n    : claude-x\n', 'set it by hand'],
  ])('refuses %j', (text, fault) => {
    expect(() => withApiBases(text, AT)).toThrow(fault)
  })
})
