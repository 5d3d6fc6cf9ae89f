import { serve } from '../../support/browser/served.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, most, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'

// What the page of a run of 100,000 events asks, without a browser: CPU of the process that answers.

/** Events of the outline that the page reads at a time. */
const PART = 50_000
const JUMPS = [0.1, 0.9, 0.35, 0.6, 0.02]

export const page: Case = {
  name: 'page',
  async run(bench: Bench): Promise<Figure[]> {
    const { data, agentId } = await bench.long()
    const served = await serve({ data })
    try {
      let bytes = 0
      const ask = async <T>(path: string): Promise<T> => {
        const answer = await served.ask<T>('GET', path)
        bytes += JSON.stringify(answer).length
        return answer
      }
      const agent = `/v1/agents/${agentId}`
      const outline = async () => {
        for (let from = 0; ; ) {
          const part = await ask<{ length: number; types: number[] }>(`${agent}/outline?from=${from}&limit=${PART}`)
          from += part.types.length
          if (from >= part.length) return part.length
        }
      }
      const at = async (revision: number) => {
        const from = Math.floor(revision / 50) * 50
        await ask(`${agent}/events?from=${from}&limit=50&brief=true`)
        await ask(`${agent}/brief?event=${revision}`)
        await ask(`/v1/runs/${agentId}/tree/at?agent=${agentId}&event=${revision}`)
      }
      let events = 0
      const opened = await timed(async () => {
        await ask(`/v1/runs/${agentId}`)
        await ask(`/v1/runs/${agentId}/tree`)
        events = await outline()
        await at(events - 1)
      })
      const answered = bytes
      const jumps: number[] = []
      for (const part of JUMPS) jumps.push((await timed(() => at(Math.floor(events * part)))).cpuMs)
      const [middle, slowest] = [median(jumps), Math.max(...jumps)]
      return [
        {
          name: `the page's questions to open a run of ${events.toLocaleString('en-US')} events`,
          ours: ms(opened.cpuMs),
          floor: '',
          value: opened.cpuMs,
          goal: most(2_000, ' ms'),
          note: `CPU of the server, which has read nothing before; ${megabytes(answered)} of answers`,
        },
        {
          name: 'the slowest of five jumps in it',
          ours: ms(slowest),
          floor: '',
          value: slowest,
          goal: most(100, ' ms'),
          note: `CPU of the server; in the middle ${ms(middle)}`,
        },
      ]
    } finally {
      await served.close()
    }
  },
}
