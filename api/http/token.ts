import { createHash, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A token file that cannot be used; the message says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

export const tokenPath = (dataFolder: string): string => join(dataFolder, 'token')

/**
 * The installation's bearer token, made at the first call (mode 0600, 32 random bytes as base64url). Throws
 * {@link TokenError} where the file is readable for others or holds no token.
 */
export function ensureToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): string {
  const path = tokenPath(dataFolder)
  if (!existsSync(path)) {
    const fresh = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}`
    writeFileSync(fresh, `${Buffer.from(randomBytes(32)).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    try {
      // Linking is all or nothing: nobody ever reads half a token.
      linkSync(fresh, path)
    } catch (error) {
      // Two first starts at once: the other one's token is as good.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      unlinkSync(fresh)
    }
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new TokenError(`${path} is readable for other users; delete it (a new one is made) or: chmod 600 '${path}'`)
  }
  const token = readFileSync(path, 'utf8').trim()
  if (token.length < 32) throw new TokenError(`${path} holds no token; delete it, a new one is made at the next start`)
  return token
}

/**
 * The token that is in its file when it is asked for: to change it, replace the file, or delete it, and a new one is made.
 * Where the file cannot be used then, the last one counts. Throws as {@link ensureToken} does, the first time.
 */
export function liveToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): () => string {
  // In this order: what is replaced in between is looked at again.
  const look = () => ({ stamp: stampOf(tokenPath(dataFolder)), token: ensureToken(dataFolder, randomBytes) })
  let seen = look()
  return () => {
    if (seen.stamp === stampOf(tokenPath(dataFolder))) return seen.token
    try {
      seen = look()
    } catch {
      // The folder is gone, or the file is being written.
    }
    return seen.token
  }
}

function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? null : `${stat.ino}:${stat.mtimeNs}:${stat.size}`
}

/** Constant-time check of an `Authorization` header. */
export function tokenMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
