import { createHash, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A token file that cannot be used; the message says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

export const tokenPath = (dataFolder: string): string => join(dataFolder, 'token')

/**
 * The installation's bearer token, made at the first call (mode 0600, 32 random bytes as base64url). Throws
 * {@link TokenError} where the file is another user's, is readable for others or holds no token.
 */
export function ensureToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): string {
  const path = tokenPath(dataFolder)
  if (!existsSync(path)) {
    const fresh = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}`
    try {
      writeFileSync(fresh, `${Buffer.from(randomBytes(32)).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
      // Linking is all or nothing: half a token is never read.
      linkSync(fresh, path)
    } catch (error) {
      // Two first starts at once: the other one's token is as good.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(fresh, { force: true })
    }
  }
  const { mode, uid } = statSync(path)
  if (process.geteuid && uid !== process.geteuid())
    throw new TokenError(`${path} belongs to another user; delete it (a new one is made), or let this user own it`)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new TokenError(`${path} is readable for other users; delete it (a new one is made) or: chmod 600 '${path}'`)
  }
  const token = readFileSync(path, 'utf8').trim()
  if (token.length < 32) throw new TokenError(`${path} holds no token; delete it, a new one is made at the next start`)
  return token
}

/**
 * The token that is in its file when it is asked for: to change it, replace the file, or delete it, and a new one is made.
 * Where nothing can be read there, the last one counts. Throws as {@link ensureToken} does: the last one counts no more.
 */
export function liveToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): () => string {
  // In this order: what is replaced in between is looked at again.
  const look = () => ({ stamp: stampOf(tokenPath(dataFolder)), token: ensureToken(dataFolder, randomBytes) })
  let seen = look()
  return () => {
    try {
      if (seen.stamp !== stampOf(tokenPath(dataFolder))) seen = look()
    } catch (error) {
      // A replaced token ends the last one; other errors mean that the folder is gone, or the disk is full.
      if (error instanceof TokenError) throw error
    }
    return seen.token
  }
}

function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? null : `${stat.ino}:${stat.ctimeNs}:${stat.size}`
}

/** Constant-time check of an `Authorization` header. */
export function tokenMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
