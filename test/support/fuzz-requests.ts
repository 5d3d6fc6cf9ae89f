import fc from 'fast-check'

// Requests made from the OpenAPI document: valid ones, and ones with a part that its schema refuses.

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly minItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
}

interface Described {
  readonly operationId: string
  readonly 'x-keepup-right'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface FuzzedRequest {
  readonly operation: string
  /** Null: the operation is open to everyone, or checks a credential of its own. */
  readonly right: string | null
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Values by the name of a parameter or member, so that requests reach existing things and only folders of the test. */
export type Known = Readonly<Record<string, readonly unknown[]>>

const DEPTH = 5

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, -1, 1e308, '', ' ', '\u0000', '\ud800', '../../etc/passwd', '%', '__proto__', [], {}),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
  fc.constant('x'.repeat(5_000)),
)

/** Values that a schema allows, and rarely others. */
function fromSchema(api: OpenApi, schema: Schema, known: Known, name = '', depth = 0): fc.Arbitrary<unknown> {
  const of = (inner: Schema, member = name) => fromSchema(api, inner, known, member, depth + 1)
  const pool = known[name]
  if (pool !== undefined) return fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...pool) }, fc.constant('none'))
  if (schema.$ref !== undefined) return of(api.components.schemas[schema.$ref.split('/').at(-1)!]!)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((one) => of(one)))
  if (schema.allOf !== undefined)
    return fc.tuple(...schema.allOf.map((one) => of(one))).map((all) => Object.assign({}, ...all) as unknown)
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'object': {
      if (depth > DEPTH) return fc.constant({})
      const { properties = {}, required = [] } = schema
      const members = Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, of(one, key)]))
      return fc.record(members, { requiredKeys: required.filter((key) => key in members) })
    }
    case 'array':
      return fc.array(depth > DEPTH ? fc.constant('x') : of(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: 3,
      })
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: Math.max(schema.minimum ?? 0, -1_000), max: Math.min(schema.maximum ?? 100, 1_000_000) }),
        fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 1),
      )
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      if (schema.format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
      return textOf(schema)
    default:
      return odd
  }
}

function textOf({ pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 40) })
  try {
    return fc.stringMatching(new RegExp(pattern))
  } catch {
    // The pattern has a feature that the generator does not know.
    return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 40) })
  }
}

/** Replaces or adds one member of a body, or leaves it. */
const altered = (body: unknown): fc.Arbitrary<unknown> =>
  typeof body !== 'object' || body === null
    ? odd
    : fc.oneof(
        { weight: 5, arbitrary: fc.constant(body) },
        {
          weight: 2,
          arbitrary: fc
            .tuple(fc.constantFrom(...Object.keys(body), 'extra'), odd)
            .map(([key, value]) => ({ ...body, [key]: value })),
        },
        { weight: 1, arbitrary: odd },
      )

const TYPES = ['text/plain', 'application/xml', 'application/json; charset=utf-16', 'multipart/form-data', '']

/** Requests to every operation of the document. */
export function fuzzedRequests(api: OpenApi, known: Known): fc.Arbitrary<FuzzedRequest> {
  const requests = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => requestOf(api, { path, method, described }, known)),
  )
  return fc.oneof(...requests)
}

function requestOf(
  api: OpenApi,
  { path, method, described }: { path: string; method: string; described: Described },
  known: Known,
): fc.Arbitrary<FuzzedRequest> {
  const { parameters = [], requestBody } = described
  const of = (place: string) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place)
          .map(({ name, schema }) => [
            name,
            fc.oneof({ weight: 6, arbitrary: fromSchema(api, schema ?? {}, known, name) }, odd),
          ]),
      ),
      place === 'path'
        ? {}
        : { requiredKeys: parameters.filter((one) => one.in === place && one.required).map(({ name }) => name) },
    )
  const schema = requestBody?.content['application/json']?.schema
  const json = schema === undefined ? fc.constant(undefined) : fromSchema(api, schema, known).chain(altered)
  const body = fc.oneof(
    { weight: 9, arbitrary: json.map((value) => (value === undefined ? undefined : JSON.stringify(value))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('{', '[1,', '{"a":1}garbage', '"\\ud800"', '{"__proto__":{"a":1}}', 'null'),
    },
  )
  const type = fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
  )
  return fc
    .record({ params: of('path'), query: of('query'), headers: of('header'), body, type })
    .map(({ params, query, headers, body, type }) => {
      const text = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
      const search = new URLSearchParams(
        Object.entries(query as Record<string, unknown>).map(([key, value]) => [key, text(value)]),
      )
      // An empty part or a dot would name another route.
      const part = (name: string): string => {
        const value = text((params as Record<string, unknown>)[name] ?? 'none').toWellFormed()
        return /^\.*$/.test(value) ? 'none' : encodeURIComponent(value)
      }
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => part(name))
      const sendable = Object.entries(headers as Record<string, unknown>)
        .map(([key, value]) => [key, text(value)] as const)
        .filter(([, value]) => /^[\x20-\x7e]*$/.test(value))
      return {
        operation: described.operationId,
        right: described['x-keepup-right'] ?? null,
        method: method.toUpperCase(),
        path: search.size === 0 ? filled : `${filled}?${search}`,
        headers: {
          ...Object.fromEntries(sendable),
          ...(body !== undefined && method !== 'get' && { 'content-type': type }),
        },
        body: method === 'get' ? undefined : body,
      }
    })
}
