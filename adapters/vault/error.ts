/** The vault or its key cannot be used. `message` says what is wrong and what to do. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  readonly code:
    | 'VAULT_EXPOSED'
    | 'VAULT_UNREADABLE'
    | 'VAULT_CORRUPT'
    | 'VAULT_MISSING'
    | 'VAULT_OLD'
    | 'VAULT_KEY'
    | 'SECRET_INVALID'
  constructor(code: VaultError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
