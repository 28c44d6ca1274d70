import { isDeepStrictEqual } from 'node:util'
import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { OWN_DIALECTS } from '../../core/dialects/lookup.ts'

/** Providers that the service forwards to, and where its base URL has them. */
const PROVIDERS: Readonly<Record<string, Provider>> = Object.fromEntries(
  OWN_DIALECTS.map(({ name, own, host, vendor }) => [
    name,
    { path: `/${name}${own.version ?? ''}`, host, bare: vendor.models },
  ]),
)

interface Provider {
  readonly path: string
  /** The vendor's own, which the service reaches in its place. */
  readonly host: string | undefined
  /** Models that LiteLLM knows without the name of the provider. */
  readonly bare: RegExp
}

/** A model of a configuration. */
interface Model {
  readonly name: string
  /** The parameters of its calls. */
  readonly params: YAMLMap
  readonly provider: Provider | undefined
  /** Its own base URL. */
  readonly apiBase: string | undefined
}

interface ServedModel extends Model {
  readonly provider: Provider
}

/** A change of a text: what is there `[start, end)` is replaced. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * A configuration of LiteLLM whose models of Anthropic and OpenAI have a service as their
 * `api_base`. Those that have one of their own keep it, and so does all else of the text.
 * @throws Error for a text that is no such configuration, has no such model, or cannot be changed
 * so that nothing else changes
 */
export function withApiBases(text: string, service: string): string {
  const isServed = servedBy(service)
  const served = modelsIn(read(text)).filter(isServed)
  const edits = served
    .filter(({ apiBase, provider }) => apiBase !== service + provider.path)
    .map(model => editOf(model, service, text))
  const edited = edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((before, { start, end, text: by }) => {
      return before.slice(0, start) + by + before.slice(end)
    }, text)
  const wanted = read(text)
  for (const { params, provider } of modelsIn(wanted).filter(isServed)) {
    params.set('api_base', service + provider.path)
  }
  if (served.length === 0) {
    throw new Error('it has no model of Anthropic or OpenAI without an api_base of its own')
  }
  if (isDeepStrictEqual(readOrNull(edited), wanted.toJS())) return edited
  throw new Error('an api_base cannot be set in it without changing more: set it by hand')
}

/** The services that models have as their `api_base`, and base URLs of others, each once. */
export function apiBasesIn(text: string): readonly string[] {
  const bases = modelsIn(read(text)).flatMap(({ apiBase, provider }) => {
    if (apiBase === undefined || provider === undefined) return []
    return [apiBase.endsWith(provider.path) ? apiBase.slice(0, -provider.path.length) : apiBase]
  })
  return [...new Set(bases)]
}

/** Which models keep another base URL, as sentences. */
export function modelsLeft(text: string): readonly string[] {
  const left = modelsIn(read(text)).filter(model => !servedBy()(model))
  if (left.length === 0) return []
  const names = left.map(({ name }) => name).join(', ')
  return [`Models of other providers, or with an api_base, stay as they are: ${names}.`]
}

/**
 * Whether a model's provider is one that the service forwards to, at the provider's own base URL,
 * or by this or another service.
 */
function servedBy(service?: string) {
  return (model: Model): model is ServedModel => {
    const { provider, apiBase } = model
    if (provider === undefined || apiBase === undefined) return provider !== undefined
    const url = URL.parse(apiBase)
    const isOurs = service !== undefined && apiBase === service + provider.path
    return isOurs || url?.host === provider.host || isOnThisMachine(url, provider)
  }
}

/** A base URL as this command writes it by default. */
function isOnThisMachine(url: URL | null, { path }: Provider): boolean {
  return url?.hostname === '127.0.0.1' && url.pathname === path
}

/** Either the value of the `api_base` that is there, or a line before the name of the model. */
function editOf(model: ServedModel, service: string, text: string): Edit {
  const { params, apiBase, provider } = model
  const url = service + provider.path
  const value = /^[\w.:/-]+$/.test(url) ? url : JSON.stringify(url)
  if (apiBase !== undefined) {
    const [start, end] = rangeOf(params.get('api_base', true))
    return { start, end, text: value }
  }
  const [start] = rangeOf(params.items.find(({ key }) => isNamed(key, 'model'))?.key)
  if (params.flow === true) return { start, end: start, text: `api_base: ${value}, ` }
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).replace(/\S/g, ' ')
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return { start, end: start, text: `api_base: ${value}${eol}${indent}` }
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = isScalar(node) ? node.range : undefined
  if (range == null) throw new Error('an api_base cannot be set in it: set it by hand')
  return [range[0], range[1]]
}

function isNamed(key: unknown, name: string): boolean {
  return isScalar(key) && key.value === name
}

/** The models of a configuration, those that share their parameters once. */
function modelsIn(doc: Document): readonly Model[] {
  const list = doc.get('model_list') ?? null
  if (list === null) return []
  if (!isSeq(list)) throw new Error('model_list is no list')
  const models = new Map<YAMLMap, Model>()
  for (const item of list.items) {
    const found = isMap(item) ? item.get('litellm_params') : undefined
    const params = isAlias(found) ? found.resolve(doc) : found
    if (!isMap(item) || !isMap(params)) continue
    const [model, apiBase, provider] = ['model', 'api_base', 'custom_llm_provider'].map(key =>
      asText(params.get(key)),
    )
    if (model === undefined) continue
    const name = asText(item.get('model_name')) ?? model
    models.set(params, { name, params, provider: providerOf(model, provider), apiBase })
  }
  return [...models.values()]
}

function providerOf(model: string, named: string | undefined): Provider | undefined {
  const slash = model.indexOf('/')
  const name = named ?? (slash === -1 ? undefined : model.slice(0, slash))
  if (name !== undefined) return Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined
  return Object.values(PROVIDERS).find(({ bare }) => bare.test(model))
}

function readOrNull(text: string): unknown {
  try {
    return read(text).toJS()
  } catch {
    return null
  }
}

/** As LiteLLM reads it, by YAML 1.1. */
function read(text: string): Document {
  const doc = parseDocument(text, { version: '1.1' })
  const fault = doc.errors[0]
  if (fault !== undefined) throw new Error(`it is no YAML: ${fault.message.split('\n', 1)[0]}`)
  if (doc.contents !== null && !isMap(doc.contents)) throw new Error('it is no configuration')
  return doc
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
