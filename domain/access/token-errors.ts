/** Why a token or a login at an issuer is refused. */
export type TokenFault =
  | 'malformed'
  | 'too_large'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'not_yet_valid'
  | 'claims'
  /** The issuer, or the person there, refused the login. */
  | 'denied'
  /** The issuer did not give a token for the code. */
  | 'code'

/** A refused token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
  readonly fault: TokenFault
  constructor(fault: TokenFault, options?: ErrorOptions) {
    super(`the token is refused: ${fault}`, options)
    this.fault = fault
  }
}

/** The issuer, or its keys, cannot be reached or used. The message names the remedy. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable'
}
