import { readFileSync } from 'node:fs'

/** The path is the last of eight fields and may contain spaces. */
const PATH = /^\S+:\s+(?:\S+\s+){5}\S+ (\/.*)$/

/**
 * The paths of Unix sockets that programs have bound in this network namespace. A program can connect to a socket even
 * in a folder that it can only read.
 */
export function boundSockets(table = '/proc/net/unix'): string[] {
  try {
    const lines = readFileSync(table, 'utf8').split('\n')
    return lines.flatMap((line) => PATH.exec(line)?.[1] ?? [])
  } catch {
    return []
  }
}
