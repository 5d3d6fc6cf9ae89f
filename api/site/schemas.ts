/** A JSON Schema (2020-12). */
export type Schema = { readonly [key: string]: unknown }

/** Gives the Markdown for the name of a type. */
export type Link = (name: string) => string

/** A member of an object. `name` has the way to it: `runs[].own` is a member of each object of the list `runs`. */
export interface Member {
  readonly name: string
  readonly needed: boolean
  /** Markdown. */
  readonly type: string
  readonly about: string
}

const listed = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value : [])
/** The schemas of which a value has one. */
const variants = ({ anyOf, oneOf }: Schema): readonly Schema[] => [...listed(anyOf), ...listed(oneOf)]
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null
/** Whether every value is an object. */
export const isObject = (schema: Schema): boolean => {
  const { properties, allOf, type } = schema
  const choices = variants(schema)
  return (
    isSchema(properties) || allOf !== undefined || type === 'object' || (choices.length > 0 && choices.every(isObject))
  )
}

const either = (types: readonly string[]): string => [...new Set(types)].join(' or ')

/** The type of a value in a few words. */
export function typeOf(schema: Schema, link: Link): string {
  const { type, const: only, enum: some, $ref, items, prefixItems, additionalProperties, properties } = schema
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1)!
    // Only the schema of JSON itself has no name.
    return name.startsWith('__') ? 'any JSON value' : link(name)
  }
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(some)) return some.map((one) => JSON.stringify(one)).join(', ')
  if (variants(schema).length > 0) return either(variants(schema).map((one) => typeOf(one, link)))
  if (type === 'array') {
    if (Array.isArray(prefixItems))
      return `[${listed(prefixItems)
        .map((one) => typeOf(one, link))
        .join(', ')}]`
    if (!isSchema(items)) return 'list of values'
    const each = typeOf(items, link)
    return `list of ${each.includes(' or ') ? `(${each})` : each}`
  }
  if (type === 'object' && !isSchema(properties) && isSchema(additionalProperties))
    return `object of names with ${typeOf(additionalProperties, link)}`
  if (isObject(schema)) return 'object'
  return Array.isArray(type) ? either(type) : typeof type === 'string' ? type : 'any value'
}

/** The members of an object, each followed by the members of objects in it that have no name of their own. */
export function membersIn(schema: Schema, link: Link, way = ''): readonly Member[] {
  const { properties, required = [], allOf } = schema
  const own = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>).flatMap(([name, one]) => [
    {
      name: `${way}${name}`,
      needed: (required as readonly string[]).includes(name),
      type: typeOf(one, link),
      about: typeof one.description === 'string' ? one.description : '',
    },
    ...membersBelow(one, link, `${way}${name}`),
  ])
  const whole = listed(allOf).map((one) => membersIn(one, link, way))
  const choices = variants(schema)
    .map((one) => membersIn(one, link, way))
    .filter((members) => members.length > 0)
  return united([[...own, ...whole.flat()], chosen(choices)])
}

/** The members of the objects that a member has as its value or in it. */
export function membersBelow(schema: Schema, link: Link, way: string): readonly Member[] {
  const { items, additionalProperties } = schema
  return [
    ...membersIn(schema, link, `${way}.`),
    ...(isSchema(items) ? membersBelow(items, link, `${way}[]`) : []),
    ...(isSchema(additionalProperties) ? membersBelow(additionalProperties, link, `${way}.NAME`) : []),
    ...united([
      variants(schema)
        .filter(({ items, additionalProperties }) => isSchema(items) || isSchema(additionalProperties))
        .flatMap((one) => membersBelow(one, link, way)),
    ]),
  ]
}

/** The members of the variants of an object: needed is what every variant needs. */
function chosen(choices: readonly (readonly Member[])[]): readonly Member[] {
  const everywhere = (name: string) =>
    choices.every((members) => members.some((one) => one.name === name && one.needed))
  return united(choices).map((one) => ({ ...one, needed: everywhere(one.name) }))
}

/** Members of the same name as one. */
function united(lists: readonly (readonly Member[])[]): readonly Member[] {
  return [...Map.groupBy(lists.flat(), ({ name }) => name)].map(([name, same]) => ({
    name,
    needed: same.some(({ needed }) => needed),
    type: either(same.map(({ type }) => type)),
    about: [...new Set(same.map(({ about }) => about))].filter((about) => about !== '').join('; '),
  }))
}
