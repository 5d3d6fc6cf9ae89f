import type { Login } from '../access/decide.ts'
import type { TokenSource } from '../access/state.ts'

/** The content of a token whose signature and claims were checked. */
export interface VerifiedToken extends Login {
  /** Ms since the epoch. */
  readonly expiresAt: number
}

/** Checks the tokens of services. */
export interface TokenVerifier {
  /** Rejects with TokenRefused, or with IssuerUnavailable. */
  verify(token: string): Promise<VerifiedToken>
}

/** The secrets of a login that has begun. Only the browser that began it may have them. */
export interface BegunLogin {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
}

/** Login at an OpenID Connect issuer, by its authorization code flow with PKCE. */
export interface SignIn {
  readonly source: TokenSource
  /** The address to which the issuer sends the browser back. Null: the address at which the browser began. */
  readonly redirectUri: string | null
  /** The address of the issuer for the browser. Rejects with IssuerUnavailable. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly begun: BegunLogin }>
  /** Completes a login. `query`: as the browser brought it. Rejects with TokenRefused, or with IssuerUnavailable. */
  complete(query: string, begun: BegunLogin): Promise<VerifiedToken>
}

/** The ways of identifying people and services without keys. Null: not configured. */
export interface LoginWays {
  readonly signIn: SignIn | null
  readonly tokens: TokenVerifier | null
}
