import { z } from 'zod'

type Bare<T extends z.core.SomeType> = T extends z.ZodDefault<infer U> ? U : T
type Partly<S extends z.core.$ZodShape> = z.ZodObject<{ [K in keyof S]: z.ZodOptional<Bare<S[K]>> }, z.core.$strict>

/**
 * The same object with every member left to the caller. What is left out stays out, unlike with `partial()`, which fills
 * in defaults: so that whoever asks for one thing does not take back what others have set beside it.
 */
export function partly<S extends z.core.$ZodShape>({ shape }: z.ZodObject<S, z.core.$strict>): Partly<S> {
  const bare = Object.entries(shape).map(([key, member]) => [
    key,
    z.optional(member instanceof z.ZodDefault ? member.unwrap() : member),
  ])
  return z.strictObject(Object.fromEntries(bare)) as unknown as Partly<S>
}
