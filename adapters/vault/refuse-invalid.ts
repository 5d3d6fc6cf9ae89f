import { invalidSecret } from '../../domain/secrets/forms.ts'
import { VaultError } from './error.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Throws VaultError `SECRET_INVALID` for a name or a value that no vault takes. */
export function refuseInvalid(name: string, value: string): void {
  if (!NAME.test(name)) {
    throw new VaultError('SECRET_INVALID', `${JSON.stringify(name)} is no name for a secret; use letters, digits and _`)
  }
  const fault = invalidSecret(value)
  if (fault !== null)
    throw new VaultError('SECRET_INVALID', `the value of ${name} could not be hidden: ${fault}; use another one`)
}
