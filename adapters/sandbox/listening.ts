import { readFileSync } from 'node:fs'

/** The last of eight fields is the path, which may contain spaces. */
const PATH = /^\S+:\s+(?:\S+\s+){5}\S+ (\/.*)$/

/**
 * The paths of Unix sockets that are bound in this network namespace, as their programs named them. A program can connect to
 * a socket in a folder that it may only read.
 */
export function boundSockets(table = '/proc/net/unix'): string[] {
  try {
    const lines = readFileSync(table, 'utf8').split('\n')
    return lines.flatMap((line) => PATH.exec(line)?.[1] ?? [])
  } catch {
    return []
  }
}
