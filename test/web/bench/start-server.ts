import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ToServer } from './server.ts'

const PROGRAM = fileURLToPath(new URL('./server.ts', import.meta.url))

export interface BenchServer {
  readonly url: string
  ask<T>(message: ToServer): Promise<T>
}

/** Starts a server over a data folder; resolves when it listens. Rejects where it ends before. */
export async function startServer(data: string): Promise<BenchServer> {
  const child = fork(PROGRAM, [data], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  const answer = <T>(id: number) => new Promise<T>((resolve, reject) => waiting.set(id, { resolve, reject }))
  child.on('message', ({ id, value, fault }: { id: number; value: never; fault?: string }) => {
    const one = waiting.get(id)
    waiting.delete(id)
    if (fault === undefined) one?.resolve(value)
    else one?.reject(new Error(fault))
  })
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the server of the bench ended with ${code}`))
  })
  const { url } = await answer<{ url: string }>(0)
  let last = 0
  return {
    url,
    ask(message) {
      const id = ++last
      const found = answer<never>(id)
      child.send({ id, message })
      return found
    },
  }
}
