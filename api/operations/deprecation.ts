import type { z } from 'zod'

// Names that are about to go: they work for one minor version more, and say so when they are used.

/** `since`: the version that deprecated the name. `use`: what to write instead. */
export interface Deprecation {
  readonly since: string
  readonly use: string
}

/** The sentence for a person who uses a deprecated name. */
export const deprecationText = (name: string, { since, use }: Deprecation): string =>
  `${name} is deprecated since ${since} and the next minor version refuses it; use ${use}`

/** Marks a member of a request as deprecated, in the OpenAPI document too. Answers to requests with it say so in a header. */
export const deprecated = <T extends z.ZodType>(schema: T, deprecation: Deprecation): T =>
  schema.meta({ ...schema.meta(), deprecated: true, description: deprecationText('This member', deprecation) })

/** The sentences about deprecated members by name. */
export const deprecatedMembers = (members: Readonly<Record<string, z.ZodType>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(members).flatMap(([name, schema]) => {
      const { deprecated, description } = schema.meta() ?? {}
      return deprecated === true ? [[name, (description ?? 'This member').replace('This member', name)] as const] : []
    }),
  )
