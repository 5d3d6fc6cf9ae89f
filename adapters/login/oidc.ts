import type { ClientAuth, Configuration } from 'openid-client'
import { IssuerUnavailable, TokenRefused } from '../../domain/access/token-errors.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { SignIn } from '../../domain/ports/login.ts'
import { tokenFrom } from './claims.ts'
import type { OidcSettings } from './settings.ts'

type Client = typeof import('openid-client')

const TIMEOUT_S = 10

/** Login at an issuer. `secret`: null for a public client. */
export function oidcSignIn(settings: OidcSettings, secret: string | null, clock: Pick<Clock, 'now'>): SignIn {
  const { issuer, clientId, redirectUri, scopes, roles } = settings
  const source = { issuer, audience: clientId }
  let discovered: Promise<Configuration> | null = null
  const configuration = (client: Client): Promise<Configuration> => {
    discovered ??= discover(client, settings, secret).catch((error: unknown) => {
      discovered = null
      throw unavailable(issuer, error)
    })
    return discovered
  }
  return {
    ...{ source, redirectUri },
    async begin(redirectUri) {
      const client = await import('openid-client')
      const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      const url = client.buildAuthorizationUrl(await configuration(client), {
        ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state, nonce },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, begun: { state, nonce, verifier, redirectUri } }
    },
    async complete(query, { state, nonce, verifier, redirectUri }) {
      const client = await import('openid-client')
      const address = new URL(redirectUri)
      address.search = query
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const tokens = await client
        .authorizationCodeGrant(await configuration(client), address, checks)
        .catch((error: unknown) => {
          throw refusal(client, issuer, error)
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new TokenRefused('claims')
      if (claims.iss !== issuer) throw new TokenRefused('issuer')
      return tokenFrom(claims, { ...source, roles, kind: 'person', now: clock.now() })
    },
  }
}

async function discover(
  client: Client,
  { issuer, clientId }: OidcSettings,
  secret: string | null,
): Promise<Configuration> {
  const extensions = [client.enableNonRepudiationChecks]
  // The settings allow http only on this machine.
  if (issuer.startsWith('http:')) extensions.push(client.allowInsecureRequests)
  const options = { execute: extensions, timeout: TIMEOUT_S }
  const auth = secret === null ? client.None() : withSecret(client, secret)
  const found = await client.discovery(new URL(issuer), clientId, undefined, auth, options)
  const { issuer: named } = found.serverMetadata()
  if (named !== issuer) throw new Error(`it names itself ${named}; write this into "access.oidc.issuer"`)
  return found
}

/** Sends the secret in a header unless the issuer reads it from bodies only. Without a list an issuer reads the header. */
const withSecret =
  ({ ClientSecretBasic, ClientSecretPost }: Client, secret: string): ClientAuth =>
  (issuer, ...request) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = issuer
    const way = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
    return way(secret)(issuer, ...request)
  }

const unavailable = (issuer: string, error: unknown): IssuerUnavailable => {
  const why = error instanceof Error ? error.message : String(error)
  return new IssuerUnavailable(`the issuer ${issuer} cannot be used: ${why}`, { cause: error })
}

/** Codes of errors about an answer that the issuer did not give, or not in full. */
const NO_ANSWER: ReadonlySet<unknown> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
])

function refusal(client: Client, issuer: string, error: unknown): TokenRefused | IssuerUnavailable {
  if (error instanceof IssuerUnavailable) return error
  if (error instanceof client.AuthorizationResponseError) return new TokenRefused('denied', { cause: error })
  // The issuer does not accept keepup's own secret.
  if (error instanceof client.WWWAuthenticateChallengeError) return unavailable(issuer, error)
  if (error instanceof client.ResponseBodyError)
    return error.error === 'invalid_client' ? unavailable(issuer, error) : new TokenRefused('code', { cause: error })
  // Fetch reports a broken connection as a TypeError.
  if (error instanceof TypeError || NO_ANSWER.has((error as { readonly code?: unknown }).code))
    return unavailable(issuer, error)
  return new TokenRefused('claims', { cause: error })
}
