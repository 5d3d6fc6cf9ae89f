import { z } from 'zod'
import type { Json, JsonObject } from '../../domain/log/json.ts'

// Simplifies the schema of a tool's arguments so that calls can be checked safely. The server checks its arguments
// itself, so the simplified schema may be looser: keywords of unbounded cost and unknown keywords are dropped.

const MAX_DEPTH = 24
/** The most parts after the expansion of references. */
const MAX_NODES = 2_000
const MAX_BYTES = 64 * 1024
/** The longest description of an argument, in characters. */
const MAX_DESCRIPTION = 1_000

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const SCHEMA = new Set(['items', 'additionalProperties', 'additionalItems'])
const SCHEMAS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const NAMED = new Set(['properties'])
/**
 * Keywords that remain unchanged. A `pattern` may take exponential time, so it only becomes part of the description.
 */
const KEPT = new Set([
  ...['type', 'enum', 'const', 'required', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minProperties', 'maxProperties', 'default', 'title'],
])

/** An unusable schema. `message` gives the reason as the end of a sentence about it. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused'
}

/**
 * The schema without references, patterns and keywords of other dialects. A recursive reference accepts any value.
 * Throws SchemaRefused if the schema is not for an object or is too large.
 */
export function usableSchema(given: unknown): JsonObject {
  const root = given as JsonObject
  if (root === null || typeof root !== 'object' || root.type !== 'object')
    throw new SchemaRefused('expected a JSON Schema with "type": "object"')
  let nodes = 0
  const simplify = (schema: Json, depth: number, within: readonly string[]): Json => {
    if (typeof schema === 'boolean') return schema
    if (++nodes > MAX_NODES) throw new SchemaRefused(`it has more than ${MAX_NODES} parts`)
    if (depth > MAX_DEPTH) throw new SchemaRefused(`it is nested deeper than ${MAX_DEPTH} levels`)
    if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return {}
    if (typeof schema.$ref === 'string') {
      if (within.includes(schema.$ref)) return {}
      return simplify(target(root, schema.$ref), depth, [...within, schema.$ref])
    }
    const kept: JsonObject = {}
    for (const [key, value] of Object.entries(schema)) {
      const inner = (one: Json) => simplify(one, depth + 1, within)
      if (KEPT.has(key)) kept[key] = value
      else if (SCHEMA.has(key) && !Array.isArray(value)) kept[key] = inner(value)
      else if (SCHEMAS.has(key) && Array.isArray(value)) kept[key] = value.map(inner)
      else if (NAMED.has(key) && isObject(value)) kept[key] = mapped(value, inner)
    }
    const told = description(schema)
    if (told !== '') kept.description = told
    return kept
  }
  const schema = simplify(root, 0, []) as JsonObject
  if (JSON.stringify(schema).length > MAX_BYTES) throw new SchemaRefused(`it is larger than ${MAX_BYTES} bytes`)
  try {
    z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch (error) {
    throw new SchemaRefused((error as Error).message.slice(0, 200))
  }
  return schema
}

const isObject = (value: Json): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const mapped = (object: JsonObject, change: (value: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))

/** The target of a local reference. Any other reference accepts any value. */
function target(root: JsonObject, reference: string): Json {
  if (!reference.startsWith('#/')) return reference === '#' ? root : {}
  const path = reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let at: Json = root
  for (const part of path) {
    const next: Json | undefined = isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined
    if (next === undefined) return {}
    at = next
  }
  return at
}

function description({ description, pattern }: JsonObject): string {
  const told = typeof description === 'string' ? description : ''
  const must = typeof pattern === 'string' && pattern.length <= 200 ? `must match /${pattern}/` : ''
  const text = [told, must].filter((part) => part !== '').join('; ')
  return text.toWellFormed().replaceAll('\0', '').slice(0, MAX_DESCRIPTION)
}
