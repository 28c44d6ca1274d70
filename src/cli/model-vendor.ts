import type { PricedVendor } from '../core/conversation/usage/billing.ts'
import { bareModelName } from '../core/tokens/profiles.ts'

/** Whose prices a model has; Anthropic's if that is not known. */
export function vendorOf(model: string | undefined): PricedVendor {
  const name = bareModelName(model ?? '')
  if (/^(?:gpt|o\d|codex|chatgpt)/.test(name)) return 'openai'
  if (name.startsWith('gemini')) return 'google'
  return name.startsWith('nova') ? 'amazon' : 'anthropic'
}
