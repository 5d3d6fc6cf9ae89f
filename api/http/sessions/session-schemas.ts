import { z } from 'zod'
import { By } from '../../operations/schemas.ts'

/** `by`: the person who opens the page. */
export const SessionCodeBody = z.strictObject({ by: By.optional() }).meta({ id: 'SessionCodeBody' })

export const SessionCode = z
  .strictObject({
    code: z.string().meta({ description: 'To be exchanged once, by `Authorization: Keepup-Code <code>`' }),
    expiresAt: z.string(),
    url: z.string().nullable().meta({
      description: 'The page, with the code; null: the process that answers listens on no address for browsers',
    }),
  })
  .meta({ id: 'SessionCode' })

export const SessionCodeOwner = z
  .strictObject({
    by: z.string().nullable(),
    ask: z.boolean().meta({ description: 'Ask the person first: the code may come from a link of somebody else' }),
  })
  .meta({ id: 'SessionCodeOwner' })

export const SessionView = z
  .strictObject({
    key: z
      .string()
      .meta({ description: "The page's half, for the header `keepup-session`; the cookie is the other half" }),
    by: z.string().nullable(),
    expiresAt: z.string(),
  })
  .meta({ id: 'Session' })

export const SignInView = z
  .strictObject({
    issuer: z.string().nullable().meta({
      description: 'The host of the OpenID Connect issuer; null: people need a link (`keepup open`) or a key',
    }),
    keys: z.boolean().meta({ description: 'true: access is on, so a key signs in its owner' }),
  })
  .meta({ id: 'SignIn' })
