import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, most, ms, rate } from '../../bench/figure.ts'
import { median } from '../../bench/measure.ts'
import type { BenchServer } from './start-server.ts'

// What those who watch cost those who work: turns a second without clients and with 100 of them, alternated.

const CLIENTS = 100
const RUNS = 32

/** `turns`: in a second. `cpu`: of the server for each, ms, all threads: on a busy machine it tells more. */
interface Speed {
  readonly turns: number
  readonly cpu: number
}

/** `which`: the address that a client watches, by its number. */
async function watched(url: string, token: string, which: (n: number) => string, work: () => Promise<Speed>) {
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
  const speed = async (): Promise<Speed> => {
    const a = await server.ask<{ at: number; cpu: number; turns: number }>({ ask: 'turns' })
    await pause(seconds * 1000)
    const b = await server.ask<{ at: number; cpu: number; turns: number }>({ ask: 'turns' })
    const turns = b.turns - a.turns
    return { turns: (turns * 1000) / (b.at - a.at), cpu: (b.cpu - a.cpu) / turns }
  }
  const one = (n: number) => `/v1/events?brief=true&from=head&run=${runs[n % RUNS]}`
  const all = () => '/v1/events?brief=true&from=head'
  await speed()
  const rounds: { alone: Speed; one: Speed; all: Speed }[] = []
  for (let round = 0; round < (quick ? 2 : 4); round++)
    rounds.push({
      alone: await speed(),
      one: await watched(server.url, token, one, speed),
      all: await watched(server.url, token, all, speed),
    })
  const middle = (of: (round: (typeof rounds)[0]) => number) => median(rounds.map(of))
  const alone = middle((round) => round.alone.turns)
  const figures = (name: string, of: 'one' | 'all'): Figure[] => {
    const note = `floor: the same ${RUNS} runs without clients`
    const speeds = {
      ours: rate(
        middle((round) => round[of].turns),
        'turns',
      ),
      floor: rate(alone, 'turns'),
    }
    const cost = 100 * (1 - middle((round) => round[of].turns / round.alone.turns))
    const cpu = { ours: ms(middle((round) => round[of].cpu)), floor: ms(middle((round) => round.alone.cpu)) }
    const more = 100 * (middle((round) => round[of].cpu / round.alone.cpu) - 1)
    return [
      { name, ...speeds, value: cost, goal: most(5, ' %'), note },
      { name: `${name}: CPU of the server per turn`, ...cpu, value: more, goal: most(5, ' %'), note },
    ]
  }
  return [
    ...figures(`${CLIENTS} clients, each watches one run`, 'one'),
    ...figures(`${CLIENTS} clients, each watches the whole log`, 'all'),
  ]
}
