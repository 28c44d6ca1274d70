/** A header by which a request lets a gateway forget. */
export type ForgettingHeader = 'helicone-token-limit-exception-handler'

/** How one vendor, server or gateway leaves out parts of a prompt that the request still has. */
export interface VendorForgetting {
  readonly vendor: string
  /** Members of a request, at any depth outside its texts and tools. */
  readonly fields: readonly string[]
  /** `id` or `type` of an item in any list, such as a plugin. */
  readonly items?: readonly string[]
  /** Headers, with the values by which they let it forget. */
  readonly headers?: readonly { readonly name: ForgettingHeader; readonly values: RegExp }[]
  /** What drops the front of a prompt without being asked: by host and port of its URL. */
  readonly upstream?: { readonly host: RegExp; readonly port?: string }
  /** Where it is documented, and when that was read. */
  readonly source: string
  readonly date: string
}

/**
 * Every way that is known to let a model lose results that a request has. A name that
 * `speaksOfForgetting` recognises counts without being here.
 */
export const VENDOR_FORGETTING: readonly VendorForgetting[] = [
  {
    vendor: 'Anthropic',
    fields: ['context_management', 'compaction'],
    items: ['compact_20260112', 'clear_tool_uses_20250919'],
    source: 'https://platform.claude.com/docs/en/build-with-claude/compaction',
    date: '2026-11-28',
  },
  {
    vendor: 'OpenAI',
    fields: ['context_management', 'truncation', 'truncation_strategy'],
    items: ['compaction'],
    source: 'https://developers.openai.com/api/docs/guides/compaction',
    date: '2026-11-28',
  },
  {
    vendor: 'OpenRouter',
    fields: ['transforms'],
    items: ['context-compression'],
    source: 'https://openrouter.ai/docs/guides/features/message-transforms',
    date: '2026-11-28',
  },
  {
    vendor: 'vLLM',
    fields: ['truncate_prompt_tokens'],
    source: 'https://docs.vllm.ai/en/v0.15.0/api/vllm/entrypoints/utils/',
    date: '2026-11-28',
  },
  {
    vendor: 'Ollama',
    fields: ['num_ctx', 'num_keep', 'shift', 'truncate'],
    upstream: { host: /ollama/i, port: '11434' },
    source: 'https://docs.ollama.com/context-length',
    date: '2026-11-28',
  },
  {
    vendor: 'LM Studio',
    fields: ['contextOverflowPolicy', 'context_overflow_policy'],
    upstream: { host: /lm-?studio/i, port: '1234' },
    source: 'https://lmstudio.ai/docs/typescript/api-reference/llm-prediction-config-input',
    date: '2026-11-28',
  },
  {
    vendor: 'llama.cpp',
    fields: ['n_keep', 'n_discard', 'context_shift'],
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    date: '2026-11-28',
  },
  {
    vendor: 'Text Generation Inference',
    fields: ['truncate'],
    source: 'https://huggingface.co/docs/text-generation-inference/reference/api_reference',
    date: '2026-11-28',
  },
  {
    vendor: 'Fireworks',
    fields: ['prompt_truncate_len'],
    source: 'https://docs.fireworks.ai/api-reference/post-chatcompletions',
    date: '2026-11-28',
  },
  {
    vendor: 'Cohere',
    fields: ['prompt_truncation'],
    source: 'https://docs.cohere.com/docs/prompt-truncation',
    date: '2026-11-28',
  },
  {
    vendor: 'Google',
    fields: ['contextWindowCompression', 'context_window_compression'],
    source: 'https://ai.google.dev/api/live',
    date: '2026-11-28',
  },
  {
    vendor: 'Helicone',
    fields: [],
    headers: [{ name: 'helicone-token-limit-exception-handler', values: /truncate|middle-?out/i }],
    source: 'https://docs.helicone.ai/features/advanced-usage/llm-context-handling',
    date: '2026-11-28',
  },
]

/** Whether what answers at a URL is known to drop the front of a prompt without being asked. */
export function upstreamForgets(url: string, name = ''): boolean {
  const { hostname = '', port = '' } = URL.parse(url) ?? {}
  return VENDOR_FORGETTING.some(({ upstream }) => {
    if (upstream === undefined) return false
    return upstream.port === port || upstream.host.test(hostname) || upstream.host.test(name)
  })
}

/** Whether the headers of a request let a gateway leave out parts of its prompt. */
export function headersLetForget(header: (name: ForgettingHeader) => string | undefined): boolean {
  return VENDOR_FORGETTING.some(({ headers = [] }) =>
    headers.some(({ name, values }) => values.test(header(name) ?? '')),
  )
}
