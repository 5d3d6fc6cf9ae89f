import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

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

/** The time for a program to close the connection of a trial, in ms. */
const CLOSE_MS = 1_000

/**
 * Whether a program listens on a socket that may have been bound by another name. Only a connection tells. A socket that
 * cannot be tried counts as one with a program.
 */
export const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Reads to the end: a program may not expect that its connection is reset.
    const socket = connect(path, () => resolve(true))
      .resume()
      .end()
      .unref()
    socket.setTimeout(CLOSE_MS, () => socket.destroy())
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
