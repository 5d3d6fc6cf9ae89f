import { z } from 'zod'

// Lists the shapes of a schema that no given value has: a member that is always or never present, an unused choice.

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly type?: string
  readonly items?: Schema
}

/** Shapes that no value of a type has, as `name.member: shape`. */
export function missingShapes(name: string, type: z.ZodType, values: readonly unknown[]): string[] {
  if (values.length === 0) return [name]
  return missing(z.toJSONSchema(type, { io: 'output', unrepresentable: 'any' }) as Schema, values, name)
}

function missing(schema: Schema, values: readonly unknown[], at: string): string[] {
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return branches.flatMap((branch) => choice(branch, values, at))
  if (schema.enum)
    return schema.enum.filter((value) => !values.includes(value)).map((value) => `${at}: ${String(value)}`)
  if (schema.items) return missing(schema.items, values.flat(), `${at}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${at}.${name}`
    const held = values.filter((value) => Object.hasOwn(value as object, name))
    if (held.length === 0) return [path]
    const always = !schema.required?.includes(name) && held.length === values.length
    return [
      ...(always ? [`${path}: absent`] : []),
      ...missing(
        member,
        held.map((value) => (value as never)[name]),
        path,
      ),
    ]
  })
}

/** Values of a union's branch are the values that fit it. */
function choice(branch: Schema, values: readonly unknown[], at: string): string[] {
  const fitting = values.filter((value) => fits(branch, value))
  return fitting.length === 0 ? [`${at}: ${nameOf(branch)}`] : missing(branch, fitting, at)
}

function fits(schema: Schema, value: unknown): boolean {
  if (schema.const !== undefined) return value === schema.const
  if (schema.type === 'null') return value === null
  if (schema.type !== 'object') return value !== null && (schema.type !== 'array' || Array.isArray(value))
  if (value === null || typeof value !== 'object') return false
  const has = (name: string) =>
    Object.hasOwn(value, name) && fits(schema.properties?.[name] ?? {}, (value as never)[name])
  return (schema.required ?? []).every(has)
}

const nameOf = ({ required, type, properties }: Schema): string =>
  properties === undefined
    ? (type ?? 'value')
    : (required ?? []).map((name) => [name, properties[name]?.const].filter(Boolean).join(' ')).join(', ')
