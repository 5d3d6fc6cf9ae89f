import { CodedError } from '../../domain/log/coded-error.ts'

/** The vault or its key cannot be used. `message` names the fault and the remedy. */
export class VaultError extends CodedError<VaultErrorCode> {
  override readonly name = 'VaultError'
}

type VaultErrorCode =
  | 'VAULT_EXPOSED'
  | 'VAULT_UNREADABLE'
  | 'VAULT_CORRUPT'
  | 'VAULT_MISSING'
  | 'VAULT_OLD'
  | 'VAULT_KEY'
  | 'SECRET_INVALID'
