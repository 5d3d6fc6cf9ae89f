import type { Clock } from '../../domain/ports/index.ts'
import type { LoginWays } from '../../domain/ports/login.ts'
import { tokenVerifier } from './jwt.ts'
import { oidcSignIn } from './oidc.ts'
import type { LoginSettings } from './settings.ts'

/** The ways of login that the settings name. `secret`: that of the client of OpenID Connect. */
export const loginWays = (
  { oidc, jwt }: LoginSettings,
  secret: string | null,
  clock: Pick<Clock, 'now'>,
): LoginWays => ({
  signIn: oidc === null ? null : oidcSignIn(oidc, secret, clock),
  tokens: jwt.length === 0 ? null : tokenVerifier(jwt, clock),
})
