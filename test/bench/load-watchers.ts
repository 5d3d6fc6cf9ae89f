import { get } from 'node:http'
import { Watcher } from './watcher.ts'

// The watchers of test/bench/load.ts in a process of their own, so that reading the events does not delay the queries. The first
// message {url, token, after, filters, count} is answered with {watching}, each later one with what every watcher saw.

interface Asked {
  readonly url: string
  readonly token: string
  /** The cursor after which the watchers begin. */
  readonly after: string
  /** Watcher n has the filter n modulo their number. */
  readonly filters: readonly string[]
  readonly count: number
}

/** What one watcher saw. `text`: see `Watcher`. */
export interface Watched {
  readonly filter: string
  readonly count: number
  readonly text: string
}

function watch({ url, token, after, filters, count }: Asked) {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  return Promise.all(
    Array.from({ length: count }, (_, n) => {
      const filter = filters[n % filters.length]!
      const seen = new Watcher()
      return new Promise<{ filter: string; seen: Watcher }>((resolve, reject) => {
        const path = `${url}/v1/events?after=${encodeURIComponent(after)}${filter}`
        get(path, { agent: false, headers }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`a watcher was refused: ${response.statusCode}`))
          response.setEncoding('utf8').on('data', (text: string) => seen.add(text))
          resolve({ filter, seen })
        }).on('error', reject)
      })
    }),
  )
}

process.once('message', async (asked: Asked) => {
  const watching = await watch(asked)
  process.on('message', () =>
    process.send?.(watching.map(({ filter, seen }): Watched => ({ filter, count: seen.count, text: seen.text }))),
  )
  process.send?.({ watching: watching.length })
})
