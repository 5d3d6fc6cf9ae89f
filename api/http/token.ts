import { createHash, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { platformOf } from '../../domain/platform.ts'

/** An unusable token file. The message contains the remedy. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

export const tokenPath = (dataFolder: string): string => join(dataFolder, 'token')

/**
 * The install's bearer token, created by the first call (mode 0600, 32 random bytes as base64url). Throws {@link
 * TokenError} if the file belongs to another user, is readable for others or contains no token.
 */
export function ensureToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): string {
  const path = tokenPath(dataFolder)
  if (!existsSync(path)) {
    const fresh = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}`
    try {
      writeFileSync(fresh, `${Buffer.from(randomBytes(32)).toString('base64url')}\n`, {
        mode: 0o600,
        flag: 'wx',
        // Without it, a power cut could leave an empty token under the durable name.
        flush: true,
      })
      // A link is atomic, so no process reads an incomplete token.
      linkSync(fresh, path)
    } catch (error) {
      // Another first start was faster. Use its token.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(fresh, { force: true })
    }
  }
  const { mode, uid } = statSync(path)
  if (process.geteuid && uid !== process.geteuid())
    throw new TokenError(`${path} belongs to another user; delete it (a new one is made), or let this user own it`)
  if (platformOf(process.platform).hasModes && (mode & 0o077) !== 0) {
    throw new TokenError(`${path} is readable for other users; delete it (a new one is made) or: chmod 600 '${path}'`)
  }
  const token = readFileSync(path, 'utf8').trim()
  if (token.length < 32) throw new TokenError(`${path} holds no token; delete it, a new one is made at the next start`)
  return token
}

/**
 * The current token in the file. To change the token, replace the file, or delete it to create a new one. If the file
 * is unreadable, the last token remains valid. If {@link ensureToken} refuses the file, throws like it, and the last
 * token is no longer valid.
 */
export function liveToken(dataFolder: string, randomBytes: (n: number) => Uint8Array): () => string {
  // Read the stamp first, so that a replacement between the two reads is noticed.
  const look = () => ({ stamp: stampOf(tokenPath(dataFolder)), token: ensureToken(dataFolder, randomBytes) })
  let seen = look()
  return () => {
    try {
      if (seen.stamp !== stampOf(tokenPath(dataFolder))) seen = look()
    } catch (error) {
      // An unusable replaced file ends the last token. Other errors mean that the folder is missing or the disk is
      // full.
      if (error instanceof TokenError) throw error
    }
    return seen.token
  }
}

function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? null : `${stat.ino}:${stat.ctimeNs}:${stat.size}`
}

/** The credential in an `Authorization` header. Empty: none. */
export const bearerOf = (header: string | undefined): string => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? ''

/** Constant-time check of an `Authorization` header. */
export function tokenMatches(header: string | undefined, token: string): boolean {
  const given = bearerOf(header)
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
