import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, most, rate } from '../../bench/figure.ts'
import { median } from '../../bench/measure.ts'
import type { BenchServer } from './start-server.ts'

// What those who watch cost those who work: turns a second without clients and with 100 of them, alternated.

const CLIENTS = 100
const RUNS = 32

/** `which`: the address that a client watches, by its number. */
async function watched(url: string, token: string, which: (n: number) => string, work: () => Promise<number>) {
  const over = new AbortController()
  let bytes = 0
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, n) => {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
      const answer = await fetch(`${url}${which(n)}`, { headers, signal: over.signal })
      if (!answer.ok) throw new Error(`a client was refused: ${answer.status} ${await answer.text()}`)
      return answer
    }),
  )
  const read = async (answer: Response) => {
    for await (const part of answer.body!) bytes += part.length
  }
  const ended = answers.map((answer) => read(answer).catch(() => undefined))
  const found = await work()
  over.abort()
  await Promise.all(ended)
  if (bytes === 0) throw new Error('the clients were sent nothing, so nothing was measured')
  return found
}

export async function watchingClients(server: BenchServer, data: string, quick: boolean): Promise<Figure[]> {
  const token = readFileSync(join(data, 'token'), 'utf8').trim()
  const runs = await server.ask<string[]>({ ask: 'wait', runs: RUNS })
  const seconds = quick ? 2 : 4
  const speed = async () => {
    const a = await server.ask<{ at: number; turns: number }>({ ask: 'turns' })
    await pause(seconds * 1000)
    const b = await server.ask<{ at: number; turns: number }>({ ask: 'turns' })
    return ((b.turns - a.turns) * 1000) / (b.at - a.at)
  }
  const one = (n: number) => `/v1/events?brief=true&from=head&run=${runs[n % RUNS]}`
  const all = () => '/v1/events?brief=true&from=head'
  await speed()
  const rounds: { alone: number; one: number; all: number }[] = []
  for (let round = 0; round < (quick ? 2 : 4); round++)
    rounds.push({
      alone: await speed(),
      one: await watched(server.url, token, one, speed),
      all: await watched(server.url, token, all, speed),
    })
  const alone = median(rounds.map((round) => round.alone))
  const figure = (name: string, of: 'one' | 'all'): Figure => {
    const cost = 100 * (1 - median(rounds.map((round) => round[of] / round.alone)))
    const ours = median(rounds.map((round) => round[of]))
    const note = `floor: the same ${RUNS} runs without clients`
    return { name, ours: rate(ours, 'turns'), floor: rate(alone, 'turns'), value: cost, goal: most(5, ' %'), note }
  }
  return [
    figure(`${CLIENTS} clients, each watches one run`, 'one'),
    figure(`${CLIENTS} clients, each watches the whole log`, 'all'),
  ]
}
