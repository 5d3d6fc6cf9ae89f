import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

/** The number of iterations that PostgreSQL uses. */
const ITERATIONS = 4096

/** The stored form of an ASCII password (RFC 5803), as `pg_authid` has it. `salt`: for tests. */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}
