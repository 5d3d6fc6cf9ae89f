import { z } from 'zod'

type Bare<T extends z.core.SomeType> = T extends z.ZodDefault<infer U> ? U : T
type Partly<S extends z.core.$ZodShape> = z.ZodObject<{ [K in keyof S]: z.ZodOptional<Bare<S[K]>> }, z.core.$strict>

/**
 * The schema with every member optional and without defaults. An absent member stays absent, so that a request that
 * sets one member does not change the others. Zod's `partial()` would fill in the defaults.
 */
export function partly<S extends z.core.$ZodShape>({ shape }: z.ZodObject<S, z.core.$strict>): Partly<S> {
  const bare = Object.entries(shape).map(([key, member]) => [
    key,
    z.optional(member instanceof z.ZodDefault ? member.unwrap() : member),
  ])
  return z.strictObject(Object.fromEntries(bare)) as Partly<S>
}
