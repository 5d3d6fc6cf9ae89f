/** The vault cannot be used as it is. `message` says what to do. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  readonly code:
    | 'VAULT_EXPOSED'
    | 'VAULT_UNREADABLE'
    | 'VAULT_CORRUPT'
    | 'VAULT_MISSING'
    | 'VAULT_KEY'
    | 'SECRET_INVALID'
  constructor(code: VaultError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
