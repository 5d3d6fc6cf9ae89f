import type { Identity, NotIdentified } from '../../../domain/access/runtime/access-gate.ts'
import { IssuerUnavailable, type TokenFault, TokenRefused } from '../../../domain/access/token-errors.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { VerifiedToken } from '../../../domain/ports/index.ts'
import { Problem } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import type { LoginFailure } from './uses.ts'

/** The words of a refusal for people. Nothing of the token is in them. */
const WORDS: Partial<Record<TokenFault, string>> = {
  too_large: 'this token is too large; a token may have 8 KiB',
  issuer: 'no issuer in the settings made this token; see "access.jwt"',
  audience: 'this token is not for this keepup; ask the issuer for the audience in "access.jwt"',
  expired: 'this token has expired; ask the issuer for another one',
  not_yet_valid: 'this token is not valid yet; compare the clocks of this machine and of the issuer',
  claims: 'this token lacks claims that keepup needs: exp, iat and sub',
}

/** The content of the token of a service. Throws UNAUTHORIZED if it is not valid, ISSUER_UNAVAILABLE without its keys. */
export async function verifiedToken(s: Services, text: string, address: string | null): Promise<VerifiedToken> {
  try {
    return await s.login.tokens!.verify(text)
  } catch (error) {
    if (error instanceof IssuerUnavailable) {
      s.uses.failed({ key: null, reason: 'issuer_unavailable', address })
      throw new Problem('ISSUER_UNAVAILABLE', error.message, undefined, { cause: error })
    }
    if (!(error instanceof TokenRefused)) throw error
    throw refused(s, `jwt_${error.fault}`, address, WORDS[error.fault])
  }
}

function refused(
  s: Services,
  reason: LoginFailure,
  address: string | null,
  words = 'this token is not valid; ask the issuer for another one',
): Problem {
  s.uses.failed({ key: null, reason, address })
  return new Problem('UNAUTHORIZED', words)
}

/**
 * The principal of a verified token. Records a new principal and new claims first. Throws UNAUTHORIZED for a token that
 * has expired since, and for a removed principal; FORBIDDEN for one without a role.
 */
export async function identityOfToken(s: Services, token: VerifiedToken, address: string | null): Promise<Identity> {
  if (s.clock.now() >= token.expiresAt + TOLERANCE_MS) throw refused(s, 'jwt_expired', address, WORDS.expired)
  const found = await logIn(s, token)
  if (typeof found !== 'string') return found
  if (found === 'removed') throw refused(s, found, address, 'the owner of this token was removed; ask an admin')
  s.uses.failed({ key: null, reason: found, address })
  throw new Problem(
    'FORBIDDEN',
    'the owner of this token has no role here; an admin can grant one, or the issuer can add a group that has one',
  )
}

/** The difference between two clocks that is accepted. */
const TOLERANCE_MS = 30_000

/** The principal of verified claims. Records a new principal and new claims first. Access must have begun. */
export async function logIn(s: Services, token: VerifiedToken): Promise<Identity | NotIdentified> {
  const identified = async () => {
    const state = await s.access.state()
    if (state === null) throw new Problem('UNAUTHORIZED', 'access is off here; begin with: keepup access init')
    return s.access.identifyToken(state, token)
  }
  const found = await identified()
  if (found !== 'unrecorded') return found
  mustWrite(s)
  const { expiresAt: _, ...login } = token
  const asking = { by: { kind: 'system', id: 'login' } as const, commandId: `login:${hex(s.random.bytes(16))}` }
  await s.access.change({ kind: 'log_in', login }, asking)
  const recorded = await identified()
  // Only a token that another process recorded in between can still be newer.
  return recorded === 'unrecorded' ? 'no_role' : recorded
}
