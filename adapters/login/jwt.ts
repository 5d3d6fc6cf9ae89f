import type { JWTVerifyGetKey, RemoteJWKSet } from 'jose'
import { IssuerUnavailable, type TokenFault, TokenRefused } from '../../domain/access/token-errors.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { TokenVerifier } from '../../domain/ports/login.ts'
import { TOLERANCE_S, tokenFrom } from './claims.ts'
import type { JwtSettings } from './settings.ts'

type Jose = typeof import('jose')

/** The most characters of a token. */
const MAX_TOKEN = 8 * 1024
/** Public keys only: a token that names another algorithm must not choose how it is checked. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const TIMEOUT_MS = 5_000

/** Verifies tokens by the published keys of their issuers. */
export function tokenVerifier(issuers: readonly JwtSettings[], clock: Pick<Clock, 'now'>): TokenVerifier {
  const keys = new Map<string, RemoteJWKSet>()
  const keysAt = (jose: Jose, address: string): JWTVerifyGetKey => {
    const found = keys.get(address) ?? jose.createRemoteJWKSet(new URL(address), { timeoutDuration: TIMEOUT_MS })
    keys.set(address, found)
    return (header, token) =>
      found(header, token).catch((error: unknown) => {
        const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys } = jose.errors
        if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) throw error
        throw new IssuerUnavailable(`the keys of the issuer cannot be read from ${address}; try again`, {
          cause: error,
        })
      })
  }
  return {
    async verify(text) {
      if (text.length > MAX_TOKEN) throw new TokenRefused('too_large')
      const jose = await import('jose')
      const { issuer, audience, jwks, roles } = issuerOf(jose, issuers, text)
      const { payload } = await jose
        .jwtVerify(text, keysAt(jose, jwks), {
          ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance: TOLERANCE_S },
          currentDate: new Date(clock.now()),
          // `iat` orders two tokens of one subject.
          requiredClaims: ['exp', 'sub', 'iat'],
        })
        .catch((error: unknown) => {
          throw error instanceof IssuerUnavailable ? error : new TokenRefused(faultOf(jose, error), { cause: error })
        })
      return tokenFrom(payload, { issuer, audience, roles, kind: 'service', now: clock.now() })
    },
  }
}

/** The settings for a token, by its claims, which are not verified yet. */
function issuerOf({ decodeJwt }: Jose, issuers: readonly JwtSettings[], text: string): JwtSettings {
  let claims: ReturnType<typeof decodeJwt>
  try {
    claims = decodeJwt(text)
  } catch (error) {
    throw new TokenRefused('malformed', { cause: error })
  }
  const ofIssuer = issuers.filter(({ issuer }) => issuer === claims.iss)
  if (ofIssuer.length === 0) throw new TokenRefused('issuer')
  const found = ofIssuer.find(({ audience }) => [claims.aud].flat().includes(audience))
  if (found === undefined) throw new TokenRefused('audience')
  return found
}

function faultOf({ errors }: Jose, error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'nbf' && error.reason === 'check_failed' ? 'not_yet_valid' : 'claims'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return 'key'
  return error instanceof errors.JWSSignatureVerificationFailed ? 'signature' : 'malformed'
}
