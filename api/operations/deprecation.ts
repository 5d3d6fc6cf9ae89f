import type { z } from 'zod'

// Names that are about to go: they work for one minor version after the one that deprecates them, and say so when they
// are used.

/** `since`: the version that deprecated the name, `<major>.<minor>`. `use`: what to write instead. */
export interface Deprecation {
  readonly since: string
  readonly use: string
}

/** The sentence for a person who uses a deprecated name. */
export const deprecationText = (name: string, { since, use }: Deprecation): string =>
  `${name} is deprecated since ${since}, and ${minorAfter(since)} is the last minor version that accepts it; use ${use}`

function minorAfter(version: string): string {
  const [major, minor] = version.split('.').map(Number)
  return `${major}.${Number(minor) + 1}`
}

/** Marks a member of a request as deprecated, in the OpenAPI document too. Answers to requests with it say so in a header. */
export const deprecated = <T extends z.ZodType>(schema: T, deprecation: Deprecation): T =>
  schema.meta({ ...schema.meta(), deprecated: true, description: deprecationText('This member', deprecation) })

/** The sentences about deprecated members by name. */
export const deprecatedMembers = (members: Readonly<Record<string, z.ZodType>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(members).flatMap(([name, schema]) => {
      const description = markOf(schema)
      return description === null ? [] : [[name, description.replace('This member', name)] as const]
    }),
  )

/** The description of a deprecated schema, also within `optional()`, `default()` and the like. */
function markOf(schema: z.ZodType): string | null {
  const { deprecated, description } = schema.meta() ?? {}
  if (deprecated === true) return description ?? 'This member'
  const { innerType, in: piped } = schema.def as Partial<Record<'innerType' | 'in', z.ZodType>>
  const inner = innerType ?? piped
  return inner === undefined ? null : markOf(inner)
}
